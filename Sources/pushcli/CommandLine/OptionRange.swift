import ArgumentParser

/// The range of an option's number. Values computed from numbers in range do not overflow.
enum OptionRange {
  /// Checks an optional number.
  ///
  /// - Throws: `ValidationError` in one line if it is out of range.
  static func check(_ number: Int?, _ option: String, _ range: ClosedRange<Int>) throws {
    guard let number, !range.contains(number) else { return }
    throw ValidationError("\(option) is a number from \(range.lowerBound) to \(range.upperBound), not \(number)")
  }
}
