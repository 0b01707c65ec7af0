/// Finds the control sequences in a text (ECMA-48), character by character.
///
/// Characters that form no complete sequence are text. A string, such as the one that `ESC ]` begins, counts as a
/// sequence only if it ends on the line on which it began. An unterminated string therefore cannot hide the text
/// after it.
struct ControlSequence {
  /// The function of one character.
  enum Role {
    case text
    case part
    /// The first character of a string. The characters up to the end of the string are removed too.
    case stringBegins
    /// The end of the string that began last.
    case stringEnds
  }

  private enum State {
    case none
    /// After `ESC`, and after `ESC (`, which selects a character set.
    case escape, characterSet
    /// After `ESC [`.
    case parameters
    /// Within a string, and after an `ESC` in a string.
    case string, stringEscape
  }

  private var state = State.none

  /// Advances by one character and returns the function of the character.
  mutating func take(_ character: Character) -> Role {
    guard let scalar = character.unicodeScalars.first else { return .text }
    switch (state, scalar.value) {
    case (.none, _): return begin(scalar.value)
    case (.escape, _): return escape(scalar.value)
    case (.characterSet, 0x20..<0x7F): return turn(.none, .part)
    case (.parameters, 0x20..<0x40): return .part
    case (.parameters, 0x40..<0x7F): return turn(.none, .part)
    case (.string, 0x07), (.string, 0x9C): return turn(.none, .stringEnds)
    case (.string, 0x1B): return turn(.stringEscape, .part)
    case (.string, _) where !character.isNewline && scalar.value != 0x18 && scalar.value != 0x1A: return .text
    case (.stringEscape, UInt32(UInt8(ascii: "\\"))): return turn(.none, .stringEnds)
    case (.stringEscape, _): return escape(scalar.value)
    default: return begin(scalar.value)
    }
  }

  /// Handles a character outside of a sequence, or one that breaks off an unfinished sequence.
  private mutating func begin(_ value: UInt32) -> Role {
    switch value {
    case 0x1B: turn(.escape, .part)
    case 0x9B: turn(.parameters, .part)
    case 0x90, 0x98, 0x9D, 0x9E, 0x9F: turn(.string, .stringBegins)
    default: turn(.none, .text)
    }
  }

  private mutating func escape(_ value: UInt32) -> Role {
    switch UInt8(exactly: value).map({ Character(Unicode.Scalar($0)) }) {
    case "[": turn(.parameters, .part)
    case "]", "P", "X", "^", "_": turn(.string, .stringBegins)
    case "(", ")", "*", "+": turn(.characterSet, .part)
    default: begin(value)
    }
  }

  private mutating func turn(_ next: State, _ role: Role) -> Role {
    state = next
    return role
  }
}
