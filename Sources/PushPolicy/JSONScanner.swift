extension JSONSyntaxError {
  /// Finds the first syntax error (RFC 8259) in one pass; nil if there is none. Lines and columns begin with 1; columns
  /// are counted in characters. `words` describes the error in one clause.
  package static func find(in bytes: Span<UInt8>) -> (line: Int, column: Int, words: String)? {
    var scanner = JSONScanner(bytes)
    let fault = scanner.fault()
    ReadingSteps.add(scanner.position)
    guard let words = fault else { return nil }
    ReadingSteps.add(scanner.position)
    var (line, column) = (1, 1)
    for index in 0..<min(scanner.position, bytes.count) {
      if bytes[index] == UInt8(ascii: "\n") {
        (line, column) = (line + 1, 1)
      } else if bytes[index] & 0xC0 != 0x80 {
        // Continuation bytes of a character are not counted.
        column += 1
      }
    }
    return (line, column, words)
  }
}

/// Reads a text as JSON until the first syntax error.
private struct JSONScanner: ~Escapable {
  /// The token that may come next.
  private enum Expected {
    case value, valueOrEnd, name, nameOrEnd, colon, commaOrEnd, nothing
  }

  private let bytes: Span<UInt8>
  /// The position of the next byte; after an error, the position of the error.
  private(set) var position = 0
  /// The closing bracket of each open container.
  private var open: [UInt8] = []
  private var expected = Expected.value

  @_lifetime(copy bytes)
  init(_ bytes: Span<UInt8>) { self.bytes = bytes }

  private var next: UInt8? { position < bytes.count ? bytes[position] : nil }

  /// Reads to the first syntax error, and returns its description; nil if there is none.
  mutating func fault() -> String? {
    while true {
      while let byte = next, [0x20, 0x09, 0x0A, 0x0D].contains(byte) { position += 1 }
      guard let byte = next else {
        return expected == .nothing ? nil : "unexpected end of the text: expected \(inWords)"
      }
      if let fault = take(byte) { return fault }
    }
  }

  private var inWords: String {
    switch expected {
    case .value: "a value"
    case .valueOrEnd: "a value or ]"
    case .name: "a name in double quotes"
    case .nameOrEnd: "a name in double quotes or }"
    case .colon: "a colon"
    case .commaOrEnd: open.last == UInt8(ascii: "]") ? "a comma or ]" : "a comma or }"
    case .nothing: "the end of the text"
    }
  }

  /// Reads the token that begins with `byte`.
  private mutating func take(_ byte: UInt8) -> String? {
    switch (expected, byte) {
    case (.value, _), (.valueOrEnd, _):
      if expected == .valueOrEnd, byte == UInt8(ascii: "]") { return close() }
      return value(byte)
    case (.nameOrEnd, UInt8(ascii: "}")): return close()
    case (.name, UInt8(ascii: "\"")), (.nameOrEnd, UInt8(ascii: "\"")):
      expected = .colon
      return string()
    case (.colon, UInt8(ascii: ":")):
      expected = .value
      position += 1
      return nil
    case (.commaOrEnd, UInt8(ascii: ",")):
      expected = open.last == UInt8(ascii: "]") ? .value : .name
      position += 1
      return nil
    case (.commaOrEnd, _) where byte == open.last: return close()
    default: return "expected \(inWords), found \(found)"
    }
  }

  /// The token at the current position, for users.
  private var found: String {
    guard let byte = next else { return "the end" }
    guard (0x21..<0x7F).contains(byte) else { return "something else" }
    var end = position
    while end < bytes.count, end - position < 20, JSONScanner.isWord(bytes[end]) { end += 1 }
    if end <= position + 1 { return String(UnicodeScalar(byte)) }
    return String(decoding: (position..<end).map { bytes[$0] }, as: UTF8.self)
  }

