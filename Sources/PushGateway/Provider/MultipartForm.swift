import PushCore
import PushPolicy

/// The parts of a form with files: `multipart/form-data` (RFC 7578).
///
/// The parser is strict: the body begins with the boundary, each line ends with CR LF, and nothing follows the last
/// boundary. It reads each byte a fixed number of times.
struct MultipartForm: Equatable {
  struct Part: Equatable {
    var name: String
    /// The name of a file; nil for the value of a field.
    var fileName: String?
    /// The value of `content-type`; nil without one.
    var contentType: String?
    var content: ArraySlice<UInt8>
  }

  private(set) var parts: [Part] = []

  /// - Parameter contentType: the value of the field `content-type`, with the boundary.
  /// - Throws: 400 with the cause.
  init(_ body: [UInt8], contentType: String) throws(MessageRefusal) {
    ReadingSteps.add(body.count)
    guard let boundary = MultipartForm.boundary(contentType) else {
      throw .badMessage("the content type has no boundary: expected multipart/form-data; boundary=…")
    }
    let delimiter = Array("\r\n--\(boundary)".utf8)
    guard body.starts(with: delimiter.dropFirst(2)) else {
      throw .badMessage("the form does not begin with the boundary of its content type")
    }
    var rest = body.dropFirst(delimiter.count - 2)
    while !rest.starts(with: MultipartForm.close) {
      guard rest.starts(with: MultipartForm.lineEnd) else {
        throw .badMessage("the form has a boundary without a line end: choose a boundary that no value contains")
      }
      guard parts.count < Limits.maximumFormParts else {
        throw .badMessage("the form has too many parts: expected at most \(Limits.maximumFormParts)")
      }
      var part = try MultipartForm.head(&rest)
      guard let end = MultipartForm.position(of: delimiter, in: rest) else { throw MultipartForm.incomplete }
      part.content = rest[..<end]
      rest = rest[(end + delimiter.count)...]
      parts.append(part)
    }
    rest = rest.dropFirst(MultipartForm.close.count)
    guard rest.isEmpty || rest.elementsEqual(MultipartForm.lineEnd) else {
      throw .badMessage("the form has bytes after its end")
    }
  }

  private static let lineEnd = Array("\r\n".utf8)
  private static let close = Array("--".utf8)
  private static let incomplete = MessageRefusal.badMessage(
    "the form does not end with the boundary of its content type")
  private static let nameless = MessageRefusal.badMessage(
    "a part has no name: expected content-disposition: form-data; name=\"…\"")

  /// Returns the boundary of a content type: 1 to 70 characters (RFC 2046 §5.1.1).
  private static func boundary(_ contentType: String) -> String? {
    let sides = Array(contentType.utf8).split(separator: UInt8(ascii: ";"), maxSplits: 1)
    guard sides.count == 2, let parameters = parameters(of: sides[1]), let text = parameters["boundary"],
      (1...70).contains(text.utf8.count),
      text.utf8.last != 0x20, text.utf8.allSatisfy({ (0x20...0x7E).contains($0) })
    else { return nil }
    return text
  }

  /// Returns the index of the first delimiter. A delimiter has no second CR, so that no byte is compared again after a
  /// comparison that failed.
  private static func position(of delimiter: [UInt8], in bytes: ArraySlice<UInt8>) -> Int? {
    var start = bytes.startIndex
    while let found = bytes[start...].firstIndex(of: UInt8(ascii: "\r")) {
      if bytes[found...].starts(with: delimiter) { return found }
      start = found + 1
    }
    return nil
  }

  // MARK: The head of a part

