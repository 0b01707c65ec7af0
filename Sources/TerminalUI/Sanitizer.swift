/// Makes text that others wrote safe to show: nothing in it can move the cursor, change the screen, reorder a line or hide
/// in it.
///
/// What goes: control sequences as a whole, such as `ESC [ 31 m` and `ESC ] 0 ; title BEL`; C0 and C1 controls; all that orders text (U+061C, U+200E–200F, U+202A–202E,
/// U+2066–2069); what takes space or none and shows nothing (Unicode's default ignorable code points: fillers such as
/// U+3164, soft hyphens, byte-order marks, variation selectors behind no emoji, tags that belong to no flag). Joiners
/// stay: scripts need them, and emoji. A cluster keeps at most ``maximumScalarsPerCharacter`` scalars, so stacked marks
/// stay in their cell.
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

  /// As many whole characters from the front of `text` as have `maximumSize` bytes of UTF-8.
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

  /// `json` with all that ``isControl(_:)`` escaped as JSON allows (RFC 8259 §7): the same value, for a terminal. Line ends
  /// and tabs stay.
  package static func escaped(json: [UInt8]) -> [UInt8] {
    // What a control begins with; nearly all text has none of these.
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

  /// `text` on one line with all that ``isControl(_:)`` spelled as `\u{1b}`, line breaks too: nothing is hidden, nothing
  /// works. For a log, where what was removed may be what matters.
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

  /// Whether a terminal may obey the scalar, or show what follows in another order. All of these have at most four digits.
  package static func isControl(_ scalar: Unicode.Scalar) -> Bool {
    switch scalar.value {
    case 0..<0x20, 0x7F..<0xA0, 0x61C, 0x200E...0x200F, 0x2028...0x202E, 0x2066...0x2069: true
    default: false
    }
  }

  /// Whether `text` is printable ASCII, which most text is and which needs no second look.
  private static func isPlain(_ text: String, allowsLineBreaks: Bool) -> Bool {
    text.utf8.allSatisfy { ($0 >= 0x20 && $0 < 0x7F) || (allowsLineBreaks && $0 == 0x0A) }
  }

  /// Bytes, since what is appended to a view of scalars copies all that is there.
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

  /// A text that is being made.
  private struct Cleaned {
    var bytes: [UInt8]
    /// Where the last cluster begins.
    private var start = 0
    /// Whether something behind that is gone, or is another: what follows may join what it was apart from.
    private var isCut = false
    /// How much there was where a string began, and where its last cluster began.
    private var marked = (count: 0, start: 0)

    init(bytes: [UInt8]) { self.bytes = bytes }

    /// Adds what is kept of a character; `isWhole` says that this is all of it.
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

    /// Notes that a string begins, which goes as a whole if it ends.
    mutating func mark() { marked = (bytes.count, start) }

    /// Removes what was added since a string began.
    mutating func removeSinceMark() {
      bytes.removeLast(bytes.count - marked.count)
      (start, isCut) = (marked.start, true)
    }

    /// How many scalars the last cluster still takes, when this one joins it; nil when it does not.
    private func room(for scalar: Unicode.Scalar) -> Int? {
      let last = String(decoding: bytes[start...], as: UTF8.self)
      var joined = last
      joined.unicodeScalars.append(scalar)
      return joined.count > last.count ? nil : max(0, maximumScalarsPerCharacter - last.unicodeScalars.count)
    }
  }

  /// What may be shown of a character.
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

  /// What makes an emoji of a sign, or a sign of an emoji.
  private static func isPresentation(_ scalar: Unicode.Scalar) -> Bool { scalar == "\u{FE0E}" || scalar == "\u{FE0F}" }

  private static func isTag(_ scalar: Unicode.Scalar) -> Bool {
    (0xE0000...0xE007F).contains(scalar.value)
  }
}
