/// Makes text from other sources safe to display: it cannot move the cursor, change the screen, reorder a line or
/// hide content.
///
/// Removed are:
/// - whole control sequences, such as `ESC [ 31 m` and `ESC ] 0 ; title BEL`;
/// - C0 and C1 control characters;
/// - bidirectional control characters (U+061C, U+200E–200F, U+202A–202E, U+2066–2069);
/// - invisible characters with or without width (Unicode's default ignorable code points: fillers such as U+3164,
///   soft hyphens, byte-order marks, variation selectors that follow no emoji, tags that belong to no flag).
///
/// Joiners stay, because scripts and emoji need them. A cluster keeps at most ``maximumScalarsPerCharacter`` scalars,
/// so that stacked marks stay in their row.
package enum Sanitizer {
  /// The maximum number of scalars in a cluster. The longest sequence in use is an emoji family of 11 scalars.
  package static let maximumScalarsPerCharacter = 16

  /// Returns `text` on one line: line breaks and tabs become a space.
  package static func line(_ text: String) -> String {
    isPlain(text, allowsLineBreaks: false) ? text : cleaned(text, lineBreak: " ")
  }

  /// Returns `text` with its line breaks, all of them as `\n`; tabs become a space.
  package static func body(_ text: String) -> String {
    isPlain(text, allowsLineBreaks: true) ? text : cleaned(text, lineBreak: "\n")
  }

  /// Returns the longest prefix of whole characters that has at most `maximumSize` bytes of UTF-8.
  package static func prefix(_ text: String, maximumSize: Int) -> String {
    guard text.utf8.count > maximumSize else { return text }
    var end = text.startIndex
    var size = 0
    while end < text.endIndex {
      let next = text.index(after: end)
      size += text[end..<next].utf8.count
      if size > maximumSize { break }
      end = next
    }
    return String(text[..<end])
  }

  /// Escapes all characters in `json` for which ``isControl(_:)`` is true, as JSON allows (RFC 8259 §7). The value
  /// stays the same, and a terminal can show it. Line ends and tabs stay.
  package static func escaped(json: [UInt8]) -> [UInt8] {
    // The first bytes of all encoded control characters; nearly all texts contain none of these.
    let mayHaveControl = json.contains {
      $0 == 0x7F || $0 == 0xC2 || $0 == 0xD8 || $0 == 0xE2 || $0 < 0x20 && $0 != 0x0A && $0 != 0x09
    }
    guard mayHaveControl else { return json }
    var result: [UInt8] = []
    result.reserveCapacity(json.count)
    for scalar in String(decoding: json, as: UTF8.self).unicodeScalars {
      guard isControl(scalar), scalar != "\n", scalar != "\t" else {
        append(scalar, to: &result)
        continue
      }
      let digits = String(scalar.value, radix: 16)
      result += "\\u\(String(repeating: "0", count: 4 - digits.count))\(digits)".utf8
    }
    return result
  }

  /// Returns `text` on one line, with all control and invisible characters, including line breaks, spelled as
  /// `\u{1b}`. For logs, in which the removed characters may be the important ones.
  package static func escaped(_ text: String) -> String {
    if isPlain(text, allowsLineBreaks: false) { return text }
    var result: [UInt8] = []
    result.reserveCapacity(text.utf8.count)
    for scalar in text.unicodeScalars {
      if isControl(scalar) || scalar.properties.isDefaultIgnorableCodePoint && !isJoiner(scalar) {
        result += "\\u{\(String(scalar.value, radix: 16))}".utf8
      } else {
        append(scalar, to: &result)
      }
    }
    return String(decoding: result, as: UTF8.self)
  }

  /// Returns true if a terminal may interpret the scalar, or show later text in another order. All of these scalars
  /// have at most four hexadecimal digits.
  package static func isControl(_ scalar: Unicode.Scalar) -> Bool {
    switch scalar.value {
    case 0..<0x20, 0x7F..<0xA0, 0x61C, 0x200E...0x200F, 0x2028...0x202E, 0x2066...0x2069: true
    default: false
    }
  }

  /// Returns true if `text` is printable ASCII. Most texts are, and they need no further processing.
  private static func isPlain(_ text: String, allowsLineBreaks: Bool) -> Bool {
    text.utf8.allSatisfy { ($0 >= 0x20 && $0 < 0x7F) || (allowsLineBreaks && $0 == 0x0A) }
  }

  /// Returns the sanitized text. It collects bytes, because each append to a view of scalars copies the whole text.
  private static func cleaned(_ text: String, lineBreak: Unicode.Scalar) -> String {
    var result = Cleaned(bytes: [])
    result.bytes.reserveCapacity(text.utf8.count)
    var sequence = ControlSequence()
    for character in text {
      switch sequence.take(character) {
      case .text: break
      case .part:
        result.append([], isWhole: false)
        continue
      case .stringBegins:
        result.append([], isWhole: false)
        result.mark()
        continue
      case .stringEnds:
        result.removeSinceMark()
        continue
      }
      if character.isNewline {
        result.append([lineBreak], isWhole: false)
      } else if character == "\t" {
        result.append([" "], isWhole: false)
      } else {
        let kept = kept(of: character)
        result.append(kept, isWhole: kept.count == character.unicodeScalars.count)
      }
    }
    return String(decoding: result.bytes, as: UTF8.self)
  }

  /// The sanitized text under construction.
  private struct Cleaned {
    var bytes: [UInt8]
    /// The index in ``bytes`` at which the last cluster begins.
    private var start = 0
    /// True if a scalar after that index was removed or replaced: the next scalar may join a cluster that it was
    /// separate from.
    private var isCut = false
    /// The size of ``bytes`` and the start of the last cluster at the position at which a string began.
    private var marked = (count: 0, start: 0)

    init(bytes: [UInt8]) { self.bytes = bytes }

    /// Appends the scalars that remain of a character; `isWhole` is true if these are all its scalars.
    mutating func append(_ scalars: [Unicode.Scalar], isWhole: Bool) {
      guard let first = scalars.first else {
        isCut = true
        return
      }
      let room = isCut ? room(for: first) : nil
      if room == nil { start = bytes.count }
      for scalar in scalars.prefix(room ?? maximumScalarsPerCharacter) { Sanitizer.append(scalar, to: &bytes) }
      isCut = !isWhole || isCut && room != nil
    }

    /// Records the position at which a string begins. The string is removed completely if it ends.
    mutating func mark() { marked = (bytes.count, start) }

    /// Removes the bytes that were added since the string began.
    mutating func removeSinceMark() {
      bytes.removeLast(bytes.count - marked.count)
      (start, isCut) = (marked.start, true)
    }

    /// Returns the number of scalars that still fit into the last cluster if `scalar` joins it; nil if it does not
    /// join.
    private func room(for scalar: Unicode.Scalar) -> Int? {
      let last = String(decoding: bytes[start...], as: UTF8.self)
      var joined = last
      joined.unicodeScalars.append(scalar)
      return joined.count > last.count ? nil : max(0, maximumScalarsPerCharacter - last.unicodeScalars.count)
    }
  }

  /// Returns the scalars of a character that may be shown.
  private static func kept(of character: Character) -> [Unicode.Scalar] {
    let isFlag = character.unicodeScalars.first == "\u{1F3F4}"
    let isKeycap = character.unicodeScalars.last == "\u{20E3}"
    var kept: [Unicode.Scalar] = []
    for scalar in character.unicodeScalars.prefix(maximumScalarsPerCharacter) {
      let isEmoji = kept.last.map { $0.properties.isEmoji && (!$0.isASCII || isKeycap) } ?? false
      guard isSafe(scalar) || isFlag && isTag(scalar) || isEmoji && isPresentation(scalar) else { continue }
      kept.append(scalar)
    }
    return kept
  }

  private static func append(_ scalar: Unicode.Scalar, to result: inout [UInt8]) {
    if scalar.isASCII {
      result.append(UInt8(truncatingIfNeeded: scalar.value))
    } else {
      result += UTF8.encode(scalar) ?? UTF8.encodedReplacementCharacter
    }
  }

  private static func isSafe(_ scalar: Unicode.Scalar) -> Bool {
    if isControl(scalar) || (0xFFF9...0xFFFB).contains(scalar.value) { return false }
    return scalar.value < 0xAD || isJoiner(scalar) || !scalar.properties.isDefaultIgnorableCodePoint
  }

  private static func isJoiner(_ scalar: Unicode.Scalar) -> Bool { scalar == "\u{200C}" || scalar == "\u{200D}" }

  /// Returns true for the variation selectors of text (U+FE0E) and emoji (U+FE0F) presentation.
  private static func isPresentation(_ scalar: Unicode.Scalar) -> Bool { scalar == "\u{FE0E}" || scalar == "\u{FE0F}" }

  private static func isTag(_ scalar: Unicode.Scalar) -> Bool {
    (0xE0000...0xE007F).contains(scalar.value)
  }
}
