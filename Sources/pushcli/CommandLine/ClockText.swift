import Foundation

/// Formats times and dates of the phone in one time zone.
struct ClockText: Sendable {
  var timeZone: TimeZone

  /// Returns hours and minutes, such as `14:03`.
  func time(_ date: Date) -> String {
    let seconds = localSeconds(date)
    return Self.twoDigits(seconds / 3_600 % 24) + ":" + Self.twoDigits(seconds / 60 % 60)
  }

  /// Returns the time with seconds, such as `14:03:09`.
  func timeWithSeconds(_ date: Date) -> String {
    time(date) + ":" + Self.twoDigits(localSeconds(date) % 60)
  }

  /// Returns the time, preceded by the day if that is not today: `20 Nov 14:03`.
  func moment(_ date: Date, now: Date) -> String {
    isSameDay(date, now) ? time(date) : day(date) + " " + time(date)
  }

  /// Returns the day and the month, such as `20 Nov`.
  func day(_ date: Date) -> String {
    // Converts days to a civil date, with years that begin in March so that leap days come last.
    let days = dayNumber(date) + 719_468
    let dayOfEra = days % 146_097
    let yearOfEra = (dayOfEra - dayOfEra / 1_460 + dayOfEra / 36_524 - dayOfEra / 146_096) / 365
    let dayOfYear = dayOfEra - (365 * yearOfEra + yearOfEra / 4 - yearOfEra / 100)
    let month = (5 * dayOfYear + 2) / 153
    return "\(dayOfYear - (153 * month + 2) / 5 + 1) \(Self.monthsFromMarch[month])"
  }

  /// Returns true if both dates are on the same day.
  func isSameDay(_ one: Date, _ other: Date) -> Bool { dayNumber(one) == dayNumber(other) }

  private static let monthsFromMarch = [
    "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec", "Jan", "Feb",
  ]

  private func dayNumber(_ date: Date) -> Int { localSeconds(date) / 86_400 }

  /// Returns the seconds of the local time since 1970. Earlier dates and dates that are not a number count as 1970,
  /// later ones as the year 9999.
  private func localSeconds(_ date: Date) -> Int {
    let seconds = min(max(0, date.timeIntervalSince1970), 253_402_300_799)
    return max(Int(seconds) + timeZone.secondsFromGMT(for: Date(timeIntervalSince1970: seconds)), 0)
  }

  static func twoDigits(_ value: Int) -> String { value < 10 ? "0\(value)" : "\(value)" }
}