  /// Reads the fields of a part up to the empty line after them.
  ///
  /// - Parameter rest: the bytes after the boundary, which begin with a line end; afterwards the bytes of the content.
  private static func head(_ rest: inout ArraySlice<UInt8>) throws(MessageRefusal) -> Part {
    var part = Part(name: "", content: [])
    var (hasName, hasType) = (false, false)
    let limit = rest.prefix(Limits.maximumPartHead)
    var line = limit.dropFirst(lineEnd.count)
    while true {
      guard let end = position(of: lineEnd, in: line) else {
        throw .badMessage(
          "the head of a part is incomplete: expected at most \(Limits.maximumPartHead) bytes, and an empty line after "
            + "them")
      }
      let text = line[..<end]
      line = limit[(end + lineEnd.count)...]
      if text.isEmpty { break }
      guard let colon = text.firstIndex(of: UInt8(ascii: ":")), text.first.map({ $0 > 0x20 }) == true else {
        throw .badMessage("a line in the head of a part has no name: expected NAME: VALUE")
      }
      let value = text[(colon + 1)...]
      switch String(decoding: text[..<colon], as: UTF8.self).lowercased() {
      case "content-disposition" where !hasName:
        (part.name, part.fileName) = try disposition(value)
        hasName = true
      case "content-type" where !hasType:
        part.contentType = trimmed(value)
        hasType = true
      case "content-disposition", "content-type":
        throw .badMessage("the head of a part has a field twice: expected content-disposition and content-type once")
      case "content-transfer-encoding" where !["7bit", "8bit", "binary"].contains(trimmed(value).lowercased()):
        throw .badMessage("a part has the encoding \(trimmed(value).prefix(32)): expected the bytes themselves")
      default: break
      }
    }
    guard hasName else { throw nameless }
    rest = rest[line.startIndex...]
    return part
  }

  private static func disposition(_ value: ArraySlice<UInt8>) throws(MessageRefusal) -> (String, String?) {
    let sides = value.split(separator: UInt8(ascii: ";"), maxSplits: 1)
    guard sides.count == 2, trimmed(sides[0]).lowercased() == "form-data", let parameters = parameters(of: sides[1]),
      let name = parameters["name"], !name.isEmpty
    else { throw nameless }
    return (unescaped(name), parameters["filename"].map(unescaped))
  }

  private static func trimmed(_ bytes: some Collection<UInt8>) -> String {
    let isSpace = { (byte: UInt8) in byte == 0x20 || byte == 0x09 }
    var text = Array(bytes.drop(while: isSpace))
    while let last = text.last, isSpace(last) { text.removeLast() }
    return String(decoding: text, as: UTF8.self)
  }

  /// Returns a name without the escapes of browsers and of curl (RFC 7578 §4.2, HTML §4.10.22.8).
  private static func unescaped(_ name: String) -> String {
    var bytes: [UInt8] = []
    var rest = Array(name.utf8)[...]
    while let byte = rest.popFirst() {
      let digits = rest.prefix(2)
      if byte == UInt8(ascii: "%"), let escaped = escapes[String(decoding: digits, as: UTF8.self)] {
        bytes.append(escaped)
        rest = rest.dropFirst(2)
      } else {
        bytes.append(byte)
      }
    }
    return String(decoding: bytes, as: UTF8.self)
  }

  private static let escapes: [String: UInt8] = ["22": 0x22, "0D": 0x0D, "0A": 0x0A]

  /// Returns the parameters of a field by their names in lower case; nil if they are invalid, or if one occurs twice.
  ///
  /// - Parameter text: the bytes after the first `;`.
  private static func parameters(of text: ArraySlice<UInt8>) -> [String: String]? {
    var found: [String: String] = [:]
    var rest = text
    while true {
      rest = rest.drop { $0 == 0x20 || $0 == 0x09 }
      guard let equals = rest.firstIndex(of: UInt8(ascii: "=")) else { return rest.isEmpty ? found : nil }
      let name = String(decoding: rest[..<equals], as: UTF8.self).lowercased()
      rest = rest[(equals + 1)...]
      guard let value = value(&rest), found.updateValue(value, forKey: name) == nil else { return nil }
      rest = rest.drop { $0 == 0x20 || $0 == 0x09 }
      guard let separator = rest.popFirst() else { return found }
      guard separator == UInt8(ascii: ";") else { return nil }
    }
  }

  /// Reads a token or a quoted text; nil for a text without its second quote.
  private static func value(_ rest: inout ArraySlice<UInt8>) -> String? {
    guard rest.first == UInt8(ascii: "\"") else {
      let token = rest.prefix { $0 > 0x20 && $0 != UInt8(ascii: ";") }
      rest = rest[token.endIndex...]
      return token.isEmpty ? nil : String(decoding: token, as: UTF8.self)
    }
    rest.removeFirst()
    var bytes: [UInt8] = []
    while let byte = rest.popFirst() {
      if byte == UInt8(ascii: "\"") { return String(decoding: bytes, as: UTF8.self) }
      // Earlier versions of curl escape these two; a path of Windows has other backslashes.
      if byte == UInt8(ascii: "\\"), let next = rest.first, next == UInt8(ascii: "\"") || next == byte {
        rest.removeFirst()
        bytes.append(next)
      } else {
        bytes.append(byte)
      }
    }
    return nil
  }
}
