/// A name of a device, a person or an app, which terminals and logs show.
package enum ShownName {
  /// The longest name, in bytes of UTF-8.
  package static let maximumSize = 64

  /// What a name is, in words that follow "expected" or "has".
  package static let expected = "1 to \(maximumSize) bytes, without control or invisible characters"

  /// Whether `name` can be shown as it is: not empty, not longer than ``maximumSize``, without controls, line breaks,
  /// overrides of the reading order, and signs that show nothing. What makes an emoji is part of it.
  package static func isValid(_ name: String) -> Bool {
    (1...maximumSize).contains(name.utf8.count) && name.unicodeScalars.allSatisfy(isShown)
  }

  private static func isShown(_ scalar: Unicode.Scalar) -> Bool {
    if scalar.isASCII { return scalar.value >= 0x20 && scalar.value < 0x7F }
    // The zero-width joiners and the sign that asks for a picture.
    if scalar == "\u{200C}" || scalar == "\u{200D}" || scalar == "\u{FE0F}" { return true }
    switch scalar.properties.generalCategory {
    case .control, .format, .lineSeparator, .paragraphSeparator, .surrogate, .unassigned: return false
    default: return !scalar.properties.isDefaultIgnorableCodePoint
    }
  }
}
