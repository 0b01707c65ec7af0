import Testing

@testable import PushGatewayTesting

/// The choice of a gateway. The tests of clients/swift use one.
@Suite(.timeLimit(.minutes(5))) struct PushGatewayServerTests {
  @Test func `the gateway of pushcli test-run is used`() async throws {
    let server = try await PushGatewayServer.start(
      options: [],
      environment: [
        "PUSHGATEWAY_TEST_URL": "http://127.0.0.1:2", "APNS_URL": "https://127.0.0.1:1", "APNS_CA": "/tmp/ca.pem",
        "PUSHCLI": "/nonexistent",
      ])
    #expect(server.testURL == "http://127.0.0.1:2")
    #expect(server.apnsURL == "https://127.0.0.1:1")
    #expect(server.caFile == "/tmp/ca.pem")
  }

  @Test(arguments: [
    ("PUSHGATEWAY_TEST_URL", "http://127.0.0.1:2", "APNS_URL or APNS_CA is missing"),
    ("PATH", "/nonexistent", "pushcli was not found"), ("PUSHCLI", "/nonexistent", "can't be started"),
    ("PUSHCLI", "/bin/true", "printed no line"),
  ])
  func `an error names the missing part`(_ name: String, _ value: String, _ part: String) async throws {
    let error = await #expect(throws: PushGatewayError.self) {
      _ = try await PushGatewayServer.start(options: [], environment: [name: value])
    }
    #expect(error?.description.contains(part) == true)
  }
}
