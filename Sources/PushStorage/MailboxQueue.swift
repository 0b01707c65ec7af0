import DequeModule
package import PushCore

extension MailboxIndex {
  package struct DeviceQueue: Sendable {
    /// The highest number that was given out.
    package var lastSeq: UInt64 = 0
    /// The highest number on stable storage; numbers above it are staged and not visible yet.
    package var durableSeq: UInt64 = 0
    /// The highest number that the device has acknowledged.
    package var acknowledged: UInt64 = 0
    package var entries = Queue()
    /// The number of entries that are not removed.
    package var count = 0
    /// The number of the newest entry for each app and collapse id.
    package var collapsible: [CollapseKey: UInt64] = [:]
    /// The collapse ids of the entries that have one, by number.
    package var collapseIDs: [UInt64: String] = [:]
    package var gap: MailboxGap?

    /// The apps of the pending entries.
    package var apps: Set<AppID> {
      var apps: Set<AppID> = []
      var last: AppID?
      for entry in entries where !entry.isRemoved && entry.app != last {
        apps.insert(entry.app)
        last = entry.app
      }
      return apps
    }

    /// Returns the number of pending entries above an acknowledged number.
    package func waitingCount(after seq: UInt64) -> Int {
      seq <= acknowledged ? count : entries[firstIndex(after: seq)...].count { !$0.isRemoved }
    }

    /// Returns the index of the first entry above `seq`.
    package func firstIndex(after seq: UInt64) -> Int {
      var (low, high) = (0, entries.count)
      while low < high {
        let middle = (low + high) / 2
        if entries[middle].seq <= seq { low = middle + 1 } else { high = middle }
      }
      return low
    }
  }

  /// The part of a pending entry that stays in memory: 56 bytes. Its collapse id is in its queue.
  package struct Waiting: Sendable {
    package let row: Int64
    package var seq: UInt64
    package let id: APNSID
    private let appRow: UInt32
    /// The time at which the push expires, in seconds since 1970.
    package let expires: Int64
    /// The time at which the push was accepted, in milliseconds since 1970, and three flags in the lowest bits.
    private var word: UInt64

    private static var removedBit: UInt64 { 1 }
    private static var senderBit: UInt64 { 2 }
    private static var collapseBit: UInt64 { 4 }

    package init(_ entry: Entry) {
      (row, seq, id, expires) = (entry.row, entry.seq, entry.id, entry.expires)
      // No app has a higher row: see ``ColumnBounds/app``.
      appRow = UInt32(clamping: entry.app.row)
      word = UInt64(min(max(entry.received, 0), 1 << 60)) << 3
      if entry.isRemoved { word |= Waiting.removedBit }
      if entry.isSenderID { word |= Waiting.senderBit }
      if !entry.collapseID.isEmpty { word |= Waiting.collapseBit }
    }

    package var app: AppID { AppID(row: Int64(appRow)) }
    /// The time at which the push was accepted, in milliseconds since 1970.
    package var received: Int64 { Int64(word >> 3) }
    package var isSenderID: Bool { word & Waiting.senderBit != 0 }
    package var hasCollapseID: Bool { word & Waiting.collapseBit != 0 }

    /// True if the entry was removed and is still in the queue because it is not at its front.
    package var isRemoved: Bool {
      get { word & Waiting.removedBit != 0 }
      set { word = newValue ? word | Waiting.removedBit : word & ~Waiting.removedBit }
    }
  }

  /// The pending entries of a device, oldest first, in blocks: hardly any memory is unused, and a long queue grows
  /// without being moved.
  package struct Queue: RandomAccessCollection, MutableCollection, Sendable {
    private static var blockSize: Int { 64 }
    /// The number of entries for which an empty queue keeps memory.
    private static var spareSize: Int { 16 }
    /// The blocks; all but the last are full.
    private var blocks = Deque<ContiguousArray<Waiting>>()
    /// The number of removed entries at the front of the first block.
    private var gone = 0
    package private(set) var count = 0

    package var startIndex: Int { 0 }
    package var endIndex: Int { count }

    package subscript(position: Int) -> Waiting {
      _read { yield blocks[(gone + position) >> 6][(gone + position) & 63] }
      _modify { yield &blocks[(gone + position) >> 6][(gone + position) & 63] }
    }

    package mutating func append(_ entry: Waiting) {
      count += 1
      if let last = blocks.indices.last, blocks[last].count < Queue.blockSize { return blocks[last].append(entry) }
      var block = ContiguousArray<Waiting>()
      if !blocks.isEmpty { block.reserveCapacity(Queue.blockSize) }
      block.append(entry)
      blocks.append(block)
    }

    package mutating func removeFirst() {
      precondition(count > 0, "nothing waits")
      (count, gone) = (count - 1, gone + 1)
      guard gone == blocks[0].count else { return }
      gone = 0
      if count == 0, blocks[0].capacity <= Queue.spareSize {
        blocks[0].removeAll(keepingCapacity: true)
      } else {
        blocks.removeFirst()
      }
    }

    package mutating func removeAll(where isGone: (Waiting) -> Bool) {
      var kept = Queue()
      for entry in self where !isGone(entry) { kept.append(entry) }
      self = kept
    }
  }
}

