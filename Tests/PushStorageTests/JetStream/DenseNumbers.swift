import PushTesting
import Synchronization

@testable import PushCore
@testable import PushStorage

/// A mailbox that renumbers the pushes of another one without holes: the first push of a device gets 1.
final class DenseNumbers: Mailbox {
  /// The original sequence numbers of each device's pushes.
  final class Table: Sendable {
    private let numbers = Mutex<[DeviceID: [UInt64]]>([:])

    func dense(_ seq: UInt64, of device: DeviceID) -> UInt64 {
      numbers.withLock { numbers in
        var known = numbers[device] ?? []
        defer { numbers[device] = known }
        if let index = known.firstIndex(of: seq) { return UInt64(index) + 1 }
        let index = known.firstIndex { $0 > seq } ?? known.count
        known.insert(seq, at: index)
        return UInt64(index) + 1
      }
    }

    func real(_ dense: UInt64, of device: DeviceID) -> UInt64 {
      guard dense > 0, dense < .max else { return dense }
      let known = numbers.withLock { $0[device] ?? [] }
      return dense <= known.count ? known[Int(dense) - 1] : .max - 1
    }
  }

  private let home: any Mailbox
  private let table: Table

  init(_ home: any Mailbox, _ table: Table) {
    self.home = home
    self.table = table
  }

  func append(_ pushes: [StoredPush], completion: @escaping @Sendable ([AppendOutcome]) -> Void) {
    home.append(pushes) { [table] outcomes in
      completion(
        zip(pushes, outcomes).map { push, outcome in
          guard case .queued(let seq, let replaced) = outcome else { return outcome }
          return .queued(seq: table.dense(seq, of: push.device), replaced: replaced)
        })
    }
  }

  func pending(for device: DeviceID, after seq: UInt64, limit: Int) async throws -> PendingPushes {
    var pending = try await home.pending(for: device, after: table.real(seq, of: device), limit: limit)
    pending.entries = pending.entries.map {
      MailboxEntry(seq: table.dense($0.seq, of: device), previous: nil, push: $0.push)
    }
    if let gap = pending.gap {
      pending.gap = MailboxGap(
        from: table.dense(gap.from, of: device), to: table.dense(gap.to, of: device), dropped: gap.dropped)
    }
    return pending
  }

  func acknowledge(_ device: DeviceID, through seq: UInt64) {
    home.acknowledge(device, through: table.real(seq, of: device))
  }

  func purge(_ devices: [DeviceID], app: AppID?, completion: @escaping @Sendable (Bool) -> Void) {
    home.purge(devices, app: app, completion: completion)
  }

  func retract(
    _ id: APNSID, app: AppID?, from devices: [DeviceID], completion: @escaping @Sendable (Bool) -> Void
  ) { home.retract(id, app: app, from: devices, completion: completion) }

  func discard(_ device: DeviceID, seq: UInt64) { home.discard(device, seq: table.real(seq, of: device)) }
  func expire(now: Int64) { home.expire(now: now) }
  var problem: HealthProblem? { home.problem }
  func waitingCount(for device: DeviceID) -> Int { home.waitingCount(for: device) }
}
