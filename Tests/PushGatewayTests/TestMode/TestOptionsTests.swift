import Foundation
import Logging
import PushTesting
import Testing

@testable import GatewayClient
@testable import HTTP2Transport
@testable import PushCore
@testable import PushGateway
@testable import PushPolicy

@Suite(.timeLimit(.minutes(5))) struct TestOptionsTests {
  func configuration(_ flags: [String: String], in folder: String = "/nonexistent") throws -> Configuration {
    try Configuration(state: folder, flags: flags, file: nil, environment: [:])
  }

  @Test(arguments: [
    (["listen": "127.0.0.1:0", "http_listen": "127.0.0.1:0"], true),
    (["listen": "localhost:2197", "http_listen": "[::1]:0"], true),
    (["listen": "0.0.0.0:2197", "http_listen": "127.0.0.1:0"], false),
    (["listen": "127.0.0.1:0", "http_listen": "0.0.0.0:0"], false),
    (["listen": "127.0.0.1:0", "http_listen": "127.0.0.1:0,https://localhost:0"], true),
    (["listen": "127.0.0.1:0", "http_listen": "127.0.0.1:0,https://0.0.0.0:0"], false),
  ])
  func `a test gateway listens on loopback unless told otherwise`(_ flags: [String: String], _ isAllowed: Bool) throws {
    let configuration = try configuration(flags)
    var options = TestOptions()
    if isAllowed {
      try options.check(configuration)
    } else {
      #expect(throws: ConfigurationError.self) { try options.check(configuration) }
    }
    options.allowsOtherHosts = true
    try options.check(configuration)
  }

  @Test func `a whole test gateway serves a sender over TLS, and production has none of its routes`() async throws {
    let folder = try TemporaryFolder()
    for isTest in [true, false] {
      let state = StateFolder(folder.file("state-\(isTest)"))
      let configuration = try configuration(
        ["listen": "127.0.0.1:0", "http_listen": "127.0.0.1:0", "loops": "1"], in: state.path)
      let gateway = try await Gateway.start(
        configuration, logger: .silent, test: isTest ? TestOptions() : nil)
      let port = try #require(gateway.addresses.first?.split(separator: ":").last.flatMap { Int($0) })
      let client = try await Client.connect(to: .tls(host: "127.0.0.1", port: port, trustPath: state.trustPath))
      var recipe = TokenRecipe()
      recipe.claims = #"{"iss":"TEAM000001","iat":\#(WallClock.system.seconds)}"#
      let answer = try await client.request(
        "POST", "/3/device/" + RecordingGateway.token,
        [
          (.authorization, "bearer " + (try recipe.text(by: try ES256Key.generate()))),
          (.apnsTopic, RecordingGateway.topic),
        ], body: Array(RecordingGateway.payload.utf8))
      #expect(answer.status == (isTest ? 200 : 403))
      let api = try await client.request("GET", "/test/v1")
      #expect((api.status == 200) == isTest)
      #expect(gateway.testReport.isEmpty == !isTest)
      await gateway.stop()
    }
  }
}
