import NATSClient
import NATSTesting
import PushCluster
import PushTesting
import Synchronization

@testable import PushCore
@testable import PushStorage

/// Mailboxes on JetStream: on a real broker, each in its own account, or each on its own model.
enum JetStreamHome {
  /// The checks of ``MailboxConformance`` that can't pass on streams, with the reasons.
  static let exceptions: [String: String] = [
    "a retry is stored once": "the stream forgets ids after 300 s of its own clock, which no test can move",
    "numbers begin after one that the device knows":
      "a stream numbers the pushes of all its devices; a new one begins with the time, beyond what any device knows",
  ]

  static let home = MailboxHome(testDescription: "JetStream") { clock, cap in
    let engine = JetStream.patient(try await NATSConnection.connect(BrokerCluster.account()))
    return try await open(engine, clock, cap, DenseNumbers.Table())
  }

  /// The checks of ``MailboxConformance`` that can't pass on the model.
  static let modelExceptions = exceptions.filter { $0.key == "numbers begin after one that the device knows" }

  static let model = MailboxHome(testDescription: "model") { clock, cap in
    let engine = ModelEngine(clock: { .seconds(clock.seconds) })
    return try await open(.patient(engine.connect()), clock, cap, DenseNumbers.Table())
  }

  private static func open(
    _ engine: JetStream, _ clock: TestClock, _ cap: Int, _ table: DenseNumbers.Table
  ) async throws -> MailboxHome.Opened {
    let removals = SQLiteHome.Removals()
    let mailbox = JetStreamMailbox(
      engine, partitions: 2, replicas: 1, cap: cap, logger: .silent, now: { clock.seconds },
      removed: { removals.add($0) }, environment: .patient)
    try await mailbox.start()
    return MailboxHome.Opened(
      mailbox: DenseNumbers(mailbox, table), removals: removals, close: { mailbox.close() },
      reopened: {
        mailbox.close()
        return try await open(engine, clock, cap, table)
      })
  }
}

extension MailboxEnvironment {
  /// An environment with timeouts that are long enough for an election on a loaded machine.
  static var patient: MailboxEnvironment {
    var environment = MailboxEnvironment()
    (environment.timeout, environment.startTime) = (.seconds(300), .seconds(300))
    return environment
  }
}
