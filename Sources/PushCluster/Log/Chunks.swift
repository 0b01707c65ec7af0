/// The parts of a log entry that is larger than a message: several consecutive messages. A value, fed in the
/// order of the log.
struct Chunks {
  /// The header with the number of the part and the number of all parts, as `2/3`.
  static let header = "Entry-Part"
  /// The maximum number of parts; no gateway writes an entry with more.
  private static let maximumCount = 1_000
  /// The limit in bytes of an entry. The largest change of a gateway, a batch of 10,000 devices, has about 4 MB.
  static let maximumSize = 32 << 20

  /// The limit in bytes of all parts; beyond it the parts are dropped.
  private let limit: Int
  private var parts: [[UInt8]] = []
  private var count = 0
  /// The size of all parts in bytes.
  private var size = 0

  init(limit: Int = Chunks.maximumSize) { self.limit = limit }

  /// Splits an entry into one part or more.
  static func split(_ entry: [UInt8], size: Int) -> [[UInt8]] {
    guard entry.count > size else { return [entry] }
    return stride(from: 0, to: entry.count, by: size).map { Array(entry[$0..<min($0 + size, entry.count)]) }
  }

  /// Takes the next message of the log.
  ///
  /// - Parameter place: the message's header ``header``; nil: the message is a whole entry.
  /// - Returns: the entry that this message completes; nil for none.
  mutating func add(_ body: [UInt8], _ place: String?) -> [UInt8]? {
    let numbers = (place ?? "1/1").split(separator: "/").map { Int($0) }
    guard numbers.count == 2, let number = numbers[0], let count = numbers[1],
      (1...Chunks.maximumCount).contains(count)
    else { return nil }
    if number == 1 {
      (parts, self.count, size) = ([], count, 0)
    } else if number != parts.count + 1 || count != self.count {
      // A part of an entry that another entry has interrupted.
      self = Chunks(limit: limit)
      return nil
    }
    size += body.count
    guard size <= limit else {
      self = Chunks(limit: limit)
      return nil
    }
    parts.append(body)
    guard number == count else { return nil }
    defer { self = Chunks(limit: limit) }
    return parts.count == 1 ? body : Array(parts.joined())
  }
}
