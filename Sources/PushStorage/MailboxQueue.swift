import DequeModule
package import PushCore

extension MailboxIndex {
  /// What stays in memory of an entry that waits: 56 bytes. What it replaces is its box's to know.
  package struct Waiting: Sendable {
    package let row: Int64
    package var seq: UInt64
    package let id: APNSID
    private let appRow: UInt32
    /// Seconds since 1970.
    package let expires: Int64
    /// Milliseconds since 1970, and three flags in the lowest bits.
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
    /// Milliseconds since 1970.
    package var received: Int64 { Int64(word >> 3) }
    package var isSenderID: Bool { word & Waiting.senderBit != 0 }
    package var hasCollapseID: Bool { word & Waiting.collapseBit != 0 }

    /// Removed, and still in the queue because it is not at its front.
    package var isRemoved: Bool {
      get { word & Waiting.removedBit != 0 }
      set { word = newValue ? word | Waiting.removedBit : word & ~Waiting.removedBit }
    }
  }

  /// What waits for a device, oldest first, in blocks: hardly any memory is spare, and a long queue grows without being
  /// moved.
  package struct Queue: RandomAccessCollection, MutableCollection, Sendable {
    private static var blockSize: Int { 64 }
    /// An empty queue keeps memory for so many.
    private static var spareSize: Int { 16 }
    /// All but the last are full.
    private var blocks = Deque<ContiguousArray<Waiting>>()
    /// How many at the front of the first block are gone.
    private var gone = 0
    package private(set) var count = 0

    package init() {}

    package var startIndex: Int { 0 }
    package var endIndex: Int { count }

    package subscript(place: Int) -> Waiting {
      _read { yield blocks[(gone + place) >> 6][(gone + place) & 63] }
      _modify { yield &blocks[(gone + place) >> 6][(gone + place) & 63] }
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

/// Sender-chosen ids that are recognised as retries: while their push waits, and a while after.
package struct RecentIDs: Sendable {
  package struct Key: Hashable, Sendable {
    package var device: DeviceID
    package var app: AppID
    package var id: APNSID

    package init(device: DeviceID, app: AppID, id: APNSID) {
      (self.device, self.app, self.id) = (device, app, id)
    }

    /// 16 bytes that differ where the ids of one device and app do; with the hashes of device and app in them, and by
    /// 128 bits of chance, those of others differ, too. Nobody outside this process can know them.
    fileprivate var mark: RecentMarks.Mark {
      var (first, second) = (Hasher(), Hasher())
      first.combine(device.row)
      first.combine(app.row)
      second.combine(app.row)
      second.combine(device.row)
      let words = id.words
      return RecentMarks.Mark(
        words.0 ^ UInt64(bitPattern: Int64(first.finalize())), words.1 ^ UInt64(bitPattern: Int64(second.finalize())))
    }
  }

  private struct Released: Sendable {
    var mark: RecentMarks.Mark
    var row: Int64
    /// Seconds since 1970.
    var dueBy: Int64
  }

  /// How many ids of pushes that wait no longer are kept.
  private let capacity: Int
  private var known = RecentMarks()
  /// Ids whose push waits no longer, in the order in which that happened.
  private var released = Deque<Released>()

  /// Creates an empty set.
  package init(capacity: Int = Limits.maximumRecentIDs) { self.capacity = capacity }

  /// - Returns: false when the id is known.
  @discardableResult
  package mutating func insert(_ key: Key) -> Bool { known.insert(key.mark) }

  package mutating func remove(_ key: Key) { known.remove(key.mark) }

  package func contains(_ key: Key) -> Bool { known.contains(key.mark) }

  /// Keeps a key until its time; its row goes with it.
  package mutating func release(_ key: Key, row: Int64, dueBy: Int64) {
    released.append(Released(mark: key.mark, row: row, dueBy: dueBy))
  }

  /// Forgets what is due, and what is too much; returns the rows.
  package mutating func forget(now: Int64) -> [Int64] {
    var rows: [Int64] = []
    while let first = released.first, first.dueBy <= now || released.count > capacity {
      released.removeFirst()
      known.remove(first.mark)
      rows.append(first.row)
    }
    return rows
  }
}

/// A set of 16-byte marks in an open hash table, of which between two thirds and four fifths are in use. It is in parts that
/// grow one by one, since pushes wait meanwhile.
package struct RecentMarks: Sendable {
  package struct Mark: Equatable, Sendable {
    var (one, other): (UInt64, UInt64)

    init(_ one: UInt64, _ other: UInt64) {
      // Nothing but a free place is all zeros.
      (self.one, self.other) = one | other == 0 ? (0, 1) : (one, other)
    }

    private init() { (one, other) = (0, 0) }
    fileprivate static let free = Mark()
  }

  fileprivate struct Part: Sendable {
    var places: [Mark] = []
    var count = 0
  }

  private static let partCount = 256
  /// What senders cannot know, so that none can choose ids that all have the same place.
  private static let seeds = (UInt64.random(in: 0 ... .max), UInt64.random(in: 0 ... .max))
  private var parts = [Part](repeating: Part(), count: partCount)

  package init() {}

  /// - Returns: false when it was there.
  package mutating func insert(_ mark: Mark) -> Bool {
    let hash = RecentMarks.hash(mark)
    let part = Int(truncatingIfNeeded: hash & 255)
    if parts[part].find(mark, hash) != nil { return false }
    if parts[part].count * 5 >= parts[part].places.count * 4 { parts[part].grow() }
    parts[part].put(mark, hash)
    parts[part].count += 1
    return true
  }

  package func contains(_ mark: Mark) -> Bool {
    let hash = RecentMarks.hash(mark)
    return parts[Int(truncatingIfNeeded: hash & 255)].find(mark, hash) != nil
  }

  package mutating func remove(_ mark: Mark) {
    let hash = RecentMarks.hash(mark)
    let part = Int(truncatingIfNeeded: hash & 255)
    guard let place = parts[part].find(mark, hash) else { return }
    parts[part].count -= 1
    parts[part].close(place)
  }

  fileprivate static func hash(_ mark: Mark) -> UInt64 {
    let product = (mark.one ^ seeds.0).multipliedFullWidth(by: mark.other ^ seeds.1)
    return product.high ^ product.low
  }
}

extension RecentMarks.Part {
  private func home(_ hash: UInt64) -> Int { Int(((hash >> 32) &* UInt64(places.count)) >> 32) }

  fileprivate func find(_ mark: RecentMarks.Mark, _ hash: UInt64) -> Int? {
    guard !places.isEmpty else { return nil }
    var place = home(hash)
    while places[place] != .free {
      if places[place] == mark { return place }
      place = place + 1 == places.count ? 0 : place + 1
    }
    return nil
  }

  fileprivate mutating func put(_ mark: RecentMarks.Mark, _ hash: UInt64) {
    var place = home(hash)
    while places[place] != .free { place = place + 1 == places.count ? 0 : place + 1 }
    places[place] = mark
  }

  fileprivate mutating func grow() {
    let before = places
    places = [RecentMarks.Mark](repeating: .free, count: count + count / 2 + 8)
    for mark in before where mark != .free { put(mark, RecentMarks.hash(mark)) }
  }

  /// Frees a place, and moves those up that were put behind it for want of their own.
  fileprivate mutating func close(_ place: Int) {
    var (hole, next) = (place, place)
    while true {
      next = next + 1 == places.count ? 0 : next + 1
      if places[next] == .free { break }
      let home = home(RecentMarks.hash(places[next]))
      // Whether it may lie in the hole: its search begins there or before, going round.
      if hole <= next ? home <= hole || home > next : home <= hole && home > next {
        places[hole] = places[next]
        hole = next
      }
    }
    places[hole] = .free
  }
}
