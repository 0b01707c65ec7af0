/// The rules for the names of devices, users and apps, which terminals and logs show.
package enum ShownName {
  /// The maximum size of a name in bytes of UTF-8.
  package static let maximumSize = 64

  /// The description of a valid name, for messages with "expected" or "has".
  package static let expected = "1 to \(maximumSize) bytes, without control or invisible characters"

  /// Returns true if `name` can be shown without changes.
  ///
  /// The name is not empty, has at most ``maximumSize`` bytes, and has no control characters, line breaks, overrides
  /// of the text direction, or invisible characters. The invisible parts of emoji are allowed.
  package static func isValid(_ name: String) -> Bool {
    (1...maximumSize).contains(name.utf8.count) && name.unicodeScalars.allSatisfy(isShown)
  }

  private static func isShown(_ scalar: Unicode.Scalar) -> Bool {
    if scalar.isASCII { return scalar.value >= 0x20 && scalar.value < 0x7F }
    // The zero-width joiners, and the variation selector for emoji.
    if scalar == "\u{200C}" || scalar == "\u{200D}" || scalar == "\u{FE0F}" { return true }
    switch scalar.properties.generalCategory {
    case .control, .format, .lineSeparator, .paragraphSeparator, .surrogate, .unassigned: return false
    default: return !scalar.properties.isDefaultIgnorableCodePoint
    }
  }
}
