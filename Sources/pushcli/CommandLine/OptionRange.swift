import ArgumentParser

/// The range of an option's number: whatever is computed from a number within its range fits.
enum OptionRange {
  /// Checks a number that may have been given.
  ///
  /// - Throws: `ValidationError` in one line when it is out of its range.
  static func check(_ number: Int?, _ option: String, _ range: ClosedRange<Int>) throws {
    guard let number, !range.contains(number) else { return }
    throw ValidationError("\(option) is a number from \(range.lowerBound) to \(range.upperBound), not \(number)")
  }
}
