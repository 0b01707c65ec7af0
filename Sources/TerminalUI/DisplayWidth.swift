/// Calculates the number of terminal columns that a text takes.
///
/// Terminals differ in the width of rare clusters. ``FramePainter`` therefore repositions the cursor after each
/// cluster that is not plain, so that a wrong estimate here never displaces the text next to the cluster.
package enum DisplayWidth {
  /// Returns the number of columns that `text` takes on one line.
  package static func of(_ text: some StringProtocol) -> Int {
    var width = 0
    for character in text { width += of(character) }
    return width
  }

  /// Returns the number of columns that one grapheme cluster takes; 0 for a control character or an isolated mark.
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

  /// Returns the number of columns of an isolated scalar.
  private static func of(_ scalar: Unicode.Scalar) -> Int {
    switch scalar.value {
    case 0..<0x20, 0x7F..<0xA0: return 0
    case ..<0x300: return 1
    default: break
    }
    if contains(joining, scalar) { return 0 }
    if contains(wide, scalar) { return 2 }
    switch scalar.properties.generalCategory {
    case .nonspacingMark, .enclosingMark, .format, .lineSeparator, .paragraphSeparator: return 0
    default: return 1
    }
  }

  /// Returns true if several scalars form one emoji: a ZWJ sequence, a flag, a keycap, or a symbol followed by
  /// U+FE0F.
  private static func isEmoji(_ scalars: Character.UnicodeScalarView, first: Unicode.Scalar) -> Bool {
    guard first.properties.isEmoji else { return false }
    if first.properties.isEmojiPresentation && !scalars.contains("\u{FE0E}") { return true }
    return scalars.contains("\u{FE0F}") || scalars.contains { $0.properties.isEmojiModifier }
  }

  /// Returns true if a scalar is in ``wide`` or ``joining``: an odd number of boundaries are less than or equal to it.
  private static func contains(_ boundaries: [UInt32], _ scalar: Unicode.Scalar) -> Bool {
    var (low, high) = (0, boundaries.count)
    while low < high {
      let middle = (low + high) / 2
      if boundaries[middle] <= scalar.value { low = middle + 1 } else { high = middle }
    }
    return low % 2 == 1
  }
}

extension Character {
  /// True if this is one of the 95 ASCII characters from space to tilde.
  package var isPrintableASCII: Bool {
    guard let value = asciiValue else { return false }
    return self != "\r\n" && value >= 0x20 && value < 0x7F
  }
}
