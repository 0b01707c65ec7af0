/// Entries of a log that are larger than a message: several, one right behind the other. A value, fed in the order of the
/// log.
struct Chunks {
  /// Says which part of how many a message is, as `2/3`.
  static let header = "Entry-Part"
  /// An entry of more parts is none of ours.
  private static let maximumCount = 1_000
  /// Bytes of the largest entry. The largest change of a gateway, a batch of 10,000 devices, has about 4 MB.
  static let maximumSize = 32 << 20

  /// Bytes of an entry from which on its parts are dropped.
  private let limit: Int
  private var parts: [[UInt8]] = []
  private var count = 0
  /// Bytes of all parts.
  private var size = 0

  init(limit: Int = Chunks.maximumSize) { self.limit = limit }

  /// Splits an entry; there is one part at least.
  static func split(_ entry: [UInt8], size: Int) -> [[UInt8]] {
    guard entry.count > size else { return [entry] }
    return stride(from: 0, to: entry.count, by: size).map { Array(entry[$0..<min($0 + size, entry.count)]) }
  }

  /// Takes the next message of the log.
  ///
  /// - Parameter place: its header; without one it is whole.
  /// - Returns: the entry that this finishes.
  mutating func add(_ body: [UInt8], _ place: String?) -> [UInt8]? {
    let numbers = (place ?? "1/1").split(separator: "/").map { Int($0) }
    guard numbers.count == 2, let number = numbers[0], let count = numbers[1],
      (1...Chunks.maximumCount).contains(count)
    else { return nil }
    if number == 1 {
      (parts, self.count, size) = ([], count, 0)
    } else if number != parts.count + 1 || count != self.count {
      // Of a run that another entry has interrupted.
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
