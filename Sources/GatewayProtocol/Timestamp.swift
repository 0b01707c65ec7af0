package import Foundation
import PushCore

/// Times in the form that the gateway writes: RFC 3339 in UTC, with milliseconds.
package enum Timestamp {
  /// The form of a time, with a zero for each digit.
  private static let form = Array("0000-00-00T00:00:00.000Z".utf8)

  /// Writes milliseconds since 1970 as `2026-11-21T14:03:09.123Z`.
  package static func text(_ milliseconds: Int64) -> String {
    var bytes: [UInt8] = []
    appendTimestamp(milliseconds, to: &bytes)
    return String(decoding: bytes, as: UTF8.self)
  }

  /// Reads `2026-11-21T14:03:09.123Z`; nil for another form, and for a day or a time that does not exist.
  package static func date(_ text: some Collection<UInt8>) -> Date? {
    let bytes = Array(text)
    func number(_ range: Range<Int>) -> Int? {
      bytes[range].reduce(0 as Int?) { value, byte in
        guard let value, (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(byte) else { return nil }
        return value * 10 + Int(byte - UInt8(ascii: "0"))
      }
    }
    guard bytes.count == form.count, zip(bytes, form).allSatisfy({ $1 == UInt8(ascii: "0") || $0 == $1 }),
      let year = number(0..<4), let month = number(5..<7), let day = number(8..<10), let hour = number(11..<13),
      let minute = number(14..<16), let second = number(17..<19), let millisecond = number(20..<23),
      (1...12).contains(month), (1...length(ofMonth: month, in: year)).contains(day), hour < 24, minute < 60,
      second < 60
    else { return nil }
    // Days since 1970 of a civil date, with years that begin in March so that leap days come last.
    let (y, m) = month > 2 ? (year, month - 3) : (year - 1, month + 9)
    let days = 365 * y + y / 4 - y / 100 + y / 400 + (153 * m + 2) / 5 + day - 1 - 719_468
    let seconds = ((days * 24 + hour) * 60 + minute) * 60 + second
    return Date(timeIntervalSince1970: Double(seconds) + Double(millisecond) / 1000)
  }

  /// Returns the number of days of a month.
  private static func length(ofMonth month: Int, in year: Int) -> Int {
    switch month {
    case 2: year.isMultiple(of: 4) && (!year.isMultiple(of: 100) || year.isMultiple(of: 400)) ? 29 : 28
    case 4, 6, 9, 11: 30
    default: 31
    }
  }
}
