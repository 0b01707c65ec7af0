import PushCore
import PushPolicy

/// The encodings of forms, in bodies and queries.
enum FormData {
  /// Returns the fields of a form or of a query (`application/x-www-form-urlencoded`), the first of each name.
  ///
  /// Invalid UTF-8 is repaired.
  static func fields(_ text: ArraySlice<UInt8>) -> [String: String] {
    ReadingSteps.add(text.count)
    var fields: [String: String] = [:]
    for pair in text.split(separator: UInt8(ascii: "&")) {
      let sides = pair.split(separator: UInt8(ascii: "="), maxSplits: 1, omittingEmptySubsequences: false)
      let name = String(decoding: percentDecoded(sides[0]), as: UTF8.self)
      guard fields[name] == nil else { continue }
      fields[name] = sides.count > 1 ? String(decoding: percentDecoded(sides[1]), as: UTF8.self) : ""
    }
    return fields
  }

  /// Returns the bytes of a name or a value: `+` is a space, and an incomplete `%` is itself.
  static func percentDecoded(_ part: ArraySlice<UInt8>) -> [UInt8] {
    decodedEscapes(part, mark: UInt8(ascii: "%"), space: UInt8(ascii: "+"))
  }

  // MARK: multipart/form-data (RFC 7578)

  /// Returns the fields of a multipart form, the first of each name; the part of a file is a field, too.
  ///
  /// - Parameter contentType: the value of the field `content-type`, with the boundary.
  /// - Returns: nil if there is no boundary, or if the body does not end with it.
  static func multipart(_ body: [UInt8], contentType: String) -> [String: String]? {
    ReadingSteps.add(body.count)
    guard let boundary = boundary(contentType) else { return nil }
    let delimiter = Array("--\(boundary)".utf8)
    var fields: [String: String] = [:]
    var part: Int?
    var start = 0
    while start < body.count {
      let end = body[start...].firstIndex(of: UInt8(ascii: "\n")) ?? body.count
      let line = body[start..<end]
      if line.starts(with: delimiter) {
        let rest = line.dropFirst(delimiter.count)
        let isLast = rest.starts(with: "--".utf8)
        if isLast || rest.allSatisfy({ $0 == UInt8(ascii: "\r") || $0 == 0x20 || $0 == 0x09 }) {
          if let part { add(body[part..<max(part, start)], to: &fields) }
          if isLast { return fields }
          part = min(end + 1, body.count)
        }
      }
      start = end + 1
    }
    return nil
  }

  /// Returns the boundary of a multipart body: 1 to 70 characters (RFC 2046 §5.1.1).
  private static func boundary(_ contentType: String) -> String? {
    for parameter in contentType.split(separator: ";").dropFirst() {
      let sides = parameter.split(separator: "=", maxSplits: 1).map { String($0.filter { $0 != " " && $0 != "\t" }) }
      guard sides.count == 2, sides[0].lowercased() == "boundary" else { continue }
      let text = sides[1].filter { $0 != "\"" }
      return (1...70).contains(text.utf8.count) ? text : nil
    }
    return nil
  }

  /// Adds a part: its head, an empty line and its value, which ends before the line end of the delimiter.
  private static func add(_ part: ArraySlice<UInt8>, to fields: inout [String: String]) {
    var rest = part
    var name: String?
    while let end = rest.firstIndex(of: UInt8(ascii: "\n")) {
      let line = String(decoding: rest[..<end], as: UTF8.self).filter { $0 != "\r" && $0 != "\r\n" }
      rest = rest[(end + 1)...]
      guard line.isEmpty else {
        if line.lowercased().hasPrefix("content-disposition:") { name = fieldName(line) }
        continue
      }
      if rest.last == UInt8(ascii: "\n") { rest.removeLast() }
      if rest.last == UInt8(ascii: "\r") { rest.removeLast() }
      if let name, fields[name] == nil { fields[name] = String(decoding: rest, as: UTF8.self) }
      return
    }
  }

  private static func fieldName(_ line: String) -> String? {
    for parameter in line.split(separator: ";").dropFirst() {
      let text = parameter.drop { $0 == " " || $0 == "\t" }
      guard text.lowercased().hasPrefix("name=") else { continue }
      return text.dropFirst(5).filter { $0 != "\"" }
    }
    return nil
  }
}
