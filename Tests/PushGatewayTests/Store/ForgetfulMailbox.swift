import Testing

@testable import PushGateway

/// A mailbox with a fault that is planted: what is held against ``MailboxConformance`` has to be found out by it.
struct ForgetfulMailbox: Mailbox {
  enum Fault: CaseIterable {
    /// Answers for all, and keeps not the last of three or more.
    case losesAppends
    /// What was purged waits still.
    case purgesNothing
    /// What was acknowledged waits still.
    case forgetsAcknowledgements
    /// The newest comes first.
    case reversesOrder
  }

  let home: SQLiteMailbox
  let fault: Fault

  func append(_ pushes: [StoredPush], completion: @escaping @Sendable ([AppendOutcome]) -> Void) {
    switch fault {
    case .losesAppends where pushes.count > 2:
      home.append(Array(pushes.dropLast())) { outcomes in completion(outcomes + outcomes.suffix(1)) }
    default: home.append(pushes, completion: completion)
    }
  }

  func pending(for device: DeviceID, after seq: UInt64, limit: Int) async throws -> PendingPushes {
    var pending = try await home.pending(for: device, after: seq, limit: limit)
    if fault == .reversesOrder { pending.entries.reverse() }
    return pending
  }

  func acknowledge(_ device: DeviceID, through seq: UInt64) {
    if fault != .forgetsAcknowledgements { home.acknowledge(device, through: seq) }
  }

  func purge(_ device: DeviceID, app: AppID?) {
    if fault != .purgesNothing { home.purge(device, app: app) }
  }

  func expire(now: Int64) { home.expire(now: now) }
  var problem: HealthProblem? { home.problem }
  func waitingCount(for device: DeviceID) -> Int { home.waitingCount(for: device) }
}
