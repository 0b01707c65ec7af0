/// A value of `aps` that is not of the type Apple documents: devices ignore it.
package struct SchemaError: Sendable, Equatable {
  /// Where in the payload, as a JSON pointer (RFC 6901), such as `/aps/category`.
  package var pointer: String
  /// One sentence: what is due and what is there.
  package var message: String
  /// The value as short JSON.
  package var evidence: String

  package init(pointer: String, message: String, evidence: String) {
    self.pointer = pointer
    self.message = message
    self.evidence = evidence
  }
}

/// The types of everything in `aps` (reference §6.2 to §6.4), as tables.
///
/// A value is looked up by its key while the parser passes it; for one that is right, that is all. Keys that no table
/// has are nobody's business: devices ignore them.
enum APSSchema {
  /// What a value may be.
  enum Shape {
    case string, number, object
    /// 0 or 1.
    case flag
    /// `true`.
    case truth
    /// From 0 to 1.
    case fraction
    /// An array of strings.
    case strings
    case stringOrNull, stringsOrNull
    case stringOrObject
    case level, event
  }

  /// The keys of one object.
  struct Table {
    /// By the length of the key, so that a look-up compares one or two.
    private let entries: [[(key: StaticString, shape: Shape)]]
    private let pointer: String

    init(at pointer: String, _ entries: KeyValuePairs<StaticString, Shape>) {
      self.pointer = pointer
      let longest = entries.map(\.key.utf8CodeUnitCount).max() ?? 0
      var byLength = [[(key: StaticString, shape: Shape)]](repeating: [], count: longest + 1)
      for (key, shape) in entries { byLength[key.utf8CodeUnitCount].append((key, shape)) }
      self.entries = byLength
    }

    /// Notes a fault when `value`, the member `key` of this table's object, is of another type than it should be.
    func check(_ key: JSONKey, _ value: JSONElement, _ faults: inout [SchemaError]) {
      guard key.count < entries.count else { return }
      for entry in entries[key.count] where entry.key ~= key {
        if !entry.shape.fits(value) { faults.append(fault(key.string, entry.shape, value)) }
        return
      }
    }

    /// Whether this is a key of the object.
    func holds(_ key: JSONKey) -> Bool {
      key.count < entries.count && entries[key.count].contains { $0.key ~= key }
    }

    /// The key that was probably meant: the same letters, in another case or with other dashes.
    func name(like name: String) -> String? {
      func letters(_ text: String) -> String { text.lowercased().filter { $0 != "-" && $0 != "_" && $0 != " " } }
      let wanted = letters(name)
      return entries.joined().map { String(describing: $0.key) }.first { letters($0) == wanted }
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

  /// Texts may be objects with `loc-key`, and `sound` may be here, in alerts of Live Activities.
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

  /// The fault of an `aps` that is no object.
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

  /// What is due.
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

  /// What this is, for people.
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
