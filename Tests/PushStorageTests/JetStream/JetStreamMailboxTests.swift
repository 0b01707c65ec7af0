import NATSTesting
import Testing

@testable import PushStorage

@Suite(.timeLimit(.minutes(5)), .enabled(if: BrokerCluster.isAvailable, "no nats-server found: set NATS_SERVER"))
struct JetStreamMailboxTests {
  @Test(arguments: MailboxConformance.checks.map(\.name).filter { JetStreamHome.exceptions[$0] == nil })
  func `streams do what every mailbox does`(_ name: String) async throws {
    try await MailboxConformance.run(name, on: JetStreamHome.home)
  }

  @Test(
    .disabled("a stream has a clock and numbers of its own"),
    arguments: MailboxConformance.checks.map(\.name).filter { JetStreamHome.exceptions[$0] != nil })
  func `streams can't do`(_ name: String) async throws {
    try await MailboxConformance.run(name, on: JetStreamHome.home)
  }
}

@Suite(.timeLimit(.minutes(5))) struct ModelMailboxTests {
  @Test(arguments: MailboxConformance.checks.map(\.name).filter { JetStreamHome.modelExceptions[$0] == nil })
  func `streams of the model do what every mailbox does`(_ name: String) async throws {
    try await MailboxConformance.run(name, on: JetStreamHome.model)
  }
}
