import PushCore

/// What a row of the delivery log is looked up by, as 64 bits.
enum LogKey {
  /// Of an `apns-id` or an `apns-unique-id`.
  static func id(_ id: APNSID) -> UInt64 {
    unsafe withUnsafeTemporaryAllocation(byteCount: APNSID.storedSize, alignment: 8) { bytes in
      unsafe id.store(in: bytes)
      return unsafe LogKey.id(stored: UnsafeRawBufferPointer(bytes), at: 0)
    }
  }

  /// Of an id as the store has it; how it spells letters does not count.
  @inline(__always)
  static func id(stored bytes: UnsafeRawBufferPointer, at offset: Int) -> UInt64 {
    let high = unsafe bytes.loadUnaligned(fromByteOffset: offset, as: UInt64.self)
    let low = unsafe bytes.loadUnaligned(fromByteOffset: offset + 8, as: UInt64.self)
    return mix(high &* 0x9E37_79B9_7F4A_7C15 &+ low)
  }

  @inline(__always)
  static func device(_ row: Int64) -> UInt64 { mix(UInt64(bitPattern: row) ^ 0xD1B5_4A32_D192_ED03) }

  @inline(__always)
  static func app(_ row: Int64) -> UInt64 { mix(UInt64(bitPattern: row) ^ 0x8CB9_2BA7_2F3D_8DD7) }

  /// Each bit of the result depends on each bit of `value`: people number devices, and senders number ids.
  @inline(__always)
  private static func mix(_ value: UInt64) -> UInt64 {
    var value = value ^ value >> 32
    value = value &* 0xD6E8_FEB8_6659_FD93
    value ^= value >> 32
    value = value &* 0xD6E8_FEB8_6659_FD93
    return value ^ value >> 32
  }
}

/// A Bloom filter of ``LogKey``s: of a key that was added it says so, of one key in about a hundred others, too.
///
/// All five bits of a key are in one word, which costs an insertion a single access to memory.
struct LogFilter {
  private var words = [UInt64](repeating: 0, count: LogFilter.wordCount)

  /// Words of a filter that is being filled, a power of two: a third of their bits have 11,000 keys.
  private static let wordCount = 2048

  @inline(__always)
  mutating func insert(_ key: UInt64) {
    words[LogFilter.place(of: key, in: LogFilter.wordCount)] |= LogFilter.bits(of: key)
  }

  /// The filter as small as it can be with a third of its bits set, its words one after another, lowest byte first.
  var bytes: [UInt8] {
    var words = words
    while words.count > 8 {
      let half = words.count / 2
      let folded = (0..<half).map { words[$0] | words[$0 + half] }
      guard folded.reduce(0, { $0 + $1.nonzeroBitCount }) <= half * 64 / 3 else { break }
      words = folded
    }
    return words.flatMap { word in (0..<8).map { UInt8(truncatingIfNeeded: word >> (8 * $0)) } }
  }

  /// Whether a key may be among those that were added to a filter; yes also of bytes that are none.
  static func mayContain(_ key: UInt64, in bytes: UnsafeRawBufferPointer) -> Bool {
    let count = bytes.count / 8
    guard count > 0, count.nonzeroBitCount == 1, bytes.count == count * 8 else { return true }
    let word = unsafe bytes.loadUnaligned(fromByteOffset: place(of: key, in: count) * 8, as: UInt64.self)
    let bits = bits(of: key)
    return UInt64(littleEndian: word) & bits == bits
  }

  @inline(__always)
  private static func place(of key: UInt64, in count: Int) -> Int {
    Int(truncatingIfNeeded: key >> 40) & (count - 1)
  }

  @inline(__always)
  private static func bits(of key: UInt64) -> UInt64 {
    1 &<< key | 1 &<< (key >> 6) | 1 &<< (key >> 12) | 1 &<< (key >> 18) | 1 &<< (key >> 24)
  }
}

/// Batches of the delivery log that follow one another and have one filter: whoever looks for something reads the filter
/// first, and of a hundred groups one without it.
///
/// A filter for each batch would be as large as the batch itself where little happens.
struct LogGroup {
  private var filter = LogFilter()
  /// The numbers of the batches; nil while there is none.
  private(set) var numbers: ClosedRange<Int64>?
  /// The latest time of a row, in milliseconds since 1970.
  private(set) var last = Int64.min
  private var size = 0

  /// Bytes of rows from which on a group is complete: a reader who finds one reads so much.
  private static let completeSize = 256 << 10

  var isComplete: Bool { size >= LogGroup.completeSize }
  var filterBytes: [UInt8] { filter.bytes }

  /// Adds a batch that has been written. One that does not follow the others begins a new group: their file is another's.
  mutating func add(_ number: Int64, last: Int64, rows: UnsafeRawBufferPointer) {
    if let numbers, numbers.upperBound == number - 1 {
      self.numbers = numbers.lowerBound...number
    } else {
      self = LogGroup()
      numbers = number...number
    }
    self.last = max(self.last, last)
    size += rows.count
    unsafe LogBatch.forEachKey(of: rows) { filter.insert($0) }
  }
}
