package import PushCore

/// The in-memory index of pending pushes: for every device its entries in order, without their payloads.
///
/// The table on disk has no secondary index (an append costs 2 µs without one, 11 µs with one). This index replaces it
/// and is rebuilt by one scan at start.
///
/// A value: the writer stages a batch here, commits it on disk, then confirms it here.
package struct MailboxIndex: Sendable {
  /// One row of the table, as it is staged or read; ``Waiting`` is the part that stays in memory.
  package struct Entry: Sendable {
    package var row: Int64
    package var seq: UInt64
    package var app: AppID
    package var id: APNSID
    package var isSenderID: Bool
    /// The time at which the push was accepted, in milliseconds since 1970.
    package var received: Int64
    /// The time at which the push expires, in seconds since 1970.
    package var expires: Int64
    package var collapseID: String
    /// True if the entry was removed and its row remains so that a retry of its id is recognized.
    package var isRemoved = false
  }

  package struct CollapseKey: Hashable, Sendable {
    package var app: AppID
    package var id: String
  }

  package enum RowChange: Sendable {
    case delete(Int64)
    /// The row stays without its payload, so that a retry of its id is recognized also after a restart.
    case blank(Int64)
    /// The row gets another number.
    case renumber(Int64, seq: UInt64)
  }

  package internal(set) var queues: [DeviceID: DeviceQueue] = [:]
  package internal(set) var recent = RecentIDs()
  /// The number up to which each device has received its pushes, until that is applied (``claim(_:through:_:)``).
  private var claims: [DeviceID: UInt64] = [:]
  package var nextRow: Int64 = 1
  /// The count and the ages of all pending pushes.
  package private(set) var ages = WaitingAges()
  /// A lower bound of all expiration times, in seconds since 1970.
  package private(set) var earliestExpiry = Int64.max

  /// Returns the devices, by app, that have pending pushes and for which `isRegistered` returns false.
  package func unregistered(isRegistered: (DeviceID, AppID) -> Bool) -> [AppID: [DeviceID]] {
    var ended: [AppID: [DeviceID]] = [:]
    for (device, queue) in queues {
      for app in queue.apps where !isRegistered(device, app) { ended[app, default: []].append(device) }
    }
    return ended
  }

  // MARK: Reading

  /// Returns the pending entries of a queue above `seq` that have not expired: at most `limit` rows, and true for
  /// `isComplete` if these are all.
  package static func select(
    _ queue: DeviceQueue?, after seq: UInt64, limit: Int, now: Int64
  ) -> (gap: MailboxGap?, rows: [Int64], isComplete: Bool) {
    guard let queue else { return (nil, [], true) }
    let seq = max(seq, queue.acknowledged)
    var rows: [Int64] = []
    for entry in queue.entries[queue.firstIndex(after: seq)...] where !entry.isRemoved && entry.expires > now {
      if rows.count == limit { return (queue.gap.flatMap { $0.to > seq ? $0 : nil }, rows, false) }
      rows.append(entry.row)
    }
    return (queue.gap.flatMap { $0.to > seq ? $0 : nil }, rows, true)
  }

  // MARK: Appending

  /// Gives a push its number, or returns nil for a duplicate. The entry is not visible before ``confirm(_:)``.
  package mutating func stage(_ push: StoredPush) -> Entry? {
    if push.isSenderID {
      let key = RecentIDs.Key(device: push.device, app: push.app, id: push.id)
      guard recent.insert(key) else { return nil }
    }
    let row = nextRow
    nextRow += 1
    defer { assert(queues[push.device]?.brokenInvariant() == nil, queues[push.device]?.brokenInvariant() ?? "") }
    return queues[push.device, default: DeviceQueue()].stage(push, row: row)
  }

  /// Makes a staged entry visible, and removes the entries that it replaces or evicts.
  ///
  /// - Returns: the id of the replaced push; `changes` and `removals` receive all other consequences.
  package mutating func confirm(
    _ staged: Entry, of device: DeviceID, cap: Int, now: Int64, changes: inout [RowChange],
    removals: inout [MailboxRemoval]
  ) -> APNSID? {
    change(queuePosition(of: device)) { index, queue in
      let replaced = index.replace(staged, in: &queue, of: device, now: now, changes: &changes, removals: &removals)
      index.enter(Waiting(staged), staged.collapseID, into: &queue)
      queue.durableSeq = max(queue.durableSeq, staged.seq)
      while queue.count > cap, let oldest = queue.entries.first(where: { !$0.isRemoved }) {
        queue.gap = MailboxGap(
          from: queue.gap?.from ?? oldest.seq, to: oldest.seq, dropped: (queue.gap?.dropped ?? 0) + 1)
        index.remove(
          oldest, from: &queue, of: device, cause: .overflow, now: now, changes: &changes, removals: &removals)
      }
      return replaced
    }
  }

  /// Forgets a staged entry whose commit failed; its number is not used again.
  package mutating func abandon(_ push: StoredPush) {
    if push.isSenderID { recent.remove(.init(device: push.device, app: push.app, id: push.id)) }
  }

  // MARK: Removing

  /// Records that a device has received everything up to `seq`. An entry up to `seq` that leaves from now on leaves by
  /// the acknowledgement that follows, which the acknowledging caller reports.
  ///
  /// - Returns: the numbers of `replaceable` that have left in another way before.
  package mutating func claim(_ device: DeviceID, through seq: UInt64, _ replaceable: [UInt64]) -> [UInt64] {
    guard let queue = queues[device], seq > queue.acknowledged, seq <= queue.durableSeq else { return [] }
    claims[device] = max(claims[device] ?? 0, seq)
    return replaceable.filter { $0 > queue.acknowledged && queue.entry($0) == nil }
  }

  package mutating func acknowledge(_ device: DeviceID, through seq: UInt64, now: Int64) -> [RowChange] {
    if let claim = claims[device], claim <= seq { claims[device] = nil }
    guard let position = queues.index(forKey: device) else { return [] }
    return change(position) { index, queue in
      guard seq > queue.acknowledged, seq <= queue.durableSeq else { return [] }
      queue.acknowledged = seq
      if let gap = queue.gap, gap.to <= seq { queue.gap = nil }
      var changes: [RowChange] = []
      while let first = queue.entries.first, first.seq <= seq {
        queue.entries.removeFirst()
        if first.isRemoved { continue }
        index.ages.leave(first.received)
        queue.leave(first)
        // The acknowledged number marks the row as done: the row needs no change before its id may be forgotten.
        if let change = index.release(first, of: device, now: now, isMarked: true) { changes.append(change) }
      }
      return changes
    }
  }

  /// Continues a device's numbers after one that the device reports and that was never given out: the gateway's disk is
  /// older than the device's, for example after a restore of a backup. Pending pushes get new numbers, so that the
  /// device accepts them.
  package mutating func advance(_ device: DeviceID, past seq: UInt64) -> [RowChange] {
    change(queuePosition(of: device)) { index, queue in
      guard seq > queue.lastSeq else { return [] }
      let before = queue
      queue = DeviceQueue(lastSeq: seq, durableSeq: seq, acknowledged: seq)
      var changes: [RowChange] = []
      for var entry in before.entries where !entry.isRemoved {
        let collapseID = before.collapseID(of: entry)
        index.ages.leave(entry.received)
        queue.lastSeq += 1
        entry.seq = queue.lastSeq
        changes.append(.renumber(entry.row, seq: entry.seq))
        index.enter(entry, collapseID, into: &queue)
      }
      queue.durableSeq = queue.lastSeq
      return changes
    }
  }

  package mutating func purge(
    _ device: DeviceID, app: AppID?, now: Int64, changes: inout [RowChange], removals: inout [MailboxRemoval]
  ) {
    guard let position = queues.index(forKey: device) else { return }
    change(position) { index, queue in
      for entry in queue.entries where !entry.isRemoved && (app == nil || entry.app == app) {
        index.remove(
          entry, from: &queue, of: device, cause: .unregistered, now: now, changes: &changes, removals: &removals)
      }
    }
  }

  /// Removes the pending pushes with an id, of one app or of all apps.
  package mutating func retract(
    _ id: APNSID, app: AppID?, from device: DeviceID, now: Int64, changes: inout [RowChange],
    removals: inout [MailboxRemoval]
  ) {
    guard let position = queues.index(forKey: device) else { return }
    change(position) { index, queue in
      for entry in queue.entries where !entry.isRemoved && entry.id == id && (app == nil || entry.app == app) {
        index.remove(
          entry, from: &queue, of: device, cause: .retracted, now: now, changes: &changes, removals: &removals)
      }
    }
  }

  /// Removes one entry that its device can't read; a number that is not pending changes nothing.
  package mutating func discard(
    _ device: DeviceID, seq: UInt64, now: Int64, changes: inout [RowChange], removals: inout [MailboxRemoval]
  ) {
    guard seq > 0, let position = queues.index(forKey: device) else { return }
    change(position) { index, queue in
      guard let entry = queue.entry(seq) else { return }
      index.remove(
        entry, from: &queue, of: device, cause: .undeliverable, now: now, changes: &changes, removals: &removals)
    }
  }

  package mutating func expire(now: Int64, changes: inout [RowChange], removals: inout [MailboxRemoval]) -> [DeviceID] {
    guard now >= earliestExpiry else { return [] }
    earliestExpiry = .max
    var touched: [DeviceID] = []
    // `indices` would hold a second copy of the table.
    var position = queues.startIndex
    while position < queues.endIndex {
      defer { queues.formIndex(after: &position) }
      let device = queues[position].key
      let before = removals.count
      change(position) { index, queue in
        for entry in queue.entries where !entry.isRemoved {
          if entry.expires <= now {
            index.remove(
              entry, from: &queue, of: device, cause: .expired, now: now, changes: &changes, removals: &removals)
          } else {
            index.earliestExpiry = min(index.earliestExpiry, entry.expires)
          }
        }
      }
      if removals.count > before { touched.append(device) }
    }
    return touched
  }

  /// Returns the deletions of rows whose ids need not be recognized any longer.
  package mutating func forgetRecent(now: Int64) -> [RowChange] {
    recent.forget(now: now).map(RowChange.delete)
  }

  // MARK: Implementation

  /// Returns the index of a device's queue, which is created if there is none.
  mutating func queuePosition(of device: DeviceID) -> [DeviceID: DeviceQueue].Index {
    if let position = queues.index(forKey: device) { return position }
    queues[device] = DeviceQueue()
    guard let position = queues.index(forKey: device) else { preconditionFailure("the queue was made") }
    return position
  }

  /// Changes a queue and the shared state. The queue keeps its index in the table: removing and reinserting it would cost
  /// two searches and the closing of a hole.
  ///
  /// - Parameter isChecked: true if the invariants are checked; false while rows are read, because they may be damaged.
  mutating func change<Result>(
    _ position: [DeviceID: DeviceQueue].Index, isChecked: Bool = true,
    _ body: (inout MailboxIndex, inout DeviceQueue) -> Result
  ) -> Result {
    var queue = DeviceQueue()
    swap(&queue, &queues.values[position])
    let result = body(&self, &queue)
    if isChecked { queue.checkInvariants() }
    swap(&queue, &queues.values[position])
    return result
  }

  /// Removes the pending push with the same collapse id; returns that push's id.
  @discardableResult
  mutating func replace(
    _ entry: Entry, in queue: inout DeviceQueue, of device: DeviceID, now: Int64, changes: inout [RowChange],
    removals: inout [MailboxRemoval]
  ) -> APNSID? {
    guard !entry.collapseID.isEmpty, let old = queue.collapsible[.init(app: entry.app, id: entry.collapseID)],
      let victim = queue.entry(old)
    else { return nil }
    remove(victim, from: &queue, of: device, cause: .collapsed, now: now, changes: &changes, removals: &removals)
    return victim.id
  }

  mutating func enter(_ entry: Waiting, _ collapseID: String, into queue: inout DeviceQueue) {
    earliestExpiry = min(earliestExpiry, entry.expires)
    ages.enter(entry.received)
    queue.entries.append(entry)
    queue.count += 1
    guard entry.hasCollapseID else { return }
    queue.collapsible[.init(app: entry.app, id: collapseID)] = entry.seq
    queue.collapseIDs[entry.seq] = collapseID
  }

  private mutating func remove(
    _ entry: Waiting, from queue: inout DeviceQueue, of device: DeviceID, cause: RemovalCause, now: Int64,
    changes: inout [RowChange], removals: inout [MailboxRemoval]
  ) {
    let position = queue.firstIndex(after: entry.seq - 1)
    queue.entries[position].isRemoved = true
    ages.leave(entry.received)
    queue.leave(entry)
    queue.compact()
    if let change = release(entry, of: device, now: now, isMarked: false) { changes.append(change) }
    // The device has received the push, and the acknowledgement reports it.
    if let claim = claims[device], entry.seq <= claim { return }
    removals.append(MailboxRemoval(device: device, app: entry.app, id: entry.id, cause: cause))
  }

  /// Returns the change of the row of an entry that left: it is deleted, unless its id may still be sent again.
  private mutating func release(_ entry: Waiting, of device: DeviceID, now: Int64, isMarked: Bool) -> RowChange? {
    guard entry.isSenderID else { return .delete(entry.row) }
    let key = RecentIDs.Key(device: device, app: entry.app, id: entry.id)
    let dueBy = entry.received / 1000 + Int64(Limits.duplicateWindow)
    guard dueBy > now else {
      recent.remove(key)
      return .delete(entry.row)
    }
    recent.release(key, row: entry.row, dueBy: dueBy)
    return isMarked ? nil : .blank(entry.row)
  }
}

// MARK: Invariants

extension MailboxIndex {
  /// Returns a description of the first broken invariant; nil if all are intact. It checks all queues and entries,
  /// for a simulation.
  package func brokenInvariant() -> String? {
    let waiting = queues.values.reduce(0) { $0 + $1.count }
    if ages.count != waiting { return "\(waiting) wait, and \(ages.count) are counted in all" }
    for (device, queue) in queues {
      if let broken = queue.brokenInvariant(limit: .max) { return "device \(device.row): \(broken)" }
      for entry in queue.entries where !entry.isRemoved {
        if entry.expires < earliestExpiry { return "device \(device.row): \(entry.seq) expires unnoticed" }
        if entry.row >= nextRow { return "device \(device.row): row \(entry.row) will be given out again" }
        if entry.isSenderID, !recent.contains(.init(device: device, app: entry.app, id: entry.id)) {
          return "device \(device.row): a retry of \(entry.seq) would not be recognized"
        }
      }
    }
    return nil
  }
}
