import Foundation
import PushCore

extension Timestamp {
  /// Converts `2026-11-21T14:03:09.123Z` to the time of a zone: `2026-11-21 15:03:09.123+01:00`. Text in another form
  /// is returned unchanged.
  static func local(_ utc: String, in zone: TimeZone = .current) -> String {
    guard let milliseconds = read(utc.utf8) else { return utc }
    let offset = zone.secondsFromGMT(for: Date(timeIntervalSince1970: Double(milliseconds) / 1000))
    let local = text(milliseconds + Int64(offset) * 1000).dropLast()
    return String(local).replacing("T", with: " ") + text(offset: offset)
  }

  /// Formats the offset of a zone from UTC, such as `+01:00`.
  ///
  /// - Parameter offset: in seconds.
  static func text(offset: Int) -> String {
    let minutes = abs(offset) / 60
    return (offset < 0 ? "-" : "+") + ClockText.twoDigits(minutes / 60) + ":" + ClockText.twoDigits(minutes % 60)
  }
}
