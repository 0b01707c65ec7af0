import PushTesting

@testable import PushCore
@testable import PushStorage

/// The requests to a simulated cluster with their answers, and the invariants for them.
struct CellLedger {
  struct Key: Hashable {
    var device: DeviceID
    var app: AppID
    var id: APNSID
  }

  /// A push that was given to a gateway.
  struct Sent {
    var push: StoredPush
    var begun: Duration
    var ended: Duration?
    /// The outcome, or nil if it is unknown because the gateway ended.
    var outcome: AppendOutcome?
    var seq: UInt64?

    var key: Key { Key(device: push.device, app: push.app, id: push.id) }
    /// True if the push may be in the stream.
    var mayBeStored: Bool { outcome?.isDuplicate != true }
  }

  /// An operation that removes pushes.
  struct Removing {
    var device: DeviceID
    var app: AppID?
    var id: APNSID?
    var ended: Duration?
  }

  struct Violation: Error, CustomStringConvertible {
    var description: String
    init(_ description: String) { self.description = description }
  }

  private(set) var sent: [APNSID: Sent] = [:]
  var removing: [Removing] = []
  /// The reported removals, by gateway.
  private(set) var removed: [Int: [MailboxRemoval]] = [:]
  /// The highest acknowledged sequence numbers of each device, by gateway and over all gateways.
  private var acknowledged: [Int: [DeviceID: UInt64]] = [:]
  private(set) var acknowledgedAnywhere: [DeviceID: UInt64] = [:]
  /// The ends of the gaps of each device, as they were read.
  private var gaps: [DeviceID: UInt64] = [:]
  private var restartedAt = Duration.seconds(-10_000)
  /// The push of each sequence number of a device.
  private var numbers: [DeviceID: [UInt64: APNSID]] = [:]

  // MARK: Events

  mutating func begin(_ push: StoredPush, at now: Duration) { sent[push.uniqueID] = Sent(push: push, begun: now) }

  mutating func end(_ push: StoredPush, _ outcome: AppendOutcome, at now: Duration) throws(Violation) {
    sent[push.uniqueID]?.ended = now
    sent[push.uniqueID]?.outcome = outcome
    guard let ended = sent[push.uniqueID] else { return }
    if let seq = outcome.seq { try note(seq, push) }
    guard outcome.seq != nil else { return }
    let others = sent.values.filter { $0.push.uniqueID != push.uniqueID && $0.key == ended.key && push.isSenderID }
    for other in others where other.outcome?.seq != nil && restartedAt < min(ended.begun, other.begun) {
      let apart = max(now, other.ended ?? now) - min(ended.begun, other.begun)
      if apart < .seconds(Int(Limits.duplicateWindow)) {
        throw Violation("\(push.id) was stored twice: \(other.seq ?? 0), \(outcome.seq ?? 0)")
      }
    }
  }

  mutating func restart(at now: Duration) { restartedAt = now }

  mutating func acknowledge(_ device: DeviceID, through seq: UInt64, at gateway: Int) {
    acknowledged[gateway, default: [:]][device] = max(acknowledged[gateway]?[device] ?? 0, seq)
    acknowledgedAnywhere[device] = max(acknowledgedAnywhere[device] ?? 0, seq)
  }

  mutating func noteRemovals(_ removals: [MailboxRemoval], at gateway: Int) {
    removed[gateway, default: []] += removals
  }

  /// Resets the state of a gateway to that of a new one.
  mutating func replace(_ gateway: Int) { (acknowledged[gateway], removed[gateway]) = ([:], []) }

  private mutating func note(_ seq: UInt64, _ push: StoredPush) throws(Violation) {
    if let known = numbers[push.device]?[seq], known != push.uniqueID {
      throw Violation("number \(seq) of device \(push.device.row) is two pushes")
    }
    numbers[push.device, default: [:]][seq] = push.uniqueID
    if let known = sent[push.uniqueID]?.seq, known != seq, restartedAt < sent[push.uniqueID]?.begun ?? .zero {
      throw Violation("\(push.id) has two numbers: \(known), \(seq)")
    }
    sent[push.uniqueID]?.seq = seq
  }

