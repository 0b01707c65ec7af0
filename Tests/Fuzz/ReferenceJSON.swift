import Glibc

/// A JSON value as a slow, simple reader parses it (RFC 8259). The tests compare the parser with it.
indirect enum ReferenceJSON: Equatable {
  case null
  case bool(Bool)
  case integer(negative: Bool, UInt64)
  case double(UInt64)
  case string([UInt8])
  case array([ReferenceJSON])
  case object([Member])

  struct Member: Equatable {
    var name: [UInt8]
    var value: ReferenceJSON
  }

  /// Reads one value of at most `maximumDepth` levels. Nil if `bytes` are no such value.
  init?(_ bytes: [UInt8], maximumDepth: Int) {
    guard String(validating: bytes, as: UTF8.self) != nil else { return nil }
    var reader = ReferenceReader(bytes: bytes, maximumDepth: maximumDepth)
    guard let value = reader.value(depth: 0), reader.isAtEnd() else { return nil }
    self = value
  }
}

/// The reader: a position in the bytes.
private struct ReferenceReader {
  let bytes: [UInt8]
  let maximumDepth: Int
  var place = 0

  init(bytes: [UInt8], maximumDepth: Int) { (self.bytes, self.maximumDepth) = (bytes, maximumDepth) }

  private var next: UInt8? { place < bytes.count ? bytes[place] : nil }

  private mutating func skipSpace() {
    while let byte = next, byte == 0x20 || byte == 0x09 || byte == 0x0A || byte == 0x0D { place += 1 }
  }

  private mutating func take(_ text: String) -> Bool {
    guard bytes[place...].starts(with: text.utf8) else { return false }
    place += text.utf8.count
    return true
  }

  mutating func isAtEnd() -> Bool {
    skipSpace()
    return place == bytes.count
  }

  mutating func value(depth: Int) -> ReferenceJSON? {
    skipSpace()
    switch next {
    case UInt8(ascii: "{"): return depth < maximumDepth ? object(depth: depth + 1) : nil
    case UInt8(ascii: "["): return depth < maximumDepth ? array(depth: depth + 1) : nil
    case UInt8(ascii: "\""): return string().map { .string($0) }
    case UInt8(ascii: "t"): return take("true") ? .bool(true) : nil
    case UInt8(ascii: "f"): return take("false") ? .bool(false) : nil
    case UInt8(ascii: "n"): return take("null") ? .null : nil
    default: return number()
    }
  }

  private mutating func array(depth: Int) -> ReferenceJSON? {
    place += 1
    skipSpace()
    if take("]") { return .array([]) }
    var values: [ReferenceJSON] = []
    while true {
      guard let value = value(depth: depth) else { return nil }
      values.append(value)
      skipSpace()
      if take("]") { return .array(values) }
      guard take(",") else { return nil }
    }
  }

  private mutating func object(depth: Int) -> ReferenceJSON? {
    place += 1
    skipSpace()
    if take("}") { return .object([]) }
    var members: [ReferenceJSON.Member] = []
    while true {
      skipSpace()
      guard next == UInt8(ascii: "\""), let name = string() else { return nil }
      skipSpace()
      guard take(":"), let value = value(depth: depth) else { return nil }
      members.append(.init(name: name, value: value))
      skipSpace()
      if take("}") { return .object(members) }
      guard take(",") else { return nil }
    }
  }

  private mutating func string() -> [UInt8]? {
    place += 1
    var text: [UInt8] = []
    while let byte = next {
      place += 1
      switch byte {
      case UInt8(ascii: "\""): return text
      case 0..<0x20: return nil
      case UInt8(ascii: "\\"):
        guard let scalar = escape() else { return nil }
        text += String(Character(scalar)).utf8
      default: text.append(byte)
      }
    }
    return nil
  }

  private mutating func escape() -> Unicode.Scalar? {
    guard let byte = next else { return nil }
    place += 1
    switch byte {
    case UInt8(ascii: "\""), UInt8(ascii: "\\"), UInt8(ascii: "/"): return Unicode.Scalar(byte)
    case UInt8(ascii: "b"): return "\u{8}"
    case UInt8(ascii: "f"): return "\u{C}"
    case UInt8(ascii: "n"): return "\n"
    case UInt8(ascii: "r"): return "\r"
    case UInt8(ascii: "t"): return "\t"
    case UInt8(ascii: "u"):
      guard let unit = hex() else { return nil }
      guard (0xD800..<0xDC00).contains(unit) else { return Unicode.Scalar(unit) }
      guard take("\\u"), let low = hex(), (0xDC00..<0xE000).contains(low) else { return nil }
      return Unicode.Scalar(0x10000 + (unit - 0xD800) << 10 + (low - 0xDC00))
    default: return nil
    }
  }

  private mutating func hex() -> UInt32? {
    guard place + 4 <= bytes.count else { return nil }
    defer { place += 4 }
    let digits = bytes[place..<place + 4]
    guard digits.allSatisfy({ Unicode.Scalar($0).properties.isASCIIHexDigit }) else { return nil }
    return UInt32(String(decoding: digits, as: UTF8.self), radix: 16)
  }

  /// - Returns: True if there was at least one digit.
  private mutating func digits() -> Bool {
    let start = place
    while let byte = next, (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(byte) { place += 1 }
    return place > start
  }

  private mutating func number() -> ReferenceJSON? {
    let start = place
    let isNegative = take("-")
    let first = place
    guard digits(), place == first + 1 || bytes[first] != UInt8(ascii: "0") else { return nil }
    let whole = bytes[first..<place]
    var isWhole = true
    if take(".") {
      isWhole = false
      guard digits() else { return nil }
    }
    if take("e") || take("E") {
      isWhole = false
      _ = take("+") || take("-")
      guard digits() else { return nil }
    }
    if isWhole {
      guard let size = UInt64(String(decoding: whole, as: UTF8.self)), !isNegative || size <= 1 << 63 else {
        return nil
      }
      return .integer(negative: isNegative && size > 0, size)
    }
    let number = unsafe strtod(String(decoding: bytes[start..<place], as: UTF8.self), nil)
    return number.isFinite ? .double(number.bitPattern) : nil
  }
}
