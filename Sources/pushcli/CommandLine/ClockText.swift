import Foundation
import PushCore

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
    let civil = CivilDate(days: dayNumber(date))
    return "\(civil.day) \(Self.months[civil.month - 1])"
  }

  func isSameDay(_ one: Date, _ other: Date) -> Bool { dayNumber(one) == dayNumber(other) }

  private static let months = ["Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"]

  private func dayNumber(_ date: Date) -> Int { localSeconds(date) / 86_400 }

  /// Returns the seconds of the local time since 1970. Earlier dates and dates that are not a number count as 1970,
  /// later ones as the year 9999.
  private func localSeconds(_ date: Date) -> Int {
    let seconds = min(max(0, date.timeIntervalSince1970), 253_402_300_799)
    return max(Int(seconds) + timeZone.secondsFromGMT(for: Date(timeIntervalSince1970: seconds)), 0)
  }

  static func twoDigits(_ value: Int) -> String { value < 10 ? "0\(value)" : "\(value)" }
}