  private static func isWord(_ byte: UInt8) -> Bool {
    switch byte {
    case UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "A")...UInt8(ascii: "Z"), UInt8(ascii: "_"),
      UInt8(ascii: "a")...UInt8(ascii: "z"):
      true
    default: false
    }
  }

  private mutating func close() -> String? {
    position += 1
    open.removeLast()
    expected = open.isEmpty ? .nothing : .commaOrEnd
    return nil
  }

  private mutating func value(_ byte: UInt8) -> String? {
    switch byte {
    case UInt8(ascii: "{"), UInt8(ascii: "["):
      position += 1
      open.append(byte + 2)
      expected = byte == UInt8(ascii: "{") ? .nameOrEnd : .valueOrEnd
      return nil
    case UInt8(ascii: "\""):
      expected = open.isEmpty ? .nothing : .commaOrEnd
      return string()
    case UInt8(ascii: "-"), UInt8(ascii: "0")...UInt8(ascii: "9"):
      expected = open.isEmpty ? .nothing : .commaOrEnd
      return number()
    default: return word()
    }
  }

  private mutating func word() -> String? {
    for word in ["true", "false", "null"] where begins(with: word) {
      position += word.utf8.count
      expected = open.isEmpty ? .nothing : .commaOrEnd
      return nil
    }
    if begins(with: "\u{FEFF}") { return "the text begins with a byte order mark: save it without one" }
    if next == UInt8(ascii: "'") { return "a string must be in double quotes" }
    return "expected \(inWords), found \(found)"
  }

  private func begins(with text: String) -> Bool {
    text.utf8.enumerated().allSatisfy { position + $0 < bytes.count && bytes[position + $0] == $1 }
  }

  private mutating func digits() -> Bool {
    let start = position
    while let byte = next, (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(byte) { position += 1 }
    return position > start
  }

  private mutating func number() -> String? {
    if next == UInt8(ascii: "-") { position += 1 }
    let start = position
    guard digits() else { return "expected a digit, found \(found)" }
    if bytes[start] == UInt8(ascii: "0"), position > start + 1 {
      position = start
      return "a number must not begin with 0"
    }
    if next == UInt8(ascii: ".") {
      position += 1
      guard digits() else { return "expected a digit, found \(found)" }
    }
    if next == UInt8(ascii: "e") || next == UInt8(ascii: "E") {
      position += 1
      if next == UInt8(ascii: "+") || next == UInt8(ascii: "-") { position += 1 }
      guard digits() else { return "expected a digit, found \(found)" }
    }
    return nil
  }

  private mutating func string() -> String? {
    position += 1
    while let byte = next {
      switch byte {
      case UInt8(ascii: "\""):
        position += 1
        return nil
      case UInt8(ascii: "\n"), UInt8(ascii: "\r"): return "a string contains a line break: write \\n for a line break"
      case ..<0x20: return "a string contains a control character: write \\u00\(hex(byte))"
      case UInt8(ascii: "\\"): if let fault = escape() { return fault }
      case 0x80...: if let fault = character(byte) { return fault }
      default: position += 1
      }
    }
    return "the text ends within double quotes"
  }

  private func hex(_ byte: UInt8) -> String { (byte < 16 ? "0" : "") + String(byte, radix: 16) }

  private mutating func escape() -> String? {
    guard position + 1 < bytes.count else { return "the text ends within double quotes" }
    let byte = bytes[position + 1]
    if byte == UInt8(ascii: "u") {
      for offset in 2..<6 {
        guard position + offset < bytes.count, UnicodeScalar(bytes[position + offset]).properties.isASCIIHexDigit else {
          return "\\u needs four hexadecimal digits"
        }
      }
      position += 6
      return nil
    }
    guard #""\/bfnrt"#.utf8.contains(byte) else {
      return "unknown escape \\\(String(UnicodeScalar(byte))): a backslash is \\\\"
    }
    position += 2
    return nil
  }

  /// Returns false if the second byte of a character makes an overlong form, a surrogate or a too large scalar (RFC
  /// 3629).
  private static func follows(_ second: UInt8, _ first: UInt8) -> Bool {
    switch first {
    case 0xE0: second >= 0xA0
    case 0xED: second < 0xA0
    case 0xF0: second >= 0x90
    case 0xF4: second < 0x90
    default: true
    }
  }

  /// Reads a character of several bytes.
  private mutating func character(_ byte: UInt8) -> String? {
    let size = byte >= 0xF0 ? 4 : byte >= 0xE0 ? 3 : 2
    let isWhole =
      byte >= 0xC2 && byte < 0xF5 && position + size <= bytes.count
      && (1..<size).allSatisfy { bytes[position + $0] & 0xC0 == 0x80 } && JSONScanner.follows(bytes[position + 1], byte)
    guard isWhole else { return "a byte is not UTF-8" }
    position += size
    return nil
  }
}
