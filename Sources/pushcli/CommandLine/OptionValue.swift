import ArgumentParser

enum OptionValue {
  static let environments = ["development", "production"]
  static let keyEnvironments = environments + ["both"]

  /// Checks an optional value.
  ///
  /// - Throws: `ValidationError` in one line if it is not one of `values`.
  static func check(_ value: String?, _ option: String, _ values: [String]) throws {
    guard let value, !values.contains(value) else { return }
    throw ValidationError("\(option) is \(values.dropLast().joined(separator: ", ")) or \(values[values.count - 1])")
  }

  /// Checks an optional number. Values computed from numbers in range do not overflow.
  ///
  /// - Throws: `ValidationError` in one line if it is out of range.
  static func check(_ number: Int?, _ option: String, _ range: ClosedRange<Int>) throws {
    guard let number, !range.contains(number) else { return }
    throw ValidationError("\(option) is a number from \(range.lowerBound) to \(range.upperBound), not \(number)")
  }
}
