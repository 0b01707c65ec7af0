/// A Bloom filter of ``LogKey``s: it contains each key that was added, and about one of a hundred other keys.
///
/// All five bits of a key are in one word, so that an insertion costs a single memory access.
struct LogFilter {
  private var words = [UInt64](repeating: 0, count: LogFilter.wordCount)

  /// The number of words of a filter that is being filled, a power of two: 11,000 keys set a third of its bits.
  private static let wordCount = 2048

  @inline(__always)
  mutating func insert(_ key: UInt64) {
    words[LogFilter.index(of: key, in: LogFilter.wordCount)] |= LogFilter.bits(of: key)
  }

  /// The filter folded to the smallest size at which a third of its bits is set, as little-endian words.
  var bytes: [UInt8] {
    var words = words
    while words.count > 8 {
      let half = words.count / 2
      let folded = (0..<half).map { words[$0] | words[$0 + half] }
      guard folded.reduce(0, { $0 + $1.nonzeroBitCount }) <= half * 64 / 3 else { break }
      words = folded
    }
    var bytes: [UInt8] = []
    bytes.reserveCapacity(words.count * 8)
    for word in words { for index in 0..<8 { bytes.append(UInt8(truncatingIfNeeded: word >> (8 * index))) } }
    return bytes
  }

  /// Returns true if a key may have been added to a filter; also true for bytes that are not a filter.
  static func mayContain(_ key: UInt64, in bytes: UnsafeRawBufferPointer) -> Bool {
    let count = bytes.count / 8
    guard count > 0, count.nonzeroBitCount == 1, bytes.count == count * 8 else { return true }
    let word = unsafe bytes.loadUnaligned(fromByteOffset: index(of: key, in: count) * 8, as: UInt64.self)
    let bits = bits(of: key)
    return UInt64(littleEndian: word) & bits == bits
  }

  @inline(__always)
  private static func index(of key: UInt64, in count: Int) -> Int {
    Int(truncatingIfNeeded: key >> 40) & (count - 1)
  }

  @inline(__always)
  private static func bits(of key: UInt64) -> UInt64 {
    1 &<< key | 1 &<< (key >> 6) | 1 &<< (key >> 12) | 1 &<< (key >> 18) | 1 &<< (key >> 24)
  }
}
