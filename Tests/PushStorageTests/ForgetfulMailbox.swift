import PushTesting
import Synchronization

@testable import PushCore
@testable import PushStorage

/// A mailbox with an injected fault, which the checks of ``MailboxConformance`` have to detect.
final class ForgetfulMailbox: Mailbox {
  enum Fault: CaseIterable {
    /// Confirms all pushes of an append, but of three or more does not store the last.
    case losesAppends
    /// Purged pushes stay pending.
    case purgesNothing
    /// Acknowledged pushes stay pending.
    case forgetsAcknowledgements
    /// Acknowledged pushes stay pending until the next append.
    case acknowledgesLate
    /// Reads return the newest push first.
    case reversesOrder
    /// The number of dropped pushes in a gap is one too high.
    case countsGapsWrongly
    /// Reads report no gap.
    case hidesGaps
    /// An acknowledgement removes one push too many.
    case acknowledgesTooMuch
    /// The outcomes of a batch are in reverse order.
    case reversesOutcomes
    /// The second of two completions is called first.
    case swapsCompletions
    /// Only one of the copies of a push is stored.
    case storesOneCopy
    /// Retries are not recognized.
    case knowsNoRetries
    /// Collapse ids are ignored.
    case ignoresCollapseIDs
    /// A purge also removes the pushes of the next append.
    case purgesLate
    /// Retracted pushes stay.
    case retractsNothing
    /// A retraction also removes a push of another app.
    case retractsOtherApps
    /// Discarded pushes stay.
    case discardsNothing
    /// Expired pushes stay.
    case expiresNothing
    /// A device's cursor beyond the last sequence number is ignored.
    case disbelievesDevices
    /// An append of no pushes has an outcome.
    case answersNothingWrongly
    /// Retries are recognized only after their push has been read.
    case knowsRetriesLate
    /// Removals are not reported.
    case removesSilently
    /// Pending pushes are lost when the mailbox is closed and opened again.
    case forgetsWhenClosed

    /// The name of the check that has to detect the fault. Other checks may detect it too.
    var finder: String {
      switch self {
      case .losesAppends: "a push comes back as it was"
      case .purgesNothing: "purging takes an app's pushes"
      case .forgetsAcknowledgements: "acknowledging is cumulative and idempotent"
      case .acknowledgesLate: "what is acknowledged is not read again"
      case .reversesOrder: "reading goes on from a number, by limits"
      case .reversesOutcomes: "outcomes come in order"
      case .swapsCompletions: "completions come in order"
      case .storesOneCopy: "copies of a push come back, and leave one by one"
      case .knowsNoRetries: "a retry is stored once"
      case .ignoresCollapseIDs: "a collapse id replaces"
      case .retractsNothing, .retractsOtherApps: "what was taken back leaves, and nothing else"
      case .purgesLate: "a purge takes what was appended before it, and nothing after"
      case .discardsNothing: "what a device can't read leaves, and nothing else"
      case .expiresNothing: "expired pushes are not read, and go"
      case .disbelievesDevices: "numbers begin after one that the device knows"
      case .answersNothingWrongly: "an empty append is answered"
      case .countsGapsWrongly, .hidesGaps: "a gap equals what the cap dropped"
      case .acknowledgesTooMuch: "acknowledging what was replaced leaves its successor"
      case .knowsRetriesLate: "a retry from two threads at once is stored once"
      case .removesSilently: "what leaves without an acknowledgement is told, with its cause"
      case .forgetsWhenClosed: "what was stored is there when it is opened again"
      }
    }
  }

  private let home: any Mailbox
  private let fault: Fault
  /// The ids that ``Fault/knowsRetriesLate`` recognizes.
  private let known = Mutex<Set<APNSID>>([])
  /// The completion that ``Fault/swapsCompletions`` delays.
  private let held = Mutex<(@Sendable () -> Void)?>(nil)
  /// The acknowledgements that ``Fault/acknowledgesLate`` has deferred.
  private let unacknowledged = Mutex<[(DeviceID, UInt64)]>([])
  /// The purges that ``Fault/purgesLate`` repeats.
  private let purged = Mutex<[([DeviceID], AppID?)]>([])

  init(home: any Mailbox, fault: Fault) {
    self.home = home
    self.fault = fault
  }

  /// Returns a storage backend whose mailboxes all have a fault.
  static func home(_ fault: Fault) -> MailboxHome {
    @Sendable func opened(_ home: MailboxHome.Opened, _ clock: TestClock, _ cap: Int) -> MailboxHome.Opened {
      MailboxHome.Opened(
        mailbox: ForgetfulMailbox(home: home.mailbox, fault: fault),
        removals: fault == .removesSilently ? SQLiteHome.Removals() : home.removals, close: home.close
      ) {
        let later =
          fault == .forgetsWhenClosed ? try await MailboxHome.memory.open(clock, cap) : try await home.reopened()
        return opened(later, clock, cap)
      }
    }
    return MailboxHome(testDescription: "\(fault)") { clock, cap in
      opened(try await MailboxHome.memory.open(clock, cap), clock, cap)
    }
  }

