/// Splits the input of a program into lines of a limited size.
struct InputLines {
  enum Line: Equatable, Sendable {
    /// A line without its end.
    case bytes([UInt8])
    /// A line beyond the limit, which is dropped.
    case tooLong
  }

  private let maximumSize: Int
  private var partial: [UInt8] = []
  private var isTooLong = false

  /// - Parameter maximumSize: the maximum size of a line in bytes.
  init(maximumSize: Int) { self.maximumSize = maximumSize }

  /// Adds bytes, and returns the lines that end in them.
  mutating func take(_ bytes: some Collection<UInt8>) -> [Line] {
    var lines: [Line] = []
    var rest = bytes[...]
    while let end = rest.firstIndex(of: UInt8(ascii: "\n")) {
      append(rest[..<end])
      lines.append(line())
      rest = rest[end...].dropFirst()
    }
    append(rest)
    return lines
  }

  /// Returns the line that the end of the input ends; nil if there is none.
  mutating func end() -> Line? { partial.isEmpty && !isTooLong ? nil : line() }

  private mutating func append(_ bytes: some Collection<UInt8>) {
    if isTooLong { return }
    isTooLong = bytes.count > maximumSize - partial.count
    if isTooLong { partial = [] } else { partial.append(contentsOf: bytes) }
  }

  private mutating func line() -> Line {
    defer { (partial, isTooLong) = ([], false) }
    if isTooLong { return .tooLong }
    return .bytes(partial.last == UInt8(ascii: "\r") ? Array(partial.dropLast()) : partial)
  }
}
