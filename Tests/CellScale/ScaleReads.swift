import NATSClient
import PushTesting

@testable import PushCluster
@testable import PushCore
@testable import PushStorage

/// Reads of mailboxes at real brokers. The processor time of the brokers, which the model can't give, is observed from
/// outside at the same time.
enum ScaleReads {
  /// The kind of read: the pushes and the gap of each mailbox, or one question to many mailboxes whether they have any
  /// push.
  enum Way: String { case reads, looks }

  /// - Parameter count: The number of mailboxes. For `reads`, each is read once, 64 at a time. For `looks`, ten
  ///   thousand are looked at at a time, after a push was stored for one in ten.
  /// - Returns: The duration in seconds.
  static func run(_ servers: [String], count: Int, _ way: Way) async throws -> Double {
    let link = try await NATSConnection.connect(NATSOptions(servers: servers, name: "scale"))
    defer { link.close() }
    let mailbox = JetStreamMailbox(
      JetStream(link), partitions: 16, replicas: 3, cap: 10_000, logger: .silent, now: { WallClock.system.seconds },
      removed: { _ in })
    try await mailbox.start()
    for start in stride(from: 0, to: count / 10, by: 50) {
      let some = (start..<min(start + 50, count / 10)).map { number in
        samplePush(to: DeviceID(row: Int64(number * 10 + 1)), at: WallClock.system.seconds)
      }
      await withCheckedContinuation { continuation in mailbox.append(some) { _ in continuation.resume() } }
    }
    print("stored")
    let begin = ContinuousClock.now
    switch way {
    case .reads: await read(mailbox, count)
    case .looks: await look(mailbox, count)
    }
    return (ContinuousClock.now - begin) / .seconds(1)
  }

  private static func read(_ mailbox: JetStreamMailbox, _ count: Int) async {
    await withTaskGroup(of: Void.self) { group in
      for lane in 0..<64 {
        group.addTask {
          for row in stride(from: lane, to: count, by: 64) {
            _ = try? await mailbox.pending(for: DeviceID(row: Int64(row + 1)), after: 0, limit: Limits.pendingBatch)
          }
        }
      }
    }
  }

  private static func look(_ mailbox: JetStreamMailbox, _ count: Int) async {
    for start in stride(from: 0, to: count, by: 10_000) {
      let rows = start..<min(start + 10_000, count)
      print(await mailbox.havingPushes(rows.map { DeviceID(row: Int64($0 + 1)) }).count, "of", rows.count)
    }
  }
}
