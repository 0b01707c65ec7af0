/// A value of `aps` whose type differs from Apple's documentation: devices ignore it.
package struct SchemaError: Sendable, Equatable {
  /// The JSON pointer (RFC 6901) of the value in the payload, such as `/aps/category`.
  package var pointer: String
  /// The expected type and the found type, in one sentence.
  package var message: String
  /// The value as short JSON.
  package var evidence: String
}

/// The types of all members of `aps` (reference §6.2 to §6.4), as tables.
///
/// The parser looks up each value by its key while it reads the payload; a valid value costs nothing more. Keys
/// without an entry are not checked: devices ignore them.
enum APSSchema {
  /// The allowed types and values of a member.
  enum Shape {
    case string, number, object
    /// 0 or 1.
    case flag
    /// `true`.
    case truth
    /// From 0 to 1.
    case fraction
    case strings
    case stringOrNull, stringsOrNull
    case stringOrObject
    case level, event
  }

  /// The allowed keys of one object.
  struct Table {
    /// The entries by the length of their keys, so that a lookup compares one or two keys.
    private let entries: [[(key: StaticString, shape: Shape)]]
    private let pointer: String

    init(at pointer: String, _ entries: KeyValuePairs<StaticString, Shape>) {
      self.pointer = pointer
      let longest = entries.map(\.key.utf8CodeUnitCount).max() ?? 0
      var byLength = [[(key: StaticString, shape: Shape)]](repeating: [], count: longest + 1)
      for (key, shape) in entries { byLength[key.utf8CodeUnitCount].append((key, shape)) }
      self.entries = byLength
    }

    /// Appends a fault if `value`, the member `key` of this table's object, has a type other than the documented one.
    func check(_ key: JSONKey, _ value: JSONElement, _ faults: inout [SchemaError]) {
      guard key.count < entries.count else { return }
      for entry in entries[key.count] where entry.key ~= key {
        if !entry.shape.fits(value) { faults.append(fault(key.string, entry.shape, value)) }
        return
      }
    }

    /// Returns true if the object may have this key.
    func holds(_ key: JSONKey) -> Bool {
      key.count < entries.count && entries[key.count].contains { $0.key ~= key }
    }

    /// Returns the key with the same letters in another case or with other dashes, as a suggestion for a misspelled
    /// key.
    func name(like name: String) -> String? {
      func letters(_ text: String) -> String { text.lowercased().filter { $0 != "-" && $0 != "_" && $0 != " " } }
      let sought = letters(name)
      return entries.joined().map { String(describing: $0.key) }.first { letters($0) == sought }
    }

    private func fault(_ key: String, _ shape: Shape, _ value: JSONElement) -> SchemaError {
      SchemaError(
        pointer: "\(pointer)/\(key.pointerToken)", message: "\(key) is \(shape.words); this is \(value.kindInWords)",
        evidence: value.evidence)
    }
  }

  static let aps = Table(
    at: "/aps",
    [
      "alert": .stringOrObject, "badge": .number, "sound": .stringOrObject, "thread-id": .string, "category": .string,
      "content-available": .flag, "mutable-content": .flag, "target-content-id": .string,
      "interruption-level": .level, "relevance-score": .number, "filter-criteria": .string, "stale-date": .number,
      "content-state": .object, "timestamp": .number, "event": .event, "dismissal-date": .number,
      "attributes-type": .string, "attributes": .object, "input-push-channel": .string, "input-push-token": .flag,
      "content-changed": .truth, "url-args": .strings,
    ])

  /// In alerts of Live Activities, texts may be objects with `loc-key`, and `sound` may be here.
  static let alert = Table(
    at: "/aps/alert",
    [
      "title": .stringOrObject, "subtitle": .stringOrObject, "body": .stringOrObject,
      "title-loc-key": .stringOrNull, "title-loc-args": .stringsOrNull, "subtitle-loc-key": .stringOrNull,
      "subtitle-loc-args": .stringsOrNull, "loc-key": .stringOrNull, "loc-args": .stringsOrNull,
      "launch-image": .string, "action-loc-key": .stringOrNull, "action": .string, "summary-arg": .string,
      "summary-arg-count": .number, "sound": .stringOrObject,
    ])

  static let sound = Table(at: "/aps/sound", ["critical": .flag, "name": .string, "volume": .fraction])

  /// Returns the fault of an `aps` that is not an object.
  static func fault(ofRoot value: JSONElement) -> SchemaError {
    SchemaError(pointer: "/aps", message: "aps is an object; this is \(value.kindInWords)", evidence: value.evidence)
  }
}

extension APSSchema.Shape {
  func fits(_ value: JSONElement) -> Bool {
    let kind = value.kind
    switch self {
    case .string: return kind == .string
    case .number: return kind == .integer || kind == .double
    case .object: return kind == .object
    case .flag: return kind == .integer && (value.integer == 0 || value.integer == 1)
    case .truth: return value.boolean == true
    case .fraction: return value.double.map { (0...1).contains($0) } ?? false
    case .strings: return kind == .array && value.holdsOnlyStrings
    case .stringOrNull: return kind == .string || kind == .null
    case .stringsOrNull: return kind == .null || kind == .array && value.holdsOnlyStrings
    case .stringOrObject: return kind == .string || kind == .object
    case .level: return value.string.map(["passive", "active", "time-sensitive", "critical"].contains) ?? false
    case .event: return value.string.map(["start", "update", "end"].contains) ?? false
    }
  }

  /// The expected type, for error messages.
  var words: String {
    switch self {
    case .string: "a string"
    case .number: "a number"
    case .object: "an object"
    case .flag: "1, or 0"
    case .truth: "true"
    case .fraction: "a number from 0 to 1"
    case .strings: "an array of strings"
    case .stringOrNull: "a string or null"
    case .stringsOrNull: "an array of strings, or null"
    case .stringOrObject: "a string or an object"
    case .level: "\"passive\", \"active\", \"time-sensitive\" or \"critical\""
    case .event: "\"start\", \"update\" or \"end\""
    }
  }
}

extension JSONElement {
  fileprivate var holdsOnlyStrings: Bool {
    var isSo = true
    forEachElement { if $0.kind != .string { isSo = false } }
    return isSo
  }

  /// The type and a short form of the value, for users.
  fileprivate var kindInWords: String {
    switch kind {
    case .null: "null"
    case .bool: "the boolean \(evidence)"
    case .integer, .double: "the number \(evidence)"
    case .string: "the string \(evidence)"
    case .array: "an array"
    case .object: "an object"
    }
  }
}
