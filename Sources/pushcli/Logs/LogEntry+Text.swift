import Logging
import PushPolicy

extension LogEntry {
  /// The entry as one line of `name=value` pairs; a value that is not one word is quoted as in JSON.
  var logfmt: String {
    var bytes: [UInt8] = []
    func append(_ name: String, _ value: String) {
      if !bytes.isEmpty { bytes.append(UInt8(ascii: " ")) }
      bytes += LogEntry.name(name).utf8
      bytes.append(UInt8(ascii: "="))
      if LogEntry.isWord(value) { bytes += value.utf8 } else { appendJSONString(value, to: &bytes) }
    }
    for field in head + fields { append(field.name, field.value) }
    return String(decoding: bytes, as: UTF8.self)
  }

  /// The entry as a JSON object on one line, whose values are strings.
  var json: [UInt8] {
    var bytes: [UInt8] = []
    var seen: Set<String> = []
    for field in head + fields where seen.insert(field.name).inserted {
      bytes.append(UInt8(ascii: bytes.isEmpty ? "{" : ","))
      appendJSONString(field.name, to: &bytes)
      bytes.append(UInt8(ascii: ":"))
      appendJSONString(field.value, to: &bytes)
    }
    return bytes + "}\n".utf8
  }

  /// The fields that every entry has, in the order for reading.
  private var head: [Field] {
    [Field(name: "ts", value: timestamp), Field(name: "level", value: level.rawValue)]
      + (event.map { [Field(name: "event", value: $0)] } ?? []) + [Field(name: "msg", value: message)]
  }

  /// Replaces the characters that would end a name.
  private static func name(_ text: String) -> String {
    String(text.unicodeScalars.map { $0.value > 0x20 && $0 != "=" && $0 != "\"" && $0.isASCII ? Character($0) : "_" })
  }

  private static func isWord(_ text: String) -> Bool {
    !text.isEmpty
      && text.utf8.allSatisfy {
        $0 > 0x20 && $0 < 0x7F && $0 != UInt8(ascii: "\"") && $0 != UInt8(ascii: "=") && $0 != UInt8(ascii: "\\")
      }
  }
}
