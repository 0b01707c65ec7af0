import ArgumentParser
import GatewayProtocol
import Testing

@testable import pushcli

/// The location of a remote gateway, and its answers over HTTP/1.1.
@Suite struct RemoteCheckTests {
  typealias Target = RemoteCheck.Target

  @Test(arguments: [
    ("push.example.com:2197", Target.tls(host: "push.example.com", port: 2197)),
    ("https://push.example.com", .tls(host: "push.example.com", port: 443)),
    ("HTTPS://push.example.com:2197/", .tls(host: "push.example.com", port: 2197)),
    ("http://127.0.0.1:2198/metrics", .plain(host: "127.0.0.1", port: 2198)),
    ("http://push.example.com", .plain(host: "push.example.com", port: 80)),
    ("[::1]:2197", .tls(host: "::1", port: 2197)), ("http://[::1]", .plain(host: "::1", port: 80)),
  ])
  func `an address is read as a person writes it`(_ text: String, _ target: Target) {
    #expect(Target(text) == target)
  }

  @Test(arguments: ["", "push.example.com", ":2197", "x:0", "x:65536", "x:port", "ftp://x", "http://", "https://:443"])
  func `what is no address is refused`(_ text: String) { #expect(Target(text) == nil) }

  @Test func `an answer has a status and a body`() throws {
    let answer = try #require(GatewayAddress.http1Answer(in: Array("HTTP/1.1 503 Busy\r\na: b\r\n\r\ndraining\n".utf8)))
    #expect(answer.status == 503)
    #expect(String(decoding: answer.body, as: UTF8.self) == "draining\n")
  }

  @Test(arguments: ["", "HTTP/1.1 200", "HTTP/1.1 x y\r\n\r\n", "\u{16}\u{3}\u{3}\r\n\r\n", "HTTP/2 200\r\n\r\n"])
  func `what is no answer is none`(_ text: String) {
    #expect(GatewayAddress.http1Answer(in: Array(text.utf8)) == nil)
  }

  @Test(arguments: [["--gateway", "x:1", "--repair"], ["--gateway", "x:1", "--thorough"], ["--ca", "ca.pem"]])
  func `what does not go together is refused`(_ arguments: [String]) {
    #expect(throws: (any Error).self) { try PushCLI.parseAsRoot(["doctor"] + arguments) }
  }
}
