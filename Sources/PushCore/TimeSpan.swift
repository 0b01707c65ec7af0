/// A length of time as people write it: `250ms`, `30s`, `10m`, `2h`, `7d`.
///
/// It is ten years at most, so that it fits in every unit down to nanoseconds, also when it is added to the time now.
package struct TimeSpan: Sendable, Equatable {
  /// From 0 to ``maximumSeconds``.
  package let seconds: Double

  /// Ten years.
  package static let maximumSeconds = 3650.0 * 86_400

  private static let units: [(name: String, seconds: Double)] = [
    ("ms", 0.001), ("s", 1), ("m", 60), ("h", 3600), ("d", 86_400),
  ]

  /// Reads a number with a unit; a number alone is in seconds.
  ///
  /// - Parameter requiresUnit: Whether a number alone is refused.
  /// - Returns: nil for anything else, and for more than ten years.
  package init?(_ text: String, requiresUnit: Bool = false) {
    let unit = TimeSpan.units.first { text.hasSuffix($0.name) }
    let digits = text.dropLast(unit?.name.count ?? 0)
    guard unit != nil || !requiresUnit, digits.allSatisfy({ $0.isASCII && ($0.isNumber || $0 == ".") }),
      let number = Double(digits), case let seconds = number * (unit?.seconds ?? 1),
      seconds <= TimeSpan.maximumSeconds
    else { return nil }
    self.seconds = seconds
  }

  package var duration: Duration { .seconds(seconds) }
}
