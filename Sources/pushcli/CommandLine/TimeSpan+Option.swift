import Foundation
import PushCore

extension TimeSpan {
  /// Parses the value of an option.
  ///
  /// - Throws: ``CommandFailure`` of wrong usage if it is not a time, or too long.
  init(_ text: String, option: String, requiresUnit: Bool = false) throws(CommandFailure) {
    guard let span = TimeSpan(text, requiresUnit: requiresUnit) else {
      throw CommandFailure(.usage, "\(option) is \"\(text)\": expected a time, 3650d at most, as 30s, 10m, 2h or 7d")
    }
    self = span
  }

  /// Returns the moment that lies this time before `now`, in milliseconds since 1970.
  func before(_ now: Date) -> Int64 { Int64((now.timeIntervalSince1970 - seconds) * 1000) }
}