  // MARK: Reads

  /// The state that a gateway knew before a read began.
  struct Known {
    var acknowledged: UInt64
    var left: Set<Key>
    var now: Int64
  }

  func known(_ device: DeviceID, at gateway: Int, now: Int64) -> Known {
    // If several pushes have one id, a removal does not identify the push.
    let stored = Dictionary(grouping: sent.values.filter { $0.push.device == device }, by: \.key)
    let left = (removed[gateway] ?? []).map { Key(device: $0.device, app: $0.app, id: $0.id) }
    return Known(
      acknowledged: acknowledged[gateway]?[device] ?? 0, left: Set(left.filter { stored[$0]?.count == 1 }), now: now)
  }

  mutating func check(_ entry: MailboxEntry, _ known: Known) throws(Violation) {
    let device = entry.push.device
    guard let sent = sent[entry.push.uniqueID] else { throw Violation("nobody sent \(entry.push.id)") }
    guard sent.push.device == device, sent.push.payload == entry.push.payload, sent.key.id == entry.push.id else {
      throw Violation("\(entry.push.id) is another one's")
    }
    try note(entry.seq, entry.push)
    if entry.seq <= known.acknowledged { throw Violation("\(entry.seq) was acknowledged and comes back") }
    if entry.push.expires <= known.now { throw Violation("\(entry.seq) had expired") }
    if known.left.contains(sent.key) { throw Violation("\(entry.seq) was reported to have left") }
  }

  mutating func check(_ pending: PendingPushes, after seq: UInt64, of device: DeviceID, _ known: Known)
    throws(Violation)
  {
    var last = seq
    var (ids, slots): (Set<Key>, Set<String>) = ([], [])
    for entry in pending.entries {
      try check(entry, known)
      if entry.seq <= last { throw Violation("\(entry.seq) comes after \(last)") }
      last = entry.seq
      let push = entry.push
      let isNewID = ids.insert(Key(device: device, app: push.app, id: push.id)).inserted
      if push.isSenderID, !isNewID { throw Violation("\(push.id) is handed out twice") }
      let isNewSlot = slots.insert("\(push.app.row) \(push.collapseID)").inserted
      if !push.collapseID.isEmpty, !isNewSlot { throw Violation("\(push.collapseID) is handed out twice") }
    }
    if let gap = pending.gap { gaps[device] = max(gaps[device] ?? 0, gap.to) }
  }

  // MARK: At the end

  /// Returns the accepted pushes that were not found and whose absence has no explanation.
  func lost(_ device: DeviceID, found: Set<UInt64>, now: Int64) -> [Sent] {
    sent.values.filter { sent in
      guard sent.push.device == device, case .queued(let seq, _) = sent.outcome, !found.contains(seq) else {
        return false
      }
      return !isExplained(sent, seq, now)
    }
  }

  private func isExplained(_ sent: Sent, _ seq: UInt64, _ now: Int64) -> Bool {
    let push = sent.push
    if push.expires <= now || seq <= gaps[push.device] ?? 0 { return true }
    let isTakenOut = removing.contains { removing in
      removing.device == push.device && removing.app ?? push.app == push.app && removing.id ?? push.id == push.id
        && removing.ended ?? .seconds(1 << 40) >= sent.begun
    }
    if isTakenOut { return true }
    return self.sent.values.contains { other in
      guard other.push.uniqueID != push.uniqueID, other.push.device == push.device, other.push.app == push.app,
        other.mayBeStored
      else { return false }
      // The other push replaced this one, or was stored before it with the same id.
      let isSuccessor =
        !push.collapseID.isEmpty && other.push.collapseID == push.collapseID && other.seq ?? .max > seq
      return isSuccessor || (push.isSenderID && other.push.id == push.id && other.seq ?? 0 < seq)
    }
  }
}
