import NATSTesting
import Testing

@testable import NATSClient

@Suite(.timeLimit(.minutes(5)), .enabled(if: BrokerCluster.isAvailable, "no nats-server found: set NATS_SERVER"))
struct JetStreamTests {
  @Test(arguments: EngineConformance.checks.map(\.name))
  func `JetStream does what is asked for`(_ name: String) async throws {
    let connection = try await NATSConnection.connect(BrokerCluster.account())
    defer { connection.close() }
    try await EngineConformance.run(name, on: connection)
  }
}
