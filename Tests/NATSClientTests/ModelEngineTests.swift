import NATSTesting
import Testing

@testable import NATSClient

@Suite(.timeLimit(.minutes(5))) struct ModelEngineTests {
  @Test(arguments: EngineConformance.checks.map(\.name))
  func `the model does what JetStream does`(_ name: String) async throws {
    try await EngineConformance.run(name, on: ModelEngine().connect())
  }

  @Test func `brokers that are too old are refused in one line`() async throws {
    let engine = ModelEngine()
    try await JetStream(engine.connect()).requireBroker()
    engine.set(level: nil)
    await #expect(
      throws: JetStreamError.link(
        .refused("the NATS servers are older than 2.11: upgrade them; 2.15 was tested"))
    ) { try await JetStream(engine.connect()).requireBroker() }
  }
}
