/// A set of hashes, so that each n-gram of a notification counts once, however often the text repeats it.
///
/// It has one bit for each value of the low 16 bits of a hash. Of two n-grams with the same bit only the first counts; a text
/// of usual size has almost no such n-grams.
@safe
final class AdSeen {
  private static let size = 1 << 10
  private let words: UnsafeMutablePointer<UInt64>

  init() {
    unsafe words = .allocate(capacity: Self.size)
    removeAll()
  }

  deinit { unsafe words.deallocate() }

  func removeAll() { unsafe words.update(repeating: 0, count: Self.size) }

  /// Adds a hash, and returns true if it is new.
  @inline(__always)
  func insert(_ hash: UInt32) -> Bool {
    let low = hash & 0xFFFF
    let bit = 1 << UInt64(low & 63) as UInt64
    let word = Int(truncatingIfNeeded: low >> 6)
    let old = unsafe words[word]
    unsafe words[word] = old | bit
    return old & bit == 0
  }
}
