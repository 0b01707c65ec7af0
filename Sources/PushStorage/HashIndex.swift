/// Finds a record by its key: an open hash table of record numbers, 8 bytes for each and a third more.
///
/// The keys are the caller's, who gives their hashes: what is random already needs none. A record is told from others by
/// 32 bits of its hash, so that hardly any is looked at in vain, and none at all while the table grows. The table is in
/// parts that grow one by one, since pushes wait meanwhile.
package struct HashIndex: Sendable {
  fileprivate struct Part: Sendable {
    /// A tag in the upper half, a number in the lower.
    var places: [UInt64] = []
    var count = 0
  }

  private static let partCount = 256
  fileprivate static let free = UInt64.max
  private var parts = [Part](repeating: Part(), count: partCount)

  package init() {}

  /// The hash of a number, such as that of a row.
  package static func hash(of number: Int64) -> UInt64 { UInt64(bitPattern: number) &* 0x9E37_79B9_7F4A_7C15 }

  /// The number of the record whose hash this is, and which matches.
  package func find(_ hash: UInt64, where isMatch: (Int) -> Bool) -> Int? {
    let part = Int(truncatingIfNeeded: hash & 255)
    let capacity = parts[part].places.count
    guard capacity > 0 else { return nil }
    let tag = hash >> 32
    var place = HashIndex.home(tag, capacity)
    while true {
      let entry = parts[part].places[place]
      if entry == HashIndex.free { return nil }
      if entry >> 32 == tag, isMatch(Int(entry & 0xFFFF_FFFF)) { return Int(entry & 0xFFFF_FFFF) }
      place = place + 1 == capacity ? 0 : place + 1
    }
  }

  /// Adds a record, whose key is not there yet.
  package mutating func insert(_ number: Int, hash: UInt64) {
    let part = Int(truncatingIfNeeded: hash & 255)
    if parts[part].count * 4 >= parts[part].places.count * 3 { parts[part].grow(to: 2 * parts[part].count + 8) }
    parts[part].put((hash & ~0xFFFF_FFFF) | UInt64(number))
    parts[part].count += 1
  }

  /// Takes a record out.
  package mutating func remove(_ number: Int, hash: UInt64) {
    let part = Int(truncatingIfNeeded: hash & 255)
    let capacity = parts[part].places.count
    guard capacity > 0 else { return }
    let sought = (hash & ~0xFFFF_FFFF) | UInt64(number)
    var place = HashIndex.home(hash >> 32, capacity)
    while parts[part].places[place] != sought {
      if parts[part].places[place] == HashIndex.free { return }
      place = place + 1 == capacity ? 0 : place + 1
    }
    parts[part].count -= 1
    parts[part].close(place)
  }

  /// Makes space for so many records, as far as that can be known before they come.
  package mutating func reserve(_ count: Int) {
    for part in parts.indices { parts[part].grow(to: count / HashIndex.partCount * 3 / 2) }
  }

  /// Where the search for a tag begins.
  fileprivate static func home(_ tag: UInt64, _ capacity: Int) -> Int { Int((tag &* UInt64(capacity)) >> 32) }
}

extension HashIndex.Part {
  fileprivate mutating func put(_ entry: UInt64) {
    var place = HashIndex.home(entry >> 32, places.count)
    while places[place] != HashIndex.free { place = place + 1 == places.count ? 0 : place + 1 }
    places[place] = entry
  }

  fileprivate mutating func grow(to capacity: Int) {
    guard capacity > places.count else { return }
    let before = places
    places = [UInt64](repeating: HashIndex.free, count: capacity)
    for entry in before where entry != HashIndex.free { put(entry) }
  }

  /// Frees a place, and moves those up that were put behind it for want of their own.
  fileprivate mutating func close(_ place: Int) {
    var (hole, next) = (place, place)
    while true {
      next = next + 1 == places.count ? 0 : next + 1
      let entry = places[next]
      if entry == HashIndex.free { break }
      let home = HashIndex.home(entry >> 32, places.count)
      // Whether it may lie in the hole: its search begins there or before, going round.
      let isReached = hole <= next ? home <= hole || home > next : home <= hole && home > next
      if isReached {
        places[hole] = entry
        hole = next
      }
    }
    places[hole] = HashIndex.free
  }
}

/// Records by their numbers, which are given out again when a record is gone. Adding one moves no other: pushes wait
/// meanwhile.
package struct Slab<Record: Sendable>: Sendable {
  private static var blockSize: Int { 1024 }
  private var blocks: [[Record?]] = []
  private var freed: [UInt32] = []
  /// Every number so far is below.
  package private(set) var end = 0

  package init() {}

  package subscript(number: Int) -> Record? {
    _read { yield blocks[number >> 10][number & 1023] }
    _modify { yield &blocks[number >> 10][number & 1023] }
  }

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
