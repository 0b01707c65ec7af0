/// Appends the decimal digits of a number.
package func appendDecimal(_ value: UInt64, to bytes: inout [UInt8]) {
  var divisor: UInt64 = 1
  while value / divisor >= 10 { divisor *= 10 }
  while divisor > 0 {
    bytes.append(UInt8(ascii: "0") + UInt8(value / divisor % 10))
    divisor /= 10
  }
}

/// Appends a time as RFC 3339 in UTC, with milliseconds.
package func appendTimestamp(_ milliseconds: Int64, to bytes: inout [UInt8]) {
  let milliseconds = max(0, milliseconds)
  let (days, rest) = (milliseconds / 86_400_000, milliseconds % 86_400_000)
  // Converts days to a civil date, with years that begin in March, so that the leap day is the last day of a year.
  let shifted = days + 719_468
  let era = shifted / 146_097
  let dayOfEra = shifted - era * 146_097
  let yearOfEra = (dayOfEra - dayOfEra / 1460 + dayOfEra / 36_524 - dayOfEra / 146_096) / 365
  let dayOfYear = dayOfEra - (365 * yearOfEra + yearOfEra / 4 - yearOfEra / 100)
  let monthFromMarch = (5 * dayOfYear + 2) / 153
  let month = monthFromMarch < 10 ? monthFromMarch + 3 : monthFromMarch - 9
  unsafe withUnsafeTemporaryAllocation(of: UInt8.self, capacity: 24) { text in
    /// Writes two digits and a separator; `value` is below 100.
    func write(_ value: Int64, at offset: Int, then mark: Unicode.Scalar) {
      let value = UInt8(truncatingIfNeeded: value)
      unsafe text[offset] = UInt8(ascii: "0") &+ value / 10
      unsafe text[offset + 1] = UInt8(ascii: "0") &+ value % 10
      unsafe text[offset + 2] = UInt8(ascii: mark)
    }
    let year = yearOfEra + era * 400 + (month <= 2 ? 1 : 0)
    write(year / 100 % 100, at: 0, then: "0")
    write(year % 100, at: 2, then: "-")
    write(month, at: 5, then: "-")
    write(dayOfYear - (153 * monthFromMarch + 2) / 5 + 1, at: 8, then: "T")
    write(rest / 3_600_000, at: 11, then: ":")
    write(rest / 60_000 % 60, at: 14, then: ":")
    write(rest / 1000 % 60, at: 17, then: ".")
    write(rest % 1000 / 10, at: 20, then: "0")
    unsafe text[22] = UInt8(ascii: "0") &+ UInt8(truncatingIfNeeded: rest % 10)
    unsafe text[23] = UInt8(ascii: "Z")
    unsafe bytes.append(contentsOf: text)
  }
}
