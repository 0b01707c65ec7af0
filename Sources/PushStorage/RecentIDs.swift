import DequeModule
package import PushCore

/// Sender-chosen ids that are recognized as retries: while their push is pending, and for a limited time after.
package struct RecentIDs: Sendable {
  package struct Key: Hashable, Sendable {
    package var device: DeviceID
    package var app: AppID
    package var id: APNSID

    package init(device: DeviceID, app: AppID, id: APNSID) {
      (self.device, self.app, self.id) = (device, app, id)
    }

    /// 16 bytes that differ if the ids of one device and app differ. The hashes of device and app are mixed in,
    /// so the marks of other devices and apps differ except with a probability of 2⁻¹²⁸. The hashes are secret
    /// to this process.
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

  /// The maximum number of kept ids whose push is no longer pending.
  private let capacity: Int
  private var known = RecentMarks()
  /// The ids whose push is no longer pending, in the order in which that happened; each with the time until which it is
  /// kept, in seconds since 1970.
  private var released = Deque<(mark: RecentMarks.Mark, row: Int64, dueBy: Int64)>()

  /// Creates an empty set.
  package init(capacity: Int = Limits.maximumRecentIDs) { self.capacity = capacity }

  /// Adds an id.
  ///
  /// - Returns: false when the id is known.
  @discardableResult
  package mutating func insert(_ key: Key) -> Bool { known.insert(key.mark) }

  package mutating func remove(_ key: Key) { known.remove(key.mark) }

  package func contains(_ key: Key) -> Bool { known.contains(key.mark) }

  /// Keeps a key until `dueBy`, in seconds since 1970; ``forget(now:)`` then returns its row.
  package mutating func release(_ key: Key, row: Int64, dueBy: Int64) {
    released.append((key.mark, row, dueBy))
  }

  /// Forgets the due ids, and the oldest ones beyond the capacity; returns their rows.
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

/// A set of 16-byte marks in an open hash table, of which between two thirds and four fifths are in use. The table
/// consists of parts that grow one by one, because pushes are delayed while a part grows.
package struct RecentMarks: Sendable {
  package struct Mark: Equatable, Sendable {
    var (one, other): (UInt64, UInt64)

    init(_ one: UInt64, _ other: UInt64) {
      // Only a free slot is all zeros.
      (self.one, self.other) = one | other == 0 ? (0, 1) : (one, other)
    }

    private init() { (one, other) = (0, 0) }
    fileprivate static let free = Mark()
  }

  fileprivate struct Part: Sendable {
    var slots: [Mark] = []
    var count = 0
  }

  private static let partCount = 256
  /// Random seeds of the hash: a sender without them can't choose ids that all have the same index.
  private static let seeds = (UInt64.random(in: 0 ... .max), UInt64.random(in: 0 ... .max))
  private var parts = [Part](repeating: Part(), count: partCount)

  package init() {}

  /// Adds a mark.
  ///
  /// - Returns: false when the mark was in the set.
  package mutating func insert(_ mark: Mark) -> Bool {
    let hash = RecentMarks.hash(mark)
    let part = Int(truncatingIfNeeded: hash & 255)
    if parts[part].find(mark, hash) != nil { return false }
    if parts[part].count * 5 >= parts[part].slots.count * 4 { parts[part].grow() }
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
    guard let slot = parts[part].find(mark, hash) else { return }
    parts[part].count -= 1
    parts[part].close(slot)
  }

  fileprivate static func hash(_ mark: Mark) -> UInt64 {
    let product = (mark.one ^ seeds.0).multipliedFullWidth(by: mark.other ^ seeds.1)
    return product.high ^ product.low
  }
}

extension RecentMarks.Part {
  private func firstSlot(_ hash: UInt64) -> Int { Int(((hash >> 32) &* UInt64(slots.count)) >> 32) }

  fileprivate func find(_ mark: RecentMarks.Mark, _ hash: UInt64) -> Int? {
    guard !slots.isEmpty else { return nil }
    var slot = firstSlot(hash)
    while slots[slot] != .free {
      if slots[slot] == mark { return slot }
      slot = slot + 1 == slots.count ? 0 : slot + 1
    }
    return nil
  }

  fileprivate mutating func put(_ mark: RecentMarks.Mark, _ hash: UInt64) {
    var slot = firstSlot(hash)
    while slots[slot] != .free { slot = slot + 1 == slots.count ? 0 : slot + 1 }
    slots[slot] = mark
  }

  fileprivate mutating func grow() {
    let before = slots
    slots = [RecentMarks.Mark](repeating: .free, count: count + count / 2 + 8)
    for mark in before where mark != .free { put(mark, RecentMarks.hash(mark)) }
  }

  /// Frees an index, and moves up the marks after it that a collision had displaced.
  fileprivate mutating func close(_ slot: Int) {
    var (hole, next) = (slot, slot)
    while true {
      next = next + 1 == slots.count ? 0 : next + 1
      if slots[next] == .free { break }
      let firstSlot = firstSlot(RecentMarks.hash(slots[next]))
      // The mark may move to the hole if its search begins at the hole or before it, with wrap-around.
      if hole <= next ? firstSlot <= hole || firstSlot > next : firstSlot <= hole && firstSlot > next {
        slots[hole] = slots[next]
        hole = next
      }
    }
    slots[hole] = .free
  }
}
