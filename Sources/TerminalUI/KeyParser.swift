/// Turns the bytes of a terminal into keys.
///
/// A sequence may be split over several reads. Only an ESC at the very end of one is in doubt: it is the Escape key, or
/// the beginning of a sequence whose rest is late. The reader waits a moment and then calls ``flush()``, which decides
/// for the Escape key. What is pasted (mode 2004) and sequences that we do not know are dropped.
package struct KeyParser: Sendable {
  /// What arrived and is not a key yet; never longer than ``maximumSequenceSize``.
  private var pending: [UInt8] = []
  private var isPasting = false
  /// How many times the rest of an answer may still be late.
  private var patience = KeyParser.maximumPatience

  private static let maximumPatience = 40
  private static let maximumSequenceSize = 32

  /// Whether bytes wait for more, or for ``flush()``.
  package var isPending: Bool { !pending.isEmpty }

  /// The keys that `bytes` complete, in order.
  package mutating func feed(_ bytes: some Sequence<UInt8>) -> [Key] {
    var keys: [Key] = []
    for byte in bytes {
      pending.append(byte)
      while let step = step() {
        pending.removeFirst(step.consumed)
        take(step.token, into: &keys)
        if pending.isEmpty { break }
      }
      // Only a control sequence has no end of its own; what is left of it still swallows the rest.
      if pending.count > Self.maximumSequenceSize { pending.removeSubrange(2...) }
    }
    return keys
  }

  /// The keys in bytes that nothing follows: a lone ESC is Escape, an unfinished sequence is dropped; the rest of an answer,
  /// which may come from far, is waited for a little longer.
  package mutating func flush() -> [Key] {
    if pending.count > 2, pending[1] == UInt8(ascii: "]"), patience > 0 {
      patience -= 1
      return []
    }
    patience = KeyParser.maximumPatience
    defer { pending.removeAll() }
    return pending == [0x1B] && !isPasting ? [.escape] : []
  }

  private enum Token {
    case key(Key)
    case pasteBegins
    case pasteEnds
    case nothing
  }

  private mutating func take(_ token: Token, into keys: inout [Key]) {
    switch token {
    case .key(let key): if !isPasting { keys.append(key) }
    case .pasteBegins: isPasting = true
    case .pasteEnds: isPasting = false
    case .nothing: break
    }
  }

  /// The first token of what is pending and its length, or `nil` when more bytes are needed.
  private func step() -> (token: Token, consumed: Int)? {
    switch pending[0] {
    case 0x1B: escapeSequence()
    case 0x0D, 0x0A: (.key(.return), 1)
    case 0x09: (.key(.tab), 1)
    case 0x08, 0x7F: (.key(.backspace), 1)
    case 0x01...0x1A: (.key(.control(Character(Unicode.Scalar(pending[0] + 0x60)))), 1)
    case 0x20..<0x7F: (.key(.character(Character(Unicode.Scalar(pending[0])))), 1)
    case 0xC2...0xF4: encodedScalar()
    default: (.nothing, 1)
    }
  }

  private func encodedScalar() -> (token: Token, consumed: Int)? {
    let length = pending[0] < 0xE0 ? 2 : pending[0] < 0xF0 ? 3 : 4
    for index in 1..<length {
      guard index < pending.count else { return nil }
      guard (0x80...0xBF).contains(pending[index]) else { return (.nothing, index) }
    }
    guard let text = String(validating: pending[..<length], as: UTF8.self), let character = text.first else {
      return (.nothing, length)
    }
    // U+0080 to U+009F are controls in two bytes.
    let isControl = character.unicodeScalars.allSatisfy { $0.properties.generalCategory == .control }
    return (isControl ? .nothing : .key(.character(character)), length)
  }

  private func escapeSequence() -> (token: Token, consumed: Int)? {
    guard pending.count > 1 else { return nil }
    switch pending[1] {
    case UInt8(ascii: "["): return controlSequence()
    case UInt8(ascii: "]"): return answer()
    case UInt8(ascii: "O"):
      guard pending.count > 2 else { return nil }
      return (Self.arrow(pending[2]).map { .key($0) } ?? .nothing, 3)
    // Escape and a key soon after it arrive in one read.
    default: return (.key(.escape), 1)
    }
  }

  /// A control sequence (ECMA-48 §5.4): parameters, intermediates, one final byte.
  private func controlSequence() -> (token: Token, consumed: Int)? {
    guard pending.count > 2 else { return nil }
    // The Linux console sends ESC [ [ A for F1.
    if pending[2] == UInt8(ascii: "[") { return pending.count > 3 ? (.nothing, 4) : nil }
    guard let end = pending[2...].firstIndex(where: { !(0x20...0x3F).contains($0) }) else { return nil }
    guard (0x40...0x7E).contains(pending[end]) else { return (.nothing, end) }
    if pending[2] == UInt8(ascii: "<") {
      let text = String(decoding: pending[3..<end], as: UTF8.self)
      return (Self.mouse(text, final: pending[end]).map { .key(.mouse($0)) } ?? .nothing, end + 1)
    }
    let parameter = pending[2..<end].prefix { $0 != UInt8(ascii: ";") }
    return (Self.token(parameter: String(decoding: parameter, as: UTF8.self), final: pending[end]), end + 1)
  }

  /// What the mouse did (SGR, mode 1006): button, column, row; releases and movements count for nothing.
  private static func mouse(_ parameters: String, final: UInt8) -> Mouse? {
    let numbers = parameters.split(separator: ";", omittingEmptySubsequences: false).map { Int($0) }
    guard final == UInt8(ascii: "M"), numbers.count == 3, let button = numbers[0], let column = numbers[1],
      let row = numbers[2], (1...10_000).contains(column), (1...10_000).contains(row)
    else { return nil }
    // Keys that are held count for nothing.
    let action: Mouse.Action? =
      switch button & ~0b11100 {
      case 0: .press
      case 64: .wheelUp
      case 65: .wheelDown
      default: nil
      }
    return action.map { Mouse($0, column: column - 1, row: row - 1) }
  }

  /// The beginning of the only answer that is asked for.
  private static let answerHead = Array("11;rgb".utf8)

  /// What the terminal answers to OSC 11: `ESC ] 11 ; rgb: r / g / b`, each of one to four digits, and BEL or ESC \ at its
  /// end. Anything else that begins so was typed.
  private func answer() -> (token: Token, consumed: Int)? {
    let body = pending[2...]
    guard zip(body, Self.answerHead).allSatisfy({ $0 == $1 }) else { return (.key(.escape), 1) }
    guard let end = body.firstIndex(where: { $0 == 0x07 || $0 == 0x1B }) else { return nil }
    if pending[end] == 0x1B, end + 1 == pending.count { return nil }
    let colors = String(decoding: pending[2..<end], as: UTF8.self).split(separator: ":").last ?? ""
    let consumed = pending[end] == 0x07 ? end + 1 : pending[end + 1] == UInt8(ascii: "\\") ? end + 2 : end
    return (Self.appearance(colors).map { .key(.background($0)) } ?? .nothing, consumed)
  }

  /// Light from half of the brightness that an eye sees.
  private static func appearance(_ colors: Substring) -> Appearance? {
    let parts = colors.split(separator: "/").prefix(3).map { digits in
      digits.count <= 4 ? Int(digits, radix: 16).map { $0 * 1_000 / (1 << (4 * digits.count)) } : nil
    }
    guard parts.count == 3, let red = parts[0], let green = parts[1], let blue = parts[2] else { return nil }
    return 299 * red + 587 * green + 114 * blue > 500_000 ? .light : .dark
  }

  private static func token(parameter: String, final: UInt8) -> Token {
    if let arrow = arrow(final) { return .key(arrow) }
    switch (parameter, final) {
    case (_, UInt8(ascii: "Z")): return .key(.backTab)
    case ("", UInt8(ascii: "I")): return .key(.focusIn)
    case ("", UInt8(ascii: "O")): return .key(.focusOut)
    case ("1", UInt8(ascii: "~")), ("7", UInt8(ascii: "~")): return .key(.home)
    case ("4", UInt8(ascii: "~")), ("8", UInt8(ascii: "~")): return .key(.end)
    case ("3", UInt8(ascii: "~")): return .key(.delete)
    case ("5", UInt8(ascii: "~")): return .key(.pageUp)
    case ("6", UInt8(ascii: "~")): return .key(.pageDown)
    case ("200", UInt8(ascii: "~")): return .pasteBegins
    case ("201", UInt8(ascii: "~")): return .pasteEnds
    default: return .nothing
    }
  }

  /// The key that ends in `final`, in the form of normal (CSI) and of application mode (SS3).
  private static func arrow(_ final: UInt8) -> Key? {
    switch final {
    case UInt8(ascii: "A"): .up
    case UInt8(ascii: "B"): .down
    case UInt8(ascii: "C"): .right
    case UInt8(ascii: "D"): .left
    case UInt8(ascii: "H"): .home
    case UInt8(ascii: "F"): .end
    case UInt8(ascii: "M"): .return
    default: nil
    }
  }
}
