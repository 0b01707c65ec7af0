import Testing

@testable import GatewayClient
@testable import HTTP2Transport

@Suite(.timeLimit(.minutes(1))) struct GatewayHandlerTests {
  @Test func `a request without a path is answered, too`() async throws {
    try await TestGateway.run { gateway in
      let sleepy = try await SleepyClient.connect(path: gateway.folder.file("socket"))
      try await sleepy.request([(.method, "CONNECT"), (.authority, "localhost")])
      // Requests of one connection are served in order.
      let device = try await gateway.enrol()
      let stream = try await sleepy.stream(device)
      stream.finish()
      for try await _ in stream.lines {}
      #expect(try await gateway.outboundSizes().isEmpty)
      try await sleepy.close()
    }
  }
}
