/// An open hash table that finds a record's number by its key; it needs 8 bytes for each record and a third more. The
/// caller computes the hash of a key; a random key is its own hash. An entry contains 32 bits of the hash, so a search
/// compares hardly any record in vain, and growing the table compares none.
///
/// The table consists of parts that grow one by one, because pushes are delayed while a part grows.
package struct HashIndex: Sendable {
  fileprivate struct Part: Sendable {
    /// The entries: 32 bits of the hash in the upper half, the record's number in the lower half.
    var slots: [UInt64] = []
    var count = 0
  }

  private static let partCount = 256
  fileprivate static let free = UInt64.max
  private var parts = [Part](repeating: Part(), count: partCount)

  /// Returns the hash of a number, such as a row number.
  package static func hash(of number: Int64) -> UInt64 { UInt64(bitPattern: number) &* 0x9E37_79B9_7F4A_7C15 }

  /// Returns the number of the record that has this hash and for which `isMatch` returns true.
  package func find(_ hash: UInt64, where isMatch: (Int) -> Bool) -> Int? {
    let part = Int(truncatingIfNeeded: hash & 255)
    let capacity = parts[part].slots.count
    guard capacity > 0 else { return nil }
    let tag = hash >> 32
    var slot = HashIndex.firstSlot(tag, capacity)
    while true {
      let entry = parts[part].slots[slot]
      if entry == HashIndex.free { return nil }
      if entry >> 32 == tag, isMatch(Int(entry & 0xFFFF_FFFF)) { return Int(entry & 0xFFFF_FFFF) }
      slot = slot + 1 == capacity ? 0 : slot + 1
    }
  }

  /// Adds a record, whose key must not be in the table yet.
  package mutating func insert(_ number: Int, hash: UInt64) {
    let part = Int(truncatingIfNeeded: hash & 255)
    if parts[part].count * 4 >= parts[part].slots.count * 3 { parts[part].grow(to: 2 * parts[part].count + 8) }
    parts[part].put((hash & ~0xFFFF_FFFF) | UInt64(number))
    parts[part].count += 1
  }

  package mutating func remove(_ number: Int, hash: UInt64) {
    let part = Int(truncatingIfNeeded: hash & 255)
    let capacity = parts[part].slots.count
    guard capacity > 0 else { return }
    let sought = (hash & ~0xFFFF_FFFF) | UInt64(number)
    var slot = HashIndex.firstSlot(hash >> 32, capacity)
    while parts[part].slots[slot] != sought {
      if parts[part].slots[slot] == HashIndex.free { return }
      slot = slot + 1 == capacity ? 0 : slot + 1
    }
    parts[part].count -= 1
    parts[part].close(slot)
  }

  /// Reserves memory for `count` records, assuming that they spread evenly over the parts.
  package mutating func reserve(_ count: Int) {
    for part in parts.indices { parts[part].grow(to: count / HashIndex.partCount * 3 / 2) }
  }

  /// Returns the index at which the search for a tag begins.
  fileprivate static func firstSlot(_ tag: UInt64, _ capacity: Int) -> Int { Int((tag &* UInt64(capacity)) >> 32) }
}

extension HashIndex.Part {
  fileprivate mutating func put(_ entry: UInt64) {
    var slot = HashIndex.firstSlot(entry >> 32, slots.count)
    while slots[slot] != HashIndex.free { slot = slot + 1 == slots.count ? 0 : slot + 1 }
    slots[slot] = entry
  }

  fileprivate mutating func grow(to capacity: Int) {
    guard capacity > slots.count else { return }
    let before = slots
    slots = [UInt64](repeating: HashIndex.free, count: capacity)
    for entry in before where entry != HashIndex.free { put(entry) }
  }

  /// Frees an index, and moves up the entries after it that a collision had displaced.
  fileprivate mutating func close(_ slot: Int) {
    var (hole, next) = (slot, slot)
    while true {
      next = next + 1 == slots.count ? 0 : next + 1
      let entry = slots[next]
      if entry == HashIndex.free { break }
      let firstSlot = HashIndex.firstSlot(entry >> 32, slots.count)
      // True if the entry may move to the hole: its search begins at the hole or before it, with wrap-around.
      let isReached = hole <= next ? firstSlot <= hole || firstSlot > next : firstSlot <= hole && firstSlot > next
      if isReached {
        slots[hole] = entry
        hole = next
      }
    }
    slots[hole] = HashIndex.free
  }
}

/// Records by number; the number of a removed record is used again.
///
/// Adding a record moves no other record: a move would delay pushes.
package struct Slab<Record: Sendable>: Sendable {
  private static var blockSize: Int { 1024 }
  private var blocks: [[Record?]] = []
  private var freed: [UInt32] = []
  /// The upper bound of all numbers so far (exclusive).
  package private(set) var end = 0

  package subscript(number: Int) -> Record? {
    _read { yield blocks[number >> 10][number & 1023] }
    _modify { yield &blocks[number >> 10][number & 1023] }
  }

  /// Adds a record.
  ///
  /// - Returns: the record's number.
  package mutating func add(_ record: Record) -> Int {
    if let number = freed.popLast() {
      self[Int(number)] = record
      return Int(number)
    }
    precondition(end < UInt32.max, "too many devices")
    if end & 1023 == 0 {
      var block: [Record?] = []
      block.reserveCapacity(Slab.blockSize)
      blocks.append(block)
    }
    blocks[end >> 10].append(record)
    end += 1
    return end - 1
  }

  package mutating func remove(_ number: Int) {
    self[number] = nil
    freed.append(UInt32(number))
  }
}
