/// How many columns of a terminal text takes.
///
/// What a terminal really does with rare clusters differs from one to the next; ``FramePainter`` therefore places the
/// cursor anew after each cluster that is not plain, and a wrong guess here never moves what stands beside it.
package enum DisplayWidth {
  /// The columns that `text` takes on one line.
  package static func of(_ text: some StringProtocol) -> Int {
    var width = 0
    for character in text { width += of(character) }
    return width
  }

  /// The columns that one grapheme cluster takes; 0 for a control or a mark that stands alone.
  package static func of(_ character: Character) -> Int {
    if character.isASCII { return character.isPrintableASCII ? 1 : 0 }
    let scalars = character.unicodeScalars
    guard let first = scalars.first else { return 0 }
    if scalars.dropFirst().isEmpty { return of(first) }
    if isEmoji(scalars, first: first) { return 2 }
    var width = 0
    for scalar in scalars { width += of(scalar) }
    return width
  }

  /// The columns of a scalar that stands alone.
  private static func of(_ scalar: Unicode.Scalar) -> Int {
    switch scalar.value {
    case 0..<0x20, 0x7F..<0xA0: return 0
    case ..<0x300: return 1
    case 0x1160...0x11FF, 0xD7B0...0xD7FB: return 0
    default: break
    }
    if isWide(scalar) { return 2 }
    switch scalar.properties.generalCategory {
    case .nonspacingMark, .enclosingMark, .format, .lineSeparator, .paragraphSeparator: return 0
    default: return 1
    }
  }

  /// Whether several scalars make one picture: a ZWJ sequence, a flag, a keycap, or a symbol that U+FE0F makes a picture.
  private static func isEmoji(_ scalars: Character.UnicodeScalarView, first: Unicode.Scalar) -> Bool {
    guard first.properties.isEmoji else { return false }
    if first.properties.isEmojiPresentation && !scalars.contains("\u{FE0E}") { return true }
    return scalars.contains("\u{FE0F}") || scalars.contains { $0.properties.isEmojiModifier }
  }

  private static func isRegionalIndicator(_ scalar: Unicode.Scalar) -> Bool {
    (0x1F1E6...0x1F1FF).contains(scalar.value)
  }

  private static func isWide(_ scalar: Unicode.Scalar) -> Bool {
    let value = scalar.value
    if value < 0x1100 { return false }
    if scalar.properties.isEmojiPresentation { return !isRegionalIndicator(scalar) }
    return wideRanges.contains { $0.contains(value) }
  }

  /// East Asian Wide and Fullwidth (UAX #11), without the emoji that the standard library knows.
  private static let wideRanges: [ClosedRange<UInt32>] = [
    0x1100...0x115F, 0x2329...0x232A, 0x2E80...0x303E, 0x3041...0xA4CF, 0xA960...0xA97C, 0xAC00...0xD7A3,
    0xF900...0xFAFF, 0xFE10...0xFE19, 0xFE30...0xFE6B, 0xFF01...0xFF60, 0xFFE0...0xFFE6, 0x16FE0...0x18D08,
    0x1AFF0...0x1B2FB, 0x1F200...0x1F265, 0x20000...0x3FFFD,
  ]
}

extension Character {
  /// Whether this is one of the 95 characters from space to tilde.
  package var isPrintableASCII: Bool {
    guard let value = asciiValue else { return false }
    return self != "\r\n" && value >= 0x20 && value < 0x7F
  }
}
