/// Converts the bytes of a terminal into keys.
///
/// A sequence may be split over several reads. Only an ESC at the end of a read is ambiguous: it is the Escape key or
/// the beginning of a sequence whose rest is late. The reader waits a moment and then calls ``flush()``, which
/// selects the Escape key. Pasted text (mode 2004) and unknown sequences are dropped.
package struct KeyParser: Sendable {
  /// The received bytes that are not a key yet; at most ``maximumSequenceSize`` bytes.
  private var pending: [UInt8] = []
  /// The number of bytes that were discarded from the middle of the pending sequence.
  private var discardedCount = 0
  private var isPasting = false
  /// The number of further ``flush()`` calls before the parser stops waiting for the rest of an answer.
  private var remainingFlushes = KeyParser.maximumFlushes

  private static let maximumFlushes = 40
  private static let maximumSequenceSize = 32
  /// The maximum number of bytes that an answer without its end discards; later bytes are keys again.
  private static let maximumAnswerSize = 1_024

  /// True if there are incomplete bytes, which need more input or ``flush()``.
  package var isPending: Bool { !pending.isEmpty }

  /// Returns the keys that `bytes` complete, in order.
  package mutating func feed(_ bytes: some Sequence<UInt8>) -> [Key] {
    var keys: [Key] = []
    for byte in bytes {
      pending.append(byte)
      while let step = step() {
        pending.removeFirst(step.consumed)
        discardedCount = 0
        take(step.token, into: &keys)
        if pending.isEmpty { break }
      }
      if pending.count > Self.maximumSequenceSize { shorten() }
    }
    return keys
  }

  /// Discards the middle of a sequence without its end. The bytes that identify the sequence stay, so that its rest
  /// is discarded too; so does a last ESC, which may be the first byte of the end.
  private mutating func shorten() {
    let start = pending[1] == UInt8(ascii: "]") ? 2 + Self.answerHead.count : 2
    let end = pending.last == 0x1B ? pending.count - 1 : pending.count
    discardedCount += end - start
    pending.removeSubrange(start..<end)
  }

  /// Returns the keys in bytes that no further bytes follow: a lone ESC is Escape, and an unfinished sequence is
  /// dropped. An unfinished answer is kept for up to 40 calls, because its rest may arrive over a slow connection.
  package mutating func flush() -> [Key] {
    if pending.count > 2, pending[1] == UInt8(ascii: "]"), remainingFlushes > 0 {
      remainingFlushes -= 1
      return []
    }
    remainingFlushes = KeyParser.maximumFlushes
    defer { (pending, discardedCount) = ([], 0) }
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

  /// Returns the first token of the pending bytes and its length, or `nil` if more bytes are needed.
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
    // U+0080 to U+009F are control characters in two bytes.
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
    // Escape and a key pressed shortly after it arrive in one read.
    default: return (.key(.escape), 1)
    }
  }

  /// Parses a control sequence (ECMA-48 §5.4): parameters, intermediates, one final byte.
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

  /// Parses a mouse event (SGR, mode 1006): button, column, row. Returns nil for releases and movements.
  private static func mouse(_ parameters: String, final: UInt8) -> Mouse? {
    let numbers = parameters.split(separator: ";", omittingEmptySubsequences: false).map { Int($0) }
    guard final == UInt8(ascii: "M"), numbers.count == 3, let button = numbers[0], let column = numbers[1],
      let row = numbers[2], (1...10_000).contains(column), (1...10_000).contains(row)
    else { return nil }
    // The bits of modifier keys are ignored.
    let action: Mouse.Action? =
      switch button & ~0b11100 {
      case 0: .press
      case 64: .wheelUp
      case 65: .wheelDown
      default: nil
      }
    return action.map { Mouse($0, column: column - 1, row: row - 1) }
  }

  /// The beginning of the only answer that the program requests.
  private static let answerHead = Array("11;rgb".utf8)

  /// Parses the answer to OSC 11: `ESC ] 11 ; rgb: r / g / b`, each of one to four digits, with BEL or ESC \ at its
  /// end. Any other text after `ESC ]` was typed. A longer answer is dropped up to its end. An answer is also over at
  /// a byte that is not printable ASCII, and after ``maximumAnswerSize`` bytes.
  private func answer() -> (token: Token, consumed: Int)? {
    let body = pending[2...]
    guard zip(body, Self.answerHead).allSatisfy({ $0 == $1 }) else { return (.key(.escape), 1) }
    guard let end = body.firstIndex(where: { !(0x20...0x7E).contains($0) }) else {
      return discardedCount < Self.maximumAnswerSize ? nil : (.nothing, pending.count)
    }
    guard pending[end] == 0x07 || pending[end] == 0x1B else { return (.nothing, end) }
    if pending[end] == 0x1B, end + 1 == pending.count { return nil }
    let colors = String(decoding: pending[2..<end], as: UTF8.self).split(separator: ":").last ?? ""
    let consumed = pending[end] == 0x07 ? end + 1 : pending[end + 1] == UInt8(ascii: "\\") ? end + 2 : end
    guard discardedCount == 0 else { return (.nothing, consumed) }
    return (Self.appearance(colors).map { .key(.background($0)) } ?? .nothing, consumed)
  }

  /// Returns `.light` if the perceived brightness is above one half, otherwise `.dark`; nil if the colors are
  /// malformed.
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

  /// Returns the key of the final byte `final`, in normal mode (CSI) and in application mode (SS3).
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
