import HTTP2Transport
import Testing

@testable import PushGateway

@Suite struct HTTPListenTests {
  @Test(arguments: [
    ("auto", HTTPListen.automatic), ("none", .none), ("10.0.0.5:80", .addresses(["10.0.0.5:80"])),
    ("127.0.0.1:0, [::1]:2198", .addresses(["127.0.0.1:0", "[::1]:2198"])),
    ("127.0.0.1:2198, https://0.0.0.0:2199", .addresses(["127.0.0.1:2198", "https://0.0.0.0:2199"])),
  ])
  func `a value is read as it is written`(_ text: String, _ value: HTTPListen) throws {
    #expect(try SettingType.httpListen.read(text) == value)
  }

  @Test func `no address is none, and what is no address is refused`() {
    #expect(throws: ConfigurationError.self) { try SettingType.httpListen.read("everywhere") }
    #expect(throws: ConfigurationError.self) { try SettingType.httpListen.read("127.0.0.1:0,none") }
    #expect(throws: ConfigurationError.self) { try SettingType.httpListen.read("127.0.0.1:0,https://") }
    #expect((try? SettingType.httpListen.read("")) == .some(nil))
  }

  @Test(arguments: [
    ("127.0.0.1:2198", "127.0.0.1", 2198, false), ("https://0.0.0.0:2199", "0.0.0.0", 2199, true),
    ("https://[::1]:0", "::1", 0, true), ("https://push.example.com:443", "push.example.com", 443, true),
  ])
  func `an entry is an address with or without TLS, and is shown as it is written`(
    _ text: String, _ host: String, _ port: Int, _ isSecure: Bool
  ) throws {
    let entry = try HTTPListen.Entry(text)
    #expect(entry.address == .tcp(host: host, port: port) && entry.isSecure == isSecure)
    #expect(entry.text(port: nil) == text)
    #expect(entry.text(port: 7).hasSuffix(":7"))
  }

  @Test(arguments: [
    "", "https://", "https://push.example.com", "https://push.example.com/", "https://push.example.com:443/",
    "https://push.example.com:x", "https://:443", "https://0.0.0.0:65536", "http://127.0.0.1:2198",
    "HTTPS://0.0.0.0:2199", "https:0.0.0.0:x", "https:///0.0.0.0:2199", "unix:/run/push:1",
  ])
  func `an entry of another form is refused`(_ text: String) {
    #expect(throws: ConfigurationError.self) { try HTTPListen.Entry(text) }
  }
}
