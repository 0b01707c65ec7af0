import Dispatch
import PushTesting
import Testing

@testable import GatewayClient
@testable import HTTP2Transport
@testable import PushCore
@testable import PushGateway
@testable import PushStorage

/// The liveness and readiness of a gateway over HTTP/2.
@Suite(.timeLimit(.minutes(5))) struct HealthAPITests {
  /// Returns the status and the line of an answer.
  func ask(_ client: Client, _ path: String) async throws -> String {
    let answer = try await client.request("GET", path)
    return "\(answer.status) \(String(decoding: answer.body, as: UTF8.self))"
  }

  @Test func `a gateway that runs is alive and ready`() async throws {
    try await TestGateway.run { gateway in
      let client = try await gateway.client()
      #expect(try await ask(client, "/healthz") == "200 ok\n")
      #expect(try await ask(client, "/readyz") == "200 ready\n")
      #expect(try await ask(client, "/v1/health").hasPrefix("200 "))
    }
  }

  @Test func `a gateway that drains is alive, and not ready`() async throws {
    try await TestGateway.run { gateway in
      let client = try await gateway.client()
      gateway.parts.lifecycle.beginDrain()
      #expect(try await ask(client, "/healthz") == "200 ok\n")
      #expect(try await ask(client, "/readyz").hasPrefix("503 draining: "))
    }
  }

  @Test func `a gateway that can store nothing is not ready, and strangers are not told what its files are called`()
    async throws
  {
    try await TestGateway.run(mailbox: RefusingMailbox()) { gateway in
      let client = try await gateway.client()
      #expect(try await ask(client, "/readyz").contains("the disk is full"))
      #expect(try await ask(client, "/healthz") == "200 ok\n")
      let route = try #require(HealthAPI(check: gateway.parts.healthCheck).routes.first { $0.pattern == ["readyz"] })
      let answer = try await route.serve(ControlRequest(SampleRequest().message, from: .remote))
      #expect(answer.status == 503)
      #expect(String(decoding: answer.body, as: UTF8.self) == HealthProblem.unauthenticatedText + "\n")
    }
  }

  @Test func `a loop that does not answer is told`() async throws {
    try await TestGateway.run { gateway in
      let client = try await gateway.client()
      gateway.parts.lifecycle.watch { false }
      #expect(try await ask(client, "/healthz").hasPrefix("503 "))
    }
  }

  @Test func `all loops answer, and one that is stuck does not`() async throws {
    try await TestGateway.run { gateway in
      let client = try await gateway.client()
      #expect(await gateway.loops.answer(within: .seconds(60)))
      // A connection, so that the loop has work.
      #expect(try await client.request("GET", "/healthz").status == 200)
      let gate = DispatchSemaphore(value: 0)
      gateway.loops.forEachConnection { _ in gate.wait() }
      #expect(await !gateway.loops.answer(within: .milliseconds(50)))
      gate.signal()
      #expect(await gateway.loops.answer(within: .seconds(60)))
      client.close()
    }
  }
}
