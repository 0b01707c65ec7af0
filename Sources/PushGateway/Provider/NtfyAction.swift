import PushCore
import PushPolicy

/// An action button of ntfy. Only the addresses of `view` are used: the gateway sends no requests for a recipient.
struct NtfyAction: Sendable, Equatable {
  /// The kind: `view`, `http`, `broadcast` or `copy`.
  var kind = ""
  var label = ""
  var url = ""

  private static let kinds = ["view", "http", "broadcast", "copy"]
  private static let maximumCount = 3

  /// Parses the text of a field: a JSON array, or actions in the short form, separated by `;`.
  static func list(_ text: String, parser: JSONParser) throws(MessageRefusal) -> [NtfyAction] {
    ReadingSteps.add(text.utf8.count)
    let actions: [NtfyAction]
    if text.utf8.first == UInt8(ascii: "[") {
      do {
        actions = try parser.parse(Array(text.utf8).span) { list($0) }
      } catch {
        throw .badActions("the array is not JSON: \(error.message)")
      }
    } else {
      var reader = NtfyActionReader(text)
      actions = try reader.readAll()
    }
    try check(actions)
    return actions
  }

  static func list(_ array: JSONElement) -> [NtfyAction] {
    var actions: [NtfyAction] = []
    array.forEachElement { element in
      var action = NtfyAction()
      action.kind = (element["action"]?.string ?? "").lowercased()
      action.label = element["label"]?.string ?? ""
      action.url = element["url"]?.string ?? ""
      actions.append(action)
    }
    return actions
  }

  /// Checks the number of the actions, and the required parameters of each.
  static func check(_ actions: [NtfyAction]) throws(MessageRefusal) {
    guard actions.count <= maximumCount else { throw .badActions("expected at most \(maximumCount)") }
    for action in actions {
      guard kinds.contains(action.kind) else {
        throw .badActions("unknown action \(action.kind.prefix(32)): expected \(kinds.joined(separator: ", "))")
      }
      guard !action.label.isEmpty else { throw .badActions("an action has no label") }
      if action.kind == "view" || action.kind == "http" {
        guard !action.url.isEmpty else { throw .badActions("the action \(action.label.prefix(32)) has no url") }
      }
    }
  }
}

/// A reader of actions in the short form: `view, Open, https://example.com; http, "Close, now", url=…`.
private struct NtfyActionReader {
  private var rest: ArraySlice<UInt8>

  init(_ text: String) { rest = Array(text.utf8)[...] }

  mutating func readAll() throws(MessageRefusal) -> [NtfyAction] {
    var actions: [NtfyAction] = []
    skipSpaces()
    while !rest.isEmpty {
      actions.append(try readAction())
      skipSpaces()
    }
    return actions
  }

  /// Reads one action, with its end.
  private mutating func readAction() throws(MessageRefusal) -> NtfyAction {
    var action = NtfyAction()
    var number = 0
    while true {
      skipSpaces()
      let key = readKey()
      let value = try readValue()
      try set(key ?? NtfyActionReader.key(ofSection: number, action), value, in: &action)
      number += 1
      // The end of the section is left: `,` begins the next one.
      guard let end = rest.popFirst(), end == UInt8(ascii: ",") else { return action }
    }
  }

  /// Returns the key of a section without one; empty if it must have one.
  private static func key(ofSection number: Int, _ action: NtfyAction) -> String {
    switch number {
    case 0: "action"
    case 1: "label"
    case 2 where action.kind == "copy": "value"
    case 2 where action.kind != "broadcast": "url"
    default: ""
    }
  }

  private func set(_ key: String, _ value: String, in action: inout NtfyAction) throws(MessageRefusal) {
    switch key.lowercased() {
    case "action": action.kind = value.lowercased()
    case "label": action.label = value
    case "url": action.url = value
    case "clear", "method", "body", "intent", "value": break
    case let key where key.hasPrefix("headers.") || key.hasPrefix("extras."): break
    case "": throw .badActions("unknown text \(value.prefix(32)): expected key=value")
    default: throw .badActions("unknown key \(key.prefix(32))")
    }
  }

  private mutating func skipSpaces() { rest = rest.drop { $0 == 0x20 || (0x09...0x0D).contains($0) } }

  /// Reads a key with its `=`; nil if the section begins with a value.
  private mutating func readKey() -> String? {
    let name = rest.prefix { byte in
      (UInt8(ascii: "a")...UInt8(ascii: "z")).contains(byte | 0x20)
        || (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(byte) || "-._".utf8.contains(byte)
    }
    let after = rest.dropFirst(name.count).drop { $0 == 0x20 }
    guard !name.isEmpty, after.first == UInt8(ascii: "=") else { return nil }
    rest = after.dropFirst()
    skipSpaces()
    return String(decoding: name, as: UTF8.self)
  }

  /// Reads a value up to `,`, `;` or the end, which is left.
  private mutating func readValue() throws(MessageRefusal) -> String {
    if let quote = rest.first, quote == UInt8(ascii: "\"") || quote == UInt8(ascii: "'") {
      return try readQuoted(quote)
    }
    var value = rest.prefix { $0 != UInt8(ascii: ",") && $0 != UInt8(ascii: ";") }
    rest = rest.dropFirst(value.count)
    while value.last == 0x20 { value.removeLast() }
    return String(decoding: value, as: UTF8.self)
  }

  /// Reads a quoted value; `\` escapes the quote.
  private mutating func readQuoted(_ quote: UInt8) throws(MessageRefusal) -> String {
    rest.removeFirst()
    var value: [UInt8] = []
    while let byte = rest.popFirst(), byte != quote || value.last == UInt8(ascii: "\\") {
      if byte == quote { value.removeLast() }
      value.append(byte)
      if rest.isEmpty { throw .badActions("a quoted value has no end") }
    }
    skipSpaces()
    guard rest.isEmpty || rest.first == UInt8(ascii: ",") || rest.first == UInt8(ascii: ";") else {
      throw .badActions("expected , or ; after a quoted value")
    }
    return String(decoding: value, as: UTF8.self)
  }
}

extension MessageRefusal {
  fileprivate static func badActions(_ message: String) -> MessageRefusal {
    MessageRefusal(400, "BadActions", "actions: \(message)")
  }
}
