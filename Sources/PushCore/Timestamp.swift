package import Foundation

/// Reads and writes times as RFC 3339 in UTC.
package enum Timestamp {
  package enum Form: Sendable, CaseIterable {
    /// As in all messages: `2026-11-21T14:03:09.123Z`.
    case milliseconds
    /// `2026-11-21T14:03:09Z`.
    case seconds
    /// For names of files: `20261121T140309Z`.
    case compact

    /// The form with a zero for each digit.
    fileprivate var digits: [UInt8] {
      switch self {
      case .milliseconds: Array("0000-00-00T00:00:00.000Z".utf8)
      case .seconds: Array("0000-00-00T00:00:00Z".utf8)
      case .compact: Array("00000000T000000Z".utf8)
      }
    }
  }

  /// The latest time, in milliseconds since 1970: the end of the year 9999.
  private static var maximum: Int64 { Limits.maximumTime * 1000 + 999 }

  /// Appends a time with milliseconds. Earlier times become the first of January 1970, and later ones the end of the
  /// year 9999.
  ///
  /// - Parameter milliseconds: since 1970.
  package static func append(_ milliseconds: Int64, to bytes: inout [UInt8]) {
    let time = Int(min(max(0, milliseconds), maximum))
    let (date, rest) = (CivilDate(days: time / 86_400_000), time % 86_400_000)
    unsafe withUnsafeTemporaryAllocation(of: UInt8.self, capacity: 24) { text in
      /// Writes two digits and a separator; `value` is below 100.
      func write(_ value: Int, at offset: Int, then mark: Unicode.Scalar) {
        let value = UInt8(truncatingIfNeeded: value)
        unsafe text[offset] = UInt8(ascii: "0") &+ value / 10
        unsafe text[offset + 1] = UInt8(ascii: "0") &+ value % 10
        unsafe text[offset + 2] = UInt8(ascii: mark)
      }
      write(date.year / 100, at: 0, then: "0")
      write(date.year % 100, at: 2, then: "-")
      write(date.month, at: 5, then: "-")
      write(date.day, at: 8, then: "T")
      write(rest / 3_600_000, at: 11, then: ":")
      write(rest / 60_000 % 60, at: 14, then: ":")
      write(rest / 1000 % 60, at: 17, then: ".")
      write(rest % 1000 / 10, at: 20, then: "0")
      unsafe text[22] = UInt8(ascii: "0") &+ UInt8(truncatingIfNeeded: rest % 10)
      unsafe text[23] = UInt8(ascii: "Z")
      unsafe bytes.append(contentsOf: text)
    }
  }

  /// Formats a time in milliseconds since 1970, in the range of ``append(_:to:)``.
  package static func text(_ milliseconds: Int64, _ form: Form = .milliseconds) -> String {
    var bytes: [UInt8] = []
    append(milliseconds, to: &bytes)
    switch form {
    case .milliseconds: break
    case .seconds: bytes.removeSubrange(19..<23)
    case .compact:
      bytes.removeSubrange(19..<23)
      bytes.removeAll { $0 == UInt8(ascii: "-") || $0 == UInt8(ascii: ":") }
    }
    return String(decoding: bytes, as: UTF8.self)
  }

  /// Formats a time in seconds since 1970, in the range of ``append(_:to:)``.
  package static func text(seconds: Int64, _ form: Form = .milliseconds) -> String {
    text(min(max(0, seconds), Limits.maximumTime) * 1000, form)
  }

  /// Formats a date, in the range of ``append(_:to:)``.
  package static func text(_ date: Date, _ form: Form) -> String {
    let seconds = min(max(0, date.timeIntervalSince1970), Double(Limits.maximumTime))
    return text(Int64((seconds * 1000).rounded()), form)
  }

  /// Parses a time in one form.
  ///
  /// - Returns: milliseconds since 1970; nil for another form, and for a day or a time that does not exist.
  package static func read(_ text: some Collection<UInt8>, _ form: Form = .milliseconds) -> Int64? {
    let expected = form.digits
    guard text.count == expected.count else { return nil }
    var digits: [Int] = []
    for (byte, mark) in zip(text, expected) {
      if mark != UInt8(ascii: "0") {
        guard byte == mark else { return nil }
      } else {
        guard (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(byte) else { return nil }
        digits.append(Int(byte - UInt8(ascii: "0")))
      }
    }
    func number(_ range: Range<Int>) -> Int { digits[range].reduce(0) { $0 * 10 + $1 } }
    let (hour, minute, second) = (number(8..<10), number(10..<12), number(12..<14))
    let date = CivilDate(year: number(0..<4), month: number(4..<6), day: number(6..<8))
    guard hour < 24, minute < 60, second < 60, let days = date.days else { return nil }
    return Int64((((days * 24 + hour) * 60 + minute) * 60 + second) * 1000 + number(14..<digits.count))
  }
}

/// A day of the Gregorian calendar.
package struct CivilDate: Sendable, Equatable {
  package var year: Int
  package var month: Int
  package var day: Int

  package init(year: Int, month: Int, day: Int) { (self.year, self.month, self.day) = (year, month, day) }

  /// Converts a number of days since 1970, which is not negative.
  package init(days: Int) {
    // Years begin in March, so that the leap day is the last day of a year.
    let shifted = days + 719_468
    let era = shifted / 146_097
    let dayOfEra = shifted - era * 146_097
    let yearOfEra = (dayOfEra - dayOfEra / 1460 + dayOfEra / 36_524 - dayOfEra / 146_096) / 365
    let dayOfYear = dayOfEra - (365 * yearOfEra + yearOfEra / 4 - yearOfEra / 100)
    let monthFromMarch = (5 * dayOfYear + 2) / 153
    month = monthFromMarch < 10 ? monthFromMarch + 3 : monthFromMarch - 9
    day = dayOfYear - (153 * monthFromMarch + 2) / 5 + 1
    year = yearOfEra + era * 400 + (month <= 2 ? 1 : 0)
  }

  /// The number of days since 1970, of a year from 0 to 9999; nil for a day that does not exist.
  package var days: Int? {
    guard (0...9999).contains(year), (1...12).contains(month), (1...lengthOfMonth).contains(day) else { return nil }
    let (y, m) = month > 2 ? (year, month - 3) : (year - 1, month + 9)
    return 365 * y + y / 4 - y / 100 + y / 400 + (153 * m + 2) / 5 + day - 1 - 719_468
  }

  private var lengthOfMonth: Int {
    switch month {
    case 2: year.isMultiple(of: 4) && (!year.isMultiple(of: 100) || year.isMultiple(of: 400)) ? 29 : 28
    case 4, 6, 9, 11: 30
    default: 31
    }
  }
}
