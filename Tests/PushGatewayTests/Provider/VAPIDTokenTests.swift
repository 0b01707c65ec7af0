import HTTP2Transport
import PushPolicy
import PushTesting
import Testing

@testable import PushCore
@testable import PushGateway

@Suite struct VAPIDTokenTests {
  /// The token and the key of RFC 8292 §2.4.
  private enum Example {
    static let token =
      "eyJ0eXAiOiJKV1QiLCJhbGciOiJFUzI1NiJ9.eyJhdWQiOiJodHRwczovL3B1c2guZXhhbXBsZS5uZXQiLCJleHAiOjE0NTM1MjM3NjgsInN1YiI"
      + "6Im1haWx0bzpwdXNoQGV4YW1wbGUuY29tIn0.i3CYb7t4xfxCDquptFOepC9GAu_HLGkMlMuCGSK2rpiUfnK9ojFwDXb1JrErtmysazNjjvW2L9O"
      + "kSSHzvoD1oA"
    static let key = "BA1Hxzyi1RUM1b5wjxsn7nGxAszw2u61m164i3MrAIxHF6YK5h4SDYic-dRuU_RCPCfA5aq9ojSwk5Y2EmClBPs"
    static let field = "vapid t=\(token), k=\(key)"
    static let expires: Int64 = 1_453_523_768
    static let origin = "https://push.example.net"
  }

  private let parser = JSONParser()

  private func refusal(
    _ field: String, origin: String = Example.origin, now: Int64 = Example.expires - 3600
  ) -> MessageRefusal? {
    do throws(MessageRefusal) {
      try VAPIDToken(field).verify(origin: origin, parser: parser, now: now)
      return nil
    } catch {
      return error
    }
  }

  @Test func `the example of RFC 8292 is valid`() throws {
    #expect(refusal(Example.field) == nil)
    let token = try VAPIDToken(Example.field)
    #expect(Base64URL.encode(token.key) == Example.key)
    #expect(refusal("VAPID k=\"\(Example.key)\",t=\"\(Example.token)\"") == nil)
  }

  @Test(arguments: [
    "", "vapid", "vapid t=a", "vapid k=\(Example.key)", "vapid t=\(Example.token)", "Bearer \(Example.token)",
    "WebPush \(Example.token)", "vapid t=\(Example.token), k=AAAA", "vapid t=a.b, k=\(Example.key)",
    "vapid t=a.b.c.d, k=\(Example.key)", "vapid \(Example.token)",
  ])
  func `another form is 401`(_ field: String) {
    #expect(refusal(field)?.status == 401)
  }

  @Test func `a token for another origin, or at another time, is 403`() {
    for origin in ["http://push.example.net", "https://other.example", "https://push.example.net.other.example"] {
      #expect(refusal(Example.field, origin: origin)?.status == 403)
    }
    // A library that leaves out the port.
    #expect(refusal(Example.field, origin: "https://push.example.net:444") == nil)
    let times = [
      Example.expires, Example.expires + 1, Example.expires - Limits.maximumVAPIDValidity - 301, Int64(0),
      Limits.maximumTime,
    ]
    for time in times { #expect(refusal(Example.field, now: time)?.status == 403, "\(time)") }
    #expect(refusal(Example.field, now: Example.expires - Limits.maximumVAPIDValidity) == nil)
  }

  @Test func `a signature of another key, or of another text, is 403`() throws {
    let other = Base64URL.encode(try ES256Key.generate().publicPoint)
    #expect(refusal("vapid t=\(Example.token), k=\(other)")?.status == 403)
    let changed = Example.token.replacing("eyJhdWQi", with: "eyJhdWQj")
    #expect(refusal("vapid t=\(changed), k=\(Example.key)")?.status == 403)
    // 65 bytes that are no point.
    let none = Base64URL.encode([UInt8](repeating: 4, count: 65))
    #expect(refusal("vapid t=\(Example.token), k=\(none)")?.status == 403)
  }

  @Test(arguments: [
    (#"{"aud":["https://other.example","https://push.example.net/"],"exp":1000}"#, true),
    (#"{"aud":"https://PUSH.example.net:443","exp":1000.5}"#, true),
    (#"{"aud":"https://push.example.net"}"#, false), (#"{"aud":"https://push.example.net","exp":"1000"}"#, false),
    (#"{"aud":"https://push.example.net","exp":1e300}"#, false), (#"{"exp":1000}"#, false), ("[]", false), ("", false),
    (#"{"aud":"https://push.example.net","exp":-1}"#, false), (#"{"aud":7,"exp":1000}"#, false),
  ])
  func `claims are read in each of their forms`(_ claims: String, _ isValid: Bool) throws {
    let key = try ES256Key.generate()
    func part(_ text: String) -> String { Base64URL.encode(Array(text.utf8)) }
    let signed = "\(part(#"{"alg":"ES256"}"#)).\(part(claims))"
    let signature = Base64URL.encode(try key.signature(of: Array(signed.utf8)))
    let field = "vapid t=\(signed).\(signature), k=\(Base64URL.encode(key.publicPoint))"
    #expect((refusal(field, now: 900) == nil) == isValid)
  }

  @Test(arguments: [
    ("https://push.example.net", "https://push.example.net"),
    ("https://Push.example.net:443/", "https://push.example.net"), ("http://127.0.0.1:2198", "http://127.0.0.1:2198"),
    ("http://a:80", "http://a"), ("https://[::1]:2197", "https://[::1]:2197"),
    ("https://", nil), ("https:///", nil), ("push.example.net", nil), ("ftp://a", nil), ("https://a/b", nil),
    ("https://a b", nil), ("https://user@a", nil), ("https://a?b", nil), ("https://a\"", nil),
    ("https://" + String(repeating: "a", count: 300), nil),
  ])
  func `an origin has one form`(_ text: String, _ origin: String?) {
    #expect(WebPushOrigin.read(text) == origin)
  }
}
