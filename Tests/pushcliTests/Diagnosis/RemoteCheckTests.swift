import ArgumentParser
import GatewayClient
import Testing

@testable import pushcli

/// The location of a remote gateway.
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

  @Test func `a gateway without an answer about readiness has failed that check`() async {
    let check = RemoteCheck(target: .plain(host: "g", port: 1), trustPath: "")
    let findings = await check.health { path in
      guard path == "/v1/health" else { throw ClientError(.unreachable, "g:1 closed the connection") }
      return (200, Array(#"{"status":"ready","durability":"full","problems":[]}"#.utf8))
    }
    #expect(findings.map(\.check) == ["gateway", "ready"])
    #expect(findings.last?.state == .failed && findings.last?.words == "g:1 closed the connection")
  }

  @Test(arguments: [["--gateway", "x:1", "--repair"], ["--gateway", "x:1", "--thorough"], ["--ca", "ca.pem"]])
  func `what does not go together is refused`(_ arguments: [String]) {
    #expect(throws: (any Error).self) { try PushCLI.parseAsRoot(["doctor"] + arguments) }
  }
}
