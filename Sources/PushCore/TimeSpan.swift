import PushPolicy

/// A duration with a unit: `250ms`, `30s`, `10m`, `2h`, `7d`.
///
/// The maximum is ten years: so the duration fits in all units down to nanoseconds, also after addition to the
/// current time.
package struct TimeSpan: Sendable, Equatable {
  /// The duration in seconds, from 0 to ``maximumSeconds``.
  package let seconds: Double

  /// The maximum duration in seconds: ten years.
  package static let maximumSeconds = 3650.0 * 86_400

  private static let units: [(name: String, seconds: Double)] = [
    ("ms", 0.001), ("s", 1), ("m", 60), ("h", 3600), ("d", 86_400),
  ]

  /// Reads a number with a unit; a number without a unit is in seconds.
  ///
  /// - Parameter requiresUnit: true if a number without a unit is refused.
  /// - Returns: nil for any other text, and for more than ten years.
  package init?(_ text: String, requiresUnit: Bool = false) {
    ReadingSteps.add(text.utf8.count)
    let unit = TimeSpan.units.first { text.hasSuffix($0.name) }
    let digits = text.dropLast(unit?.name.count ?? 0)
    guard unit != nil || !requiresUnit, digits.allSatisfy({ $0.isASCII && ($0.isNumber || $0 == ".") }),
      let number = Double(digits), case let seconds = number * (unit?.seconds ?? 1),
      seconds <= TimeSpan.maximumSeconds
    else { return nil }
    self.seconds = seconds
  }

  /// Returns a duration in its two largest units, rounded down: `45s`, `24h`, `26h 10m`, `7d`. Days begin after two.
  package static func text(seconds: Int64) -> String {
    let minutes = seconds / 60
    let (high, low): (String, String)
    switch seconds {
    case ..<60: return "\(seconds)s"
    case ..<3600: (high, low) = ("\(minutes)m", "\(seconds % 60)s")
    case ..<172_800: (high, low) = ("\(minutes / 60)h", "\(minutes % 60)m")
    default: (high, low) = ("\(minutes / 1440)d", "\(minutes / 60 % 24)h")
    }
    return low.hasPrefix("0") ? high : "\(high) \(low)"
  }

  package var duration: Duration { .seconds(seconds) }
}
