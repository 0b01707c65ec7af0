/// Makes text that others wrote safe to show: nothing in it can move the cursor, change the screen or reorder a line.
///
/// What goes: C0 and C1 controls with ESC among them, the bidirectional overrides and isolates (U+202A–202E,
/// U+2066–2069), soft hyphens, byte-order marks, interlinear annotation, and tags that belong to no flag. A cluster
/// keeps at most ``maximumScalarsPerCharacter`` scalars, so stacked marks stay in their cell.
package enum Sanitizer {
  /// The longest sequence in use is an emoji family of 11 scalars.
  package static let maximumScalarsPerCharacter = 16

  /// `text` on one line: line breaks and tabs become a space.
  package static func line(_ text: String) -> String {
    isPlain(text, allowsLineBreaks: false) ? text : cleaned(text, lineBreak: " ")
  }

  /// `text` with its line breaks, all of them as `\n`; tabs become a space.
  package static func body(_ text: String) -> String {
    isPlain(text, allowsLineBreaks: true) ? text : cleaned(text, lineBreak: "\n")
  }

  /// Whether `text` is printable ASCII, which most text is and which needs no second look.
  private static func isPlain(_ text: String, allowsLineBreaks: Bool) -> Bool {
    text.utf8.allSatisfy { ($0 >= 0x20 && $0 < 0x7F) || (allowsLineBreaks && $0 == 0x0A) }
  }

  private static func cleaned(_ text: String, lineBreak: Character) -> String {
    var result = ""
    result.reserveCapacity(text.utf8.count)
    for character in text {
      if character.isNewline {
        result.append(lineBreak)
      } else if character == "\t" {
        result.append(" ")
      } else {
        append(character, to: &result)
      }
    }
    return result
  }

  private static func append(_ character: Character, to result: inout String) {
    let isFlag = character.unicodeScalars.first == "\u{1F3F4}"
    var scalars = String.UnicodeScalarView()
    for scalar in character.unicodeScalars.prefix(maximumScalarsPerCharacter)
    where isSafe(scalar) || (isFlag && isTag(scalar)) {
      scalars.append(scalar)
    }
    result.unicodeScalars.append(contentsOf: scalars)
  }

  private static func isSafe(_ scalar: Unicode.Scalar) -> Bool {
    switch scalar.value {
    case 0..<0x20, 0x7F..<0xA0, 0xAD, 0x2028...0x202E, 0x2066...0x2069, 0xFEFF, 0xFFF9...0xFFFB: false
    default: !isTag(scalar)
    }
  }

  private static func isTag(_ scalar: Unicode.Scalar) -> Bool {
    (0xE0000...0xE007F).contains(scalar.value)
  }
}
