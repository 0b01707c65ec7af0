import PushTesting
import Testing

@testable import GatewayClient
@testable import HTTP2Transport
@testable import PushCore
@testable import PushGateway

@Suite(.timeLimit(.minutes(5))) struct GatewayHandlerTests {
  @Test func `a request without a path is answered, too`() async throws {
    try await TestGateway.run { gateway in
      let sleepy = try await SleepyClient.connect(path: gateway.folder.file("socket"))
      try await sleepy.request([(.method, "CONNECT"), (.authority, "localhost")])
      // Requests of one connection are served in order.
      let device = try await gateway.enroll()
      let stream = try await sleepy.stream(device)
      stream.finish()
      for try await _ in stream.lines {}
      #expect(try await gateway.outboundSizes().isEmpty)
      try await sleepy.close()
    }
  }

  @Test func `too many fields are 431 on our own routes, and a reset elsewhere`() async throws {
    try await TestGateway.run { gateway in
      let long = String(repeating: "a", count: Limits.maximumHeaderListSize)
      for path in ["/v1/health", "/admin/v1/status"] {
        let client = try await gateway.client()
        #expect(try await client.request("GET", path, [(.authorization, long)]).status == 431)
        #expect(try await client.request("GET", path).status == 200)
      }
      let client = try await gateway.client()
      await #expect(throws: (any Error).self) {
        try await client.request("POST", "/3/device/ab", [(.authorization, long)], body: [1])
      }
      #expect(try await client.request("GET", "/v1/health").status == 200)
      #expect(gateway.limits.counts == [.headerList: 3])
    }
  }

  @Test func `HEAD is answered as GET, without the body`() async throws {
    try await TestGateway.run { gateway in
      let client = try await gateway.client()
      for path in ["/v1/health", "/v1/nothing", "/v1/device/log", "/3/device/ab", "/1/apps/x/channels"] {
        let whole = try await client.request(path.hasPrefix("/v1") ? "GET" : "PUT", path)
        let head = try await client.request("HEAD", path)
        #expect(head.status == whole.status, "\(path)")
        #expect(head.body.isEmpty && !whole.body.isEmpty, "\(path)")
      }
    }
  }

  @Test func `requests at work are counted for each connection, and refused beyond the limit`() async throws {
    try await TestGateway.run { gateway in
      let client = try await gateway.client()
      #expect(try await client.request("GET", "/v1/health").status == 200)
      #expect(await gateway.loops.connections(\.runningRequests) == [0])
      _ = await gateway.loops.connections { $0.runningRequests = Limits.maximumControlRequests }
      #expect(try await client.request("GET", "/v1/health").status == 429)
      #expect(gateway.limits.counts == [.controlRequests: 1])
      _ = await gateway.loops.connections { $0.runningRequests -= 1 }
      #expect(try await client.request("GET", "/v1/health").status == 200)
    }
  }
}
