import PushPolicy

/// Any JSON value, for documents with arbitrary members.
enum JSONValue: Sendable, Hashable {
  case null
  case bool(Bool)
  case integer(Int)
  case number(Double)
  case string(String)
  case array([JSONValue])
  case object([String: JSONValue])

  /// Copies a parsed value; the last of several members with one name counts.
  init(_ element: JSONElement) {
    switch element.kind {
    case .null: self = .null
    case .bool: self = .bool(element.boolean ?? false)
    case .integer: self = element.integer.map { .integer($0) } ?? .number(element.double ?? 0)
    case .double: self = .number(element.double ?? 0)
    case .string: self = .string(element.string ?? "")
    case .array:
      var values: [JSONValue] = []
      element.forEachElement { values.append(JSONValue($0)) }
      self = .array(values)
    case .object:
      var members: [String: JSONValue] = [:]
      element.forEachMember { members[$0] = JSONValue($1) }
      self = .object(members)
    }
  }

  /// Parses bytes; nil if they are not JSON.
  init?(parsing bytes: [UInt8], by parser: JSONParser) {
    guard let value = try? parser.parse(bytes.span, { JSONValue($0) }) else { return nil }
    self = value
  }

  /// The member of an object with this name; nil if there is none.
  subscript(name: String) -> JSONValue? {
    guard case .object(let members) = self else { return nil }
    return members[name]
  }

  /// The text of a string; nil for other values.
  var text: String? {
    guard case .string(let text) = self else { return nil }
    return text
  }

  /// Returns true if both values are equal as JSON: 3 equals 3.0.
  func equals(_ other: JSONValue) -> Bool {
    switch (self, other) {
    case (.integer(let one), .number(let two)), (.number(let two), .integer(let one)): Double(one) == two
    case (.array(let one), .array(let two)):
      one.count == two.count && zip(one, two).allSatisfy { $0.equals($1) }
    case (.object(let one), .object(let two)):
      one.count == two.count && one.allSatisfy { name, value in two[name].map { $0.equals(value) } ?? false }
    default: self == other
    }
  }

  /// Returns the value at a JSON pointer (RFC 6901); nil if there is none.
  func value(at pointer: String) -> JSONValue? {
    if pointer.isEmpty { return self }
    guard pointer.hasPrefix("/") else { return nil }
    var value = self
    for part in pointer.dropFirst().split(separator: "/", omittingEmptySubsequences: false) {
      let name = String(part).replacing("~1", with: "/").replacing("~0", with: "~")
      switch value {
      case .object(let members):
        guard let next = members[name] else { return nil }
        value = next
      case .array(let values):
        guard let index = Int(name), values.indices.contains(index), String(index) == name else { return nil }
        value = values[index]
      default: return nil
      }
    }
    return value
  }
}

extension JSONValue: Encodable {
  func encode(to encoder: any Encoder) throws {
    var container = encoder.singleValueContainer()
    switch self {
    case .null: try container.encodeNil()
    case .bool(let value): try container.encode(value)
    case .integer(let value): try container.encode(value)
    case .number(let value): try container.encode(value)
    case .string(let value): try container.encode(value)
    case .array(let values): try container.encode(values)
    case .object(let members): try container.encode(members)
    }
  }
}

extension JSONValue: ExpressibleByStringLiteral, ExpressibleByIntegerLiteral, ExpressibleByBooleanLiteral,
  ExpressibleByArrayLiteral, ExpressibleByDictionaryLiteral
{
  init(stringLiteral value: String) { self = .string(value) }
  init(integerLiteral value: Int) { self = .integer(value) }
  init(booleanLiteral value: Bool) { self = .bool(value) }
  init(arrayLiteral elements: JSONValue...) { self = .array(elements) }
  init(dictionaryLiteral elements: (String, JSONValue)...) {
    self = .object(Dictionary(elements) { _, last in last })
  }
}

extension JSONValue {
  /// The values of an array; nil for other values.
  var values: [JSONValue]? {
    guard case .array(let values) = self else { return nil }
    return values
  }

  /// The value of a number without fraction and exponent; nil for other values.
  var whole: Int? {
    guard case .integer(let value) = self else { return nil }
    return value
  }
}