extension MailboxIndex.DeviceQueue {
  mutating func stage(_ push: StoredPush, row: Int64) -> MailboxIndex.Entry {
    lastSeq += 1
    return MailboxIndex.Entry(
      row: row, seq: lastSeq, app: push.app, id: push.id, isSenderID: push.isSenderID, received: push.received,
      expires: push.expires, collapseID: push.collapseID)
  }

  /// Returns the entry with a number, unless it was removed.
  func entry(_ seq: UInt64) -> MailboxIndex.Waiting? {
    let position = firstIndex(after: seq - 1)
    guard position < entries.count, entries[position].seq == seq, !entries[position].isRemoved else { return nil }
    return entries[position]
  }

  /// Returns the collapse id of `entry`; empty for none.
  func collapseID(of entry: MailboxIndex.Waiting) -> String {
    entry.hasCollapseID ? collapseIDs[entry.seq] ?? "" : ""
  }

  mutating func leave(_ entry: MailboxIndex.Waiting) {
    count -= 1
    guard entry.hasCollapseID, let id = collapseIDs.removeValue(forKey: entry.seq) else { return }
    let key = MailboxIndex.CollapseKey(app: entry.app, id: id)
    if collapsible[key] == entry.seq { collapsible[key] = nil }
  }

  /// Drops removed entries at the front, and all of them when they are the majority of a long queue.
  mutating func compact() {
    while let first = entries.first, first.isRemoved { entries.removeFirst() }
    if entries.count > 64, entries.count > 2 * count { entries.removeAll { $0.isRemoved } }
  }
}

extension MailboxIndex.DeviceQueue {
  /// Returns a description of the first broken invariant; nil if all are intact.
  ///
  /// - Parameter limit: the number of entries up to which all are checked. Of longer queues only the ends are checked,
  ///   since a debug build checks after each change.
  package func brokenInvariant(limit: Int = 16) -> String? {
    if durableSeq > lastSeq { return "\(durableSeq) is on disk, and \(lastSeq) the last" }
    if acknowledged > durableSeq { return "\(acknowledged) is acknowledged, and \(durableSeq) on disk" }
    if let first = entries.first, first.seq <= acknowledged { return "\(first.seq) waits, and is acknowledged" }
    if let last = entries.last, last.seq > durableSeq { return "\(last.seq) waits, and is not on disk" }
    if count > entries.count { return "\(count) wait of \(entries.count)" }
    if let gap {
      if gap.from > gap.to || gap.dropped < 1 { return "the gap from \(gap.from) to \(gap.to) is empty" }
      if let first = entries.first(where: { !$0.isRemoved }), first.seq <= gap.to {
        return "\(first.seq) waits, and is in the gap"
      }
    }
    return entries.count > limit ? nil : brokenEntry()
  }

  private func brokenEntry() -> String? {
    var (waiting, collapsing) = (0, 0)
    var before = acknowledged
    for entry in entries {
      if entry.seq <= before { return "\(entry.seq) comes after \(before)" }
      before = entry.seq
      if entry.isRemoved { continue }
      waiting += 1
      guard entry.hasCollapseID else { continue }
      collapsing += 1
      guard collapsible[.init(app: entry.app, id: collapseID(of: entry))] == entry.seq else {
        return "the push replaced by \(entry.seq) is still pending"
      }
    }
    if waiting != count { return "\(waiting) wait, and \(count) are counted" }
    return collapsing == collapsible.count ? nil : "\(collapsible.count - collapsing) that are gone can be replaced"
  }

  /// Ends a debug build in which an invariant is broken; a release build contains no trace of this.
  package func checkInvariants() { assert(brokenInvariant() == nil, brokenInvariant() ?? "") }
}
