import Synchronization

@testable import PushCore
@testable import PushStorage

/// A mailbox that refuses an append of more than `limit` pushes, and each push for one of `refused`. With a limit of 0,
/// appends fail as on a full disk, or with the outcome that a test sets.
final class RefusingMailbox: Mailbox {
  let stored = Mutex<[StoredPush]>([])
  let refused = Mutex<Set<DeviceID>>([])
  private let outcome: AppendOutcome
  private let limit: Int

  init(_ outcome: AppendOutcome = .unavailable, limit: Int = 0) { (self.outcome, self.limit) = (outcome, limit) }

  func append(_ pushes: [StoredPush], completion: @escaping @Sendable ([AppendOutcome]) -> Void) {
    let refused = refused.withLock { $0 }
    completion(
      pushes.map { push in
        guard pushes.count <= limit, !refused.contains(push.device) else { return outcome }
        return stored.withLock { stored in
          stored.append(push)
          return .queued(seq: UInt64(stored.count), replaced: nil)
        }
      })
  }

  func pending(for device: DeviceID, after seq: UInt64, limit: Int) async throws -> PendingPushes {
    throw StoreError("the disk is full")
  }
  func acknowledge(_ device: DeviceID, through seq: UInt64) {}
  func purge(_ devices: [DeviceID], app: AppID?, completion: @escaping @Sendable (Bool) -> Void) { completion(true) }
  func retract(
    _ id: APNSID, app: AppID?, from devices: [DeviceID], completion: @escaping @Sendable (Bool) -> Void
  ) { completion(true) }
  func discard(_ device: DeviceID, seq: UInt64) {}
  func expire(now: Int64) {}
  var problem: HealthProblem? {
    limit == 0 ? HealthProblem(part: "mailbox", problem: "the disk is full", since: 1) : nil
  }
  func waitingCount(for device: DeviceID) -> Int { 0 }
}
