import Synchronization

@testable import PushGateway

/// A mailbox with a fault that is planted: what is held against ``MailboxConformance`` has to be found out by it.
final class ForgetfulMailbox: Mailbox {
  enum Fault: CaseIterable {
    /// Answers for all, and keeps not the last of three or more.
    case losesAppends
    /// What was purged waits still.
    case purgesNothing
    /// What was acknowledged waits still.
    case forgetsAcknowledgements
    /// The newest comes first.
    case reversesOrder
    /// One more than was dropped is said to be.
    case countsGapsWrongly
    /// Devices are not told what the cap dropped.
    case hidesGaps
    /// Takes one more than was acknowledged.
    case acknowledgesTooMuch
    /// Knows an id only when its push has been read.
    case knowsRetriesLate
    /// Nobody hears of what left.
    case removesSilently
    /// What waits is not there when it is opened again.
    case forgetsWhenClosed

    /// The check that has to find it, whichever others do.
    var finder: String {
      switch self {
      case .losesAppends: "a push comes back as it was"
      case .purgesNothing: "purging takes an app's pushes"
      case .forgetsAcknowledgements: "acknowledging is cumulative and idempotent"
      case .reversesOrder: "reading goes on from a number, by limits"
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
  /// Ids that ``Fault/knowsRetriesLate`` knows.
  private let known = Mutex<Set<APNSID>>([])

  init(home: any Mailbox, fault: Fault) {
    self.home = home
    self.fault = fault
  }

  /// A home whose mailboxes all have a fault.
  static func home(_ fault: Fault) -> MailboxHome {
    @Sendable func opened(_ home: MailboxHome.Opened, _ clock: TestClock, _ cap: Int) -> MailboxHome.Opened {
      MailboxHome.Opened(
        mailbox: ForgetfulMailbox(home: home.mailbox, fault: fault),
        removals: fault == .removesSilently ? SQLiteHome.Removals() : home.removals, close: home.close
      ) {
        let later = fault == .forgetsWhenClosed ? try MailboxHome.memory.open(clock, cap) : try home.reopened()
        return opened(later, clock, cap)
      }
    }
    return MailboxHome(testDescription: "\(fault)") { clock, cap in
      opened(try MailboxHome.memory.open(clock, cap), clock, cap)
    }
  }

  func append(_ pushes: [StoredPush], completion: @escaping @Sendable ([AppendOutcome]) -> Void) {
    switch fault {
    case .losesAppends where pushes.count > 2:
      home.append(Array(pushes.dropLast())) { outcomes in completion(outcomes + outcomes.suffix(1)) }
    case .knowsRetriesLate:
      guard !known.withLock({ known in pushes.allSatisfy { known.contains($0.id) } }) else {
        return completion(pushes.map { _ in .duplicate })
      }
      home.append(pushes.map(\.withoutSenderID), completion: completion)
    default: home.append(pushes, completion: completion)
    }
  }

  func pending(for device: DeviceID, after seq: UInt64, limit: Int) async throws -> PendingPushes {
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
    case .acknowledgesTooMuch: home.acknowledge(device, through: seq == .max ? seq : seq + 1)
    default: home.acknowledge(device, through: seq)
    }
  }

  func purge(_ device: DeviceID, app: AppID?) {
    if fault != .purgesNothing { home.purge(device, app: app) }
  }

  func expire(now: Int64) { home.expire(now: now) }
  var problem: HealthProblem? { home.problem }
  func waitingCount(for device: DeviceID) -> Int { home.waitingCount(for: device) }
}

extension StoredPush {
  fileprivate var withoutSenderID: StoredPush {
    StoredPush(
      device: device, app: app, id: id, isSenderID: false, uniqueID: uniqueID, received: received, expires: expires,
      priority: priority, collapseID: collapseID, payload: payload)
  }
}
