/// Appends `string` as a JSON string literal: quotes, backslashes and control characters are escaped, the rest is
/// unchanged.
package func appendJSONString(_ string: String, to bytes: inout [UInt8]) {
  append("\"", to: &bytes)
  appendEscaped(string, to: &bytes)
  append("\"", to: &bytes)
}

package func appendJSONStrings(_ strings: [String], to bytes: inout [UInt8]) {
  append("[", to: &bytes)
  for (index, string) in strings.enumerated() {
    if index > 0 { append(",", to: &bytes) }
    appendJSONString(string, to: &bytes)
  }
  append("]", to: &bytes)
}

extension Presentation {
  /// Appends the presentation as one JSON object without the parts that are `nil`; decoding it returns the same
  /// value.
  ///
  /// The gateway calls this once per delivery, so it makes no intermediate values.
  package func appendJSON(to bytes: inout [UInt8]) {
    append("{", to: &bytes)
    let start = bytes.count
    func separate() { if bytes.count > start { append(",", to: &bytes) } }
    if let badge {
      append("\"badge\":", to: &bytes)
      bytes.append(contentsOf: String(badge).utf8)
    }
    if let sound {
      separate()
      append("\"sound\":\"", to: &bytes)
      appendEscaped(sound, to: &bytes)
      append("\"", to: &bytes)
    }
    if let alert {
      separate()
      append("\"alert\":", to: &bytes)
      alert.appendJSON(to: &bytes)
    }
    if let center {
      separate()
      append("\"centre\":", to: &bytes)
      center.appendJSON(to: &bytes)
    }
    if let held {
      separate()
      append("\"held\":", to: &bytes)
      held.appendJSON(to: &bytes)
    }
    if let budget {
      separate()
      append("\"budget\":", to: &bytes)
      bytes.append(contentsOf: String(budget).utf8)
    }
    if let newCategory {
      separate()
      append("\"new_category\":", to: &bytes)
      appendJSONString(newCategory, to: &bytes)
    }
    append("}", to: &bytes)
  }
}

extension Deferral {
  fileprivate func appendJSON(to bytes: inout [UInt8]) {
    append("{\"by\":\"", to: &bytes)
    bytes.append(contentsOf: by.rawValue.utf8)
    append("\"", to: &bytes)
    if let until {
      append(",\"until\":", to: &bytes)
      bytes.append(contentsOf: String(until).utf8)
    }
    append(",\"relevance\":", to: &bytes)
    bytes.append(contentsOf: relevance.description.utf8)
    append("}", to: &bytes)
  }
}

extension AlertPresentation {
  fileprivate func appendJSON(to bytes: inout [UInt8]) {
    append("{\"title\":\"", to: &bytes)
    appendEscaped(title, to: &bytes)
    append("\",\"subtitle\":\"", to: &bytes)
    appendEscaped(subtitle, to: &bytes)
    append("\",\"body\":\"", to: &bytes)
    appendEscaped(body, to: &bytes)
    append("\",\"buttons\":[", to: &bytes)
    var separator: StaticString = "\""
    for button in buttons {
      append(separator, to: &bytes)
      appendEscaped(button, to: &bytes)
      separator = "\",\""
    }
    append(buttons.isEmpty ? "]" : "\"]", to: &bytes)
    if let actions {
      for (index, action) in actions.enumerated() {
        append(index == 0 ? ",\"actions\":[{\"id\":\"" : ",{\"id\":\"", to: &bytes)
        appendEscaped(action.id, to: &bytes)
        append("\",\"title\":\"", to: &bytes)
        appendEscaped(action.title, to: &bytes)
        append(action.isDestructive ? "\",\"destructive\":true}" : "\",\"destructive\":false}", to: &bytes)
      }
      append(actions.isEmpty ? ",\"actions\":[]" : "]", to: &bytes)
    }
    append("}", to: &bytes)
  }
}

private func appendEscaped(_ string: String, to bytes: inout [UInt8]) {
  let utf8 = string.utf8.span
  if !utf8.needsEscape { return append(utf8, to: &bytes) }
  var runStart = 0
  for index in utf8.indices {
    let byte = utf8[index]
    guard byte < 0x20 || byte == UInt8(ascii: "\"") || byte == UInt8(ascii: "\\") else { continue }
    append(utf8.extracting(runStart..<index), to: &bytes)
    appendEscape(of: byte, to: &bytes)
    runStart = index + 1
  }
  append(utf8.extracting(runStart..<utf8.count), to: &bytes)
}

extension Span<UInt8> {
  /// True if the bytes contain a control character, a quotation mark or a backslash; checks eight bytes at a time.
  fileprivate var needsEscape: Bool {
    let (ones, highs): (UInt64, UInt64) = (0x0101_0101_0101_0101, 0x8080_8080_8080_8080)
    /// Marks the bytes below `limit`, which is at most 128, and sometimes a byte above a marked one.
    func below(_ word: UInt64, _ limit: UInt64) -> UInt64 { (word &- ones &* limit) & ~word & highs }
    func isPlain(_ word: UInt64) -> Bool {
      let quotes = word ^ (ones &* UInt64(UInt8(ascii: "\"")))
      let backslashes = word ^ (ones &* UInt64(UInt8(ascii: "\\")))
      return below(word, 0x20) | below(quotes, 1) | below(backslashes, 1) == 0
    }
    return unsafe withUnsafeBytes { bytes in
      var position = 0
      while position + 8 <= bytes.count {
        guard isPlain(unsafe bytes.loadUnaligned(fromByteOffset: position, as: UInt64.self)) else { return true }
        position += 8
      }
      // The last eight bytes, which overlap the ones before.
      if position < bytes.count, bytes.count >= 8 {
        return !isPlain(unsafe bytes.loadUnaligned(fromByteOffset: bytes.count - 8, as: UInt64.self))
      }
      while position < bytes.count {
        guard isPlain((ones &<< 8) &* 0x20 | UInt64(unsafe bytes[position])) else { return true }
        position += 1
      }
      return false
    }
  }
}

private func appendEscape(of byte: UInt8, to bytes: inout [UInt8]) {
  switch byte {
  case UInt8(ascii: "\""): append("\\\"", to: &bytes)
  case UInt8(ascii: "\\"): append("\\\\", to: &bytes)
  case UInt8(ascii: "\n"): append("\\n", to: &bytes)
  case UInt8(ascii: "\r"): append("\\r", to: &bytes)
  case UInt8(ascii: "\t"): append("\\t", to: &bytes)
  default:
    append(byte < 0x10 ? "\\u000" : "\\u001", to: &bytes)
    let digit = byte & 0xF
    bytes.append(digit < 10 ? UInt8(ascii: "0") + digit : UInt8(ascii: "a") + digit - 10)
  }
}

private func append(_ run: Span<UInt8>, to bytes: inout [UInt8]) {
  unsafe run.withUnsafeBufferPointer { unsafe bytes.append(contentsOf: $0) }
}

/// Appends a text that is known at compile time.
package func append(_ literal: StaticString, to bytes: inout [UInt8]) {
  unsafe bytes.append(contentsOf: UnsafeBufferPointer(start: literal.utf8Start, count: literal.utf8CodeUnitCount))
}
