/// Replaces one string in a JSON text, and leaves all other bytes and the layout unchanged.
enum JSONText {
  /// Returns the text with the string at `pointer` (RFC 6901) replaced; `nil` if there is none.
  ///
  /// - Parameter json: valid JSON in UTF-8.
  static func replacing(stringAt pointer: String, with text: String, in json: [UInt8]) -> [UInt8]? {
    let tokens = pointer.split(separator: "/", omittingEmptySubsequences: false).dropFirst().map { token in
      token.split(separator: "~1", omittingEmptySubsequences: false).joined(separator: "/")
        .split(separator: "~0", omittingEmptySubsequences: false).joined(separator: "~")
    }
    var reader = Reader(json: json)
    guard let range = reader.value(at: tokens[...]), json[range.lowerBound] == UInt8(ascii: "\"") else { return nil }
    var literal: [UInt8] = []
    appendJSONString(text, to: &literal)
    return json[..<range.lowerBound] + literal + json[range.upperBound...]
  }

  /// A cursor in valid JSON; in any other text it stops early and finds nothing.
  private struct Reader {
    let json: [UInt8]
    var position = 0

    private var byte: UInt8 { position < json.count ? json[position] : 0 }

    private mutating func skipSpace() {
      while [0x20, 0x09, 0x0A, 0x0D].contains(byte) { position += 1 }
    }

    /// Returns the range of the value at the path `tokens`.
    mutating func value(at tokens: ArraySlice<String>) -> Range<Int>? {
      skipSpace()
      guard let token = tokens.first else {
        let start = position
        return skipValue() ? start..<position : nil
      }
      switch byte {
      case UInt8(ascii: "{"):
        return member(UInt8(ascii: "}")) { reader, _ in
          let start = reader.position
          guard reader.skipString() else { return nil }
          let name = reader.json[start..<reader.position]
          reader.skipSpace()
          guard reader.byte == UInt8(ascii: ":") else { return nil }
          reader.position += 1
          return reader.isName(name, token)
        }.flatMap { _ in value(at: tokens.dropFirst()) }
      case UInt8(ascii: "["):
        return member(UInt8(ascii: "]")) { _, index in String(index) == token }
          .flatMap { _ in value(at: tokens.dropFirst()) }
      default: return nil
      }
    }

    /// Moves to the value of the first member for which `matches` returns true; `matches` reads the name before the
    /// value.
    ///
    /// - Returns: the position of the value; `nil` if there is no such member, or if `matches` returned `nil`.
    private mutating func member(_ end: UInt8, _ matches: (inout Reader, Int) -> Bool?) -> Int? {
      position += 1
      var index = 0
      while true {
        skipSpace()
        guard byte != end, position < json.count, let found = matches(&self, index) else { return nil }
        if found { return position }
        skipSpace()
        guard skipValue() else { return nil }
        skipSpace()
        guard byte == UInt8(ascii: ",") else { return nil }
        position += 1
        index += 1
      }
    }

    private func isName(_ literal: ArraySlice<UInt8>, _ name: String) -> Bool {
      // Names in payloads usually have no escapes; a name with escapes is not found.
      literal.dropFirst().dropLast().elementsEqual(name.utf8)
    }

    private mutating func skipString() -> Bool {
      guard byte == UInt8(ascii: "\"") else { return false }
      position += 1
      while position < json.count, byte != UInt8(ascii: "\"") { position += byte == UInt8(ascii: "\\") ? 2 : 1 }
      position += 1
      return position <= json.count
    }

    /// Moves behind a value, without recursion.
    private mutating func skipValue() -> Bool {
      var depth = 0
      while position < json.count {
        switch byte {
        case UInt8(ascii: "\""):
          guard skipString() else { return false }
        case UInt8(ascii: "{"), UInt8(ascii: "["):
          depth += 1
          position += 1
          continue
        case UInt8(ascii: "}"), UInt8(ascii: "]"):
          depth -= 1
          position += 1
        case UInt8(ascii: ","), UInt8(ascii: ":"), 0x20, 0x09, 0x0A, 0x0D:
          if depth == 0 { return true }
          position += 1
          continue
        default:
          while position < json.count, !",:]} \t\n\r".utf8.contains(byte) { position += 1 }
        }
        if depth <= 0 { return depth == 0 }
      }
      return false
    }
  }
}

extension PayloadLint {
  /// Returns the file with all fixes that follow from the rules alone: capitals and end punctuation.
  ///
  /// - Returns: `nil` if there is nothing to fix.
  package func fixed(_ bytes: [UInt8]) -> [UInt8]? {
    var result = bytes
    // A text may break several rules; each round fixes one violation of each text.
    for _ in 0..<8 {
      var changed: Set<String> = []
      for finding in findings(in: result) {
        guard let fix = finding.fix, changed.insert(finding.pointer).inserted,
          let next = JSONText.replacing(stringAt: finding.pointer, with: fix, in: result)
        else { continue }
        result = next
      }
      if changed.isEmpty { break }
    }
    return result == bytes ? nil : result
  }
}
