/// The control sequences in a text (ECMA-48), found character by character.
///
/// What is no sequence of a terminal is text: a string such as that of `ESC ]` counts only once it has ended, on the line
/// where it began, so that nothing can hide what follows.
struct ControlSequence {
  /// What a character is.
  enum Role {
    case text
    /// A part of a sequence.
    case part
    /// Begins a string: what comes up to its end goes, too.
    case stringBegins
    /// Ends the string that began last.
    case stringEnds
  }

  private enum State {
    case none
    /// After `ESC`; and after `ESC (`, which names a set of characters.
    case escape, characterSet
    /// After `ESC [`.
    case parameters
    /// Within a string, and after an `ESC` there.
    case string, stringEscape
  }

  private var state = State.none

  /// Takes the next character.
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

  /// A character that is in no sequence, or ends one that is unfinished.
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