  func append(_ pushes: [StoredPush], completion: @escaping @Sendable ([AppendOutcome]) -> Void) {
    switch fault {
    case .losesAppends where pushes.count > 2:
      home.append(Array(pushes.dropLast())) { outcomes in completion(outcomes + outcomes.suffix(1)) }
    case .storesOneCopy:
      let kept = pushes.filter { push in pushes.first(where: { $0.id == push.id }) === push }
      home.append(kept) { outcomes in
        completion(outcomes + (kept.count..<pushes.count).flatMap { _ in outcomes.suffix(1) })
      }
    case .knowsRetriesLate:
      guard !known.withLock({ known in pushes.allSatisfy { known.contains($0.id) } }) else {
        return completion(pushes.map { _ in .duplicate })
      }
      home.append(pushes.map(\.withoutSenderID), completion: completion)
    case .reversesOutcomes: home.append(pushes) { completion($0.reversed()) }
    case .swapsCompletions:
      home.append(pushes) { [self] outcomes in
        guard let first = held.withLock({ $0.take() }) else {
          return held.withLock { $0 = { completion(outcomes) } }
        }
        completion(outcomes)
        first()
      }
    case .knowsNoRetries: home.append(pushes.map(\.withoutSenderID), completion: completion)
    case .ignoresCollapseIDs: home.append(pushes.map(\.withoutCollapseID), completion: completion)
    case .purgesLate:
      home.append(pushes, completion: completion)
      for (devices, app) in purged.withLock({ $0 }) { home.purge(devices, app: app) { _ in } }
    case .acknowledgesLate:
      for (device, seq) in unacknowledged.withLock({ $0 }) { home.acknowledge(device, through: seq) }
      home.append(pushes, completion: completion)
    case .answersNothingWrongly: home.append(pushes) { completion($0.isEmpty ? [.duplicate] : $0) }
    default: home.append(pushes, completion: completion)
    }
  }

  func pending(for device: DeviceID, after seq: UInt64, limit: Int) async throws -> PendingPushes {
    let seq = fault == .disbelievesDevices && seq >= 1000 ? 0 : seq
    var pending = try await home.pending(for: device, after: seq, limit: limit)
    switch fault {
    case .reversesOrder: pending.entries.reverse()
    case .countsGapsWrongly: pending.gap?.dropped += 1
    case .hidesGaps: pending.gap = nil
    case .knowsRetriesLate: known.withLock { $0.formUnion(pending.entries.map(\.push.id)) }
    default: break
    }
    return pending
  }

  func acknowledge(_ device: DeviceID, through seq: UInt64) {
    switch fault {
    case .forgetsAcknowledgements: break
    case .acknowledgesLate: unacknowledged.withLock { $0.append((device, seq)) }
    case .acknowledgesTooMuch: home.acknowledge(device, through: seq == .max ? seq : seq + 1)
    default: home.acknowledge(device, through: seq)
    }
  }

  func purge(_ devices: [DeviceID], app: AppID?, completion: @escaping @Sendable (Bool) -> Void) {
    switch fault {
    case .purgesNothing: completion(true)
    case .purgesLate:
      purged.withLock { $0.append((devices, app)) }
      home.purge(devices, app: app, completion: completion)
    default: home.purge(devices, app: app, completion: completion)
    }
  }

  func retract(
    _ id: APNSID, app: AppID?, from devices: [DeviceID], completion: @escaping @Sendable (Bool) -> Void
  ) {
    switch fault {
    case .retractsNothing: completion(true)
    case .retractsOtherApps: home.retract(id, app: nil, from: devices, completion: completion)
    default: home.retract(id, app: app, from: devices, completion: completion)
    }
  }

  func discard(_ device: DeviceID, seq: UInt64) {
    if fault != .discardsNothing { home.discard(device, seq: seq) }
  }

  func expire(now: Int64) {
    if fault != .expiresNothing { home.expire(now: now) }
  }

  var problem: HealthProblem? { home.problem }
  func waitingCount(for device: DeviceID) -> Int { home.waitingCount(for: device) }
}

extension StoredPush {
  fileprivate var withoutSenderID: StoredPush { copy(isSenderID: false, collapseID: collapseID) }
  fileprivate var withoutCollapseID: StoredPush { copy(isSenderID: isSenderID, collapseID: "") }

  private func copy(isSenderID: Bool, collapseID: String) -> StoredPush {
    StoredPush(
      device: device, app: app, id: id, isSenderID: isSenderID, uniqueID: uniqueID, received: received,
      expires: expires, priority: priority, collapseID: collapseID, payload: payload)
  }
}
