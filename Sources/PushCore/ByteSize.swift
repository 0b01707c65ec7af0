/// A number of bytes with a binary unit: `64KiB`, `512MiB`, `1GiB`.
package struct ByteSize: Sendable, Equatable, CustomStringConvertible {
  package let bytes: Int64

  private static let units: [(name: String, size: Int64)] = [
    ("TiB", 1 << 40), ("GiB", 1 << 30), ("MiB", 1 << 20), ("KiB", 1 << 10),
  ]

  package init(_ bytes: Int64) { self.bytes = bytes }

  /// Reads a whole number with a unit.
  ///
  /// - Returns: nil for any other text, and for a size of more than 63 bits.
  package init?(_ text: String) {
    guard let unit = ByteSize.units.first(where: { text.hasSuffix($0.name) }) else { return nil }
    let digits = text.dropLast(unit.name.count)
    guard (1...18).contains(digits.utf8.count),
      digits.utf8.allSatisfy({ (UInt8(ascii: "0")...UInt8(ascii: "9")).contains($0) }),
      let number = Int64(digits)
    else { return nil }
    let (bytes, isTooLarge) = number.multipliedReportingOverflow(by: unit.size)
    if isTooLarge { return nil }
    self.bytes = bytes
  }

  /// The size in the largest unit that divides it, as ``init(_:)-(String)`` reads it.
  package var exact: String {
    let unit = ByteSize.units.first { bytes >= $0.size && bytes % $0.size == 0 } ?? ("KiB", 1 << 10)
    return "\(bytes / unit.size)\(unit.name)"
  }

  /// The size in the largest unit that is not larger, rounded down: to one decimal below 10, else to a whole number.
  package var description: String {
    guard let unit = ByteSize.units.first(where: { bytes >= $0.size }) else { return "\(bytes) bytes" }
    let (whole, rest) = bytes.quotientAndRemainder(dividingBy: unit.size)
    if rest == 0 || whole >= 10 { return "\(whole)\(unit.name)" }
    return "\(whole).\(rest * 10 / unit.size)\(unit.name)"
  }
}
