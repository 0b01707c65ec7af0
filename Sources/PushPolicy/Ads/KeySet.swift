/// A fixed set of keys, with fast lookups of missing keys.
struct KeySet {
  private var slots: [UInt64]
  private let mask: Int

  init(_ keys: [UInt64]) {
    var size = 16
    while size < keys.count * 4 { size *= 2 }
    slots = Array(repeating: 0, count: size)
    mask = size - 1
    for key in keys where !contains(key) {
      var slot = Int(truncatingIfNeeded: key >> 7) & mask
      while slots[slot] != 0 { slot = (slot + 1) & mask }
      slots[slot] = key
    }
  }

  /// Returns true if the set has `key`, which is not 0.
  @inline(__always)
  func contains(_ key: UInt64) -> Bool {
    var slot = Int(truncatingIfNeeded: key >> 7) & mask
    while slots[slot] != 0 {
      if slots[slot] == key { return true }
      slot = (slot &+ 1) & mask
    }
    return false
  }
}
