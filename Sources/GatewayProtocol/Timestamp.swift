package import Foundation

/// Times in the form that the gateway writes: RFC 3339 in UTC, with milliseconds.
package enum Timestamp {
  /// Reads `2026-11-21T14:03:09.123Z`; nil for another form.
  package static func date(_ text: some Collection<UInt8>) -> Date? {
    let bytes = Array(text)
    func number(_ range: Range<Int>) -> Int? {
      bytes[range].reduce(0 as Int?) { value, byte in
        guard let value, (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(byte) else { return nil }
        return value * 10 + Int(byte - UInt8(ascii: "0"))
      }
    }
    guard bytes.count == 24, bytes[23] == UInt8(ascii: "Z"), let year = number(0..<4), let month = number(5..<7),
      let day = number(8..<10), let hour = number(11..<13), let minute = number(14..<16), let second = number(17..<19),
      let millisecond = number(20..<23), (1...12).contains(month)
    else { return nil }
    // Days since 1970 of a civil date, with years that begin in March so that leap days come last.
    let (y, m) = month > 2 ? (year, month - 3) : (year - 1, month + 9)
    let days = 365 * y + y / 4 - y / 100 + y / 400 + (153 * m + 2) / 5 + day - 1 - 719_468
    let seconds = ((days * 24 + hour) * 60 + minute) * 60 + second
    return Date(timeIntervalSince1970: Double(seconds) + Double(millisecond) / 1000)
  }
}
