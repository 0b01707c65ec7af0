import CSimdjson
import Glibc

/// A JSON parser. Reuses its buffers from one document to the next; belongs to one thread at a time.
///
/// It reads strict JSON (RFC 8259) in valid UTF-8, at most ``maximumDepth`` levels deep. A number too large for its type — an
/// integer of more than 64 bits, a double of more than 1.8e308 — is an error of the whole document, as in simdjson.
@safe
package final class JSONParser {
  private let handle: OpaquePointer
  /// Whether elements of the last document are still in somebody's hands.
  private var isReading = false

  /// Levels of arrays and objects in a payload and in any other document of a peer: more than people write, and few
  /// enough for every parser.
  package static let maximumDepth = 64
  /// The same for a line that holds a payload, some levels down: of a device's stream, or of a file of such lines.
  package static let maximumLineDepth = maximumDepth + 8

  /// The version of simdjson that this was built with, as `3.0.1`.
  package static var libraryVersion: String {
    unsafe String(cString: csimdjson_version()).filter { $0 != "\"" }
  }

  /// A parser that refuses documents of more levels; the root is the first.
  package init(maximumDepth: Int = JSONParser.maximumDepth) {
    precondition(maximumDepth > 0, "a document has a level")
    guard let handle = unsafe csimdjson_parser_create(maximumDepth) else { fatalError("no memory for a JSON parser") }
    unsafe self.handle = handle
  }

  deinit {
    unsafe csimdjson_parser_free(handle)
  }

  /// Parses `bytes` and hands the root to `body`; elements cannot outlive it.
  ///
  /// `body` must not parse with the same parser.
  /// - Throws: ``JSONSyntaxError`` when `bytes` are not one JSON value.
  package func parse<Value>(
    _ bytes: Span<UInt8>,
    _ body: (JSONElement) -> Value
  ) throws(JSONSyntaxError) -> Value {
    precondition(!isReading, "a parser reads one document at a time")
    var root = unsafe csimdjson_node()
    let problem = unsafe bytes.withUnsafeBufferPointer { buffer in
      unsafe csimdjson_parse(handle, buffer.baseAddress, buffer.count, &root)
    }
    if unsafe problem != nil { throw JSONSyntaxError(of: bytes) }
    isReading = true
    defer { isReading = false }
    return body(unsafe JSONElement(root, of: self))
  }
}

/// Why some bytes are not JSON.
package struct JSONSyntaxError: Error, Sendable, Equatable {
  /// Where and why, for people.
  package var message: String

  package init(message: String) {
    self.message = message
  }

  /// Of a document that the parser refused, for its form or for what it can't hold.
  init(of bytes: Span<UInt8>) {
    message =
      bytes.isEmpty
      ? "it is empty"
      : JSONError(in: bytes)?.description ?? "it is nested too deeply, or has an invalid number or character"
  }
}

/// A value of a parsed document, borrowed from the parser: it cannot leave the closure that it was handed to.
@safe
package struct JSONElement: ~Escapable {
  private let node: csimdjson_node

  @_lifetime(borrow parser)
  fileprivate init(_ node: csimdjson_node, of parser: borrowing JSONParser) {
    unsafe self.node = node
  }

  @_lifetime(copy parent)
  private init(_ node: csimdjson_node, in parent: JSONElement) {
    unsafe self.node = node
  }

  /// The types of a JSON value. A number is an integer when it is written without fraction and exponent.
  package enum Kind: Sendable {
    case null, bool, integer, double, string, array, object
  }

  /// The type of this value.
  package var kind: Kind {
    switch unsafe csimdjson_kind_of(node) {
    case .null: .null
    case .boolean: .bool
    case .int64, .uint64: .integer
    case .double: .double
    case .string: .string
    case .array: .array
    case .object: .object
    }
  }

  /// The value of `true` or `false`, `nil` when of another type.
  package var boolean: Bool? {
    var value = false
    return unsafe csimdjson_get_boolean(node, &value) ? value : nil
  }

  /// The value of a number written without fraction and exponent that fits `Int`, otherwise `nil`.
  package var integer: Int? {
    var value: Int64 = 0
    return unsafe csimdjson_get_int64(node, &value) ? Int(value) : nil
  }

  /// Like ``integer``, for numbers from 0 to `UInt.max`.
  var unsignedInteger: UInt? {
    var value: UInt64 = 0
    return unsafe csimdjson_get_uint64(node, &value) ? UInt(value) : nil
  }

  /// The value of any number, rounded to the nearest double; `nil` when of another type.
  package var double: Double? {
    var value = 0.0
    return unsafe csimdjson_get_double(node, &value) ? value : nil
  }

  /// The text of a string without its escapes, `nil` when of another type.
  package var string: String? {
    var text = unsafe csimdjson_text()
    return unsafe csimdjson_get_string(node, &text) ? unsafe String(text) : nil
  }

  /// The first member of an object with this name; `nil` when there is none or this is no object.
  package subscript(_ key: StaticString) -> JSONElement? {
    @_lifetime(copy self)
    get {
      var value = unsafe csimdjson_node()
      let name = unsafe csimdjson_text(start: key.utf8Start, count: key.utf8CodeUnitCount)
      guard unsafe csimdjson_find(node, name, &value) else { return nil }
      return unsafe JSONElement(value, in: self)
    }
  }

  /// Hands every member of an object to `body`, in order and also when a name comes twice; of other types, nothing.
  package func forEachMember(_ body: (_ key: String, _ value: JSONElement) -> Void) {
    visitMembers { body($0.string, $1) }
  }

  /// Like ``forEachMember(_:)``, without making a string of each key.
  func visitMembers(_ body: (_ key: JSONKey, _ value: JSONElement) -> Void) {
    var cursor = unsafe csimdjson_members(node)
    var key = unsafe csimdjson_text()
    var value = unsafe csimdjson_node()
    while unsafe csimdjson_next_member(&cursor, &key, &value) {
      unsafe body(JSONKey(key, in: self), JSONElement(value, in: self))
    }
  }

  /// Hands every element of an array to `body`, in order; of other types, nothing.
  package func forEachElement(_ body: (JSONElement) -> Void) {
    var cursor = unsafe csimdjson_elements(node)
    var value = unsafe csimdjson_node()
    while unsafe csimdjson_next_element(&cursor, &value) {
      body(unsafe JSONElement(value, in: self))
    }
  }
}

/// The name of an object's member, borrowed from the parser. A `switch` compares it with literals byte by byte.
@safe
struct JSONKey: ~Escapable {
  private let text: csimdjson_text

  @_lifetime(copy parent)
  fileprivate init(_ text: csimdjson_text, in parent: JSONElement) {
    unsafe self.text = text
  }

  var string: String { unsafe String(text) }

  /// Bytes of UTF-8.
  var count: Int { unsafe text.count }

  static func ~= (literal: StaticString, key: JSONKey) -> Bool {
    guard let start = unsafe key.text.start, unsafe key.text.count == literal.utf8CodeUnitCount else { return false }
    return unsafe memcmp(start, literal.utf8Start, literal.utf8CodeUnitCount) == 0
  }

  /// Whether this is `literal`, which has no capitals, in any case of its ASCII letters.
  func isAnyCase(of literal: StaticString) -> Bool {
    unsafe text.count == literal.utf8CodeUnitCount
      && UnsafeBufferPointer(text).elementsEqual(
        UnsafeBufferPointer(start: literal.utf8Start, count: literal.utf8CodeUnitCount)
      ) { byte, lowercase in
        byte == lowercase || (UInt8(ascii: "A")...UInt8(ascii: "Z")).contains(byte) && byte | 0x20 == lowercase
      }
  }
}

extension UnsafeBufferPointer<UInt8> {
  fileprivate init(_ text: csimdjson_text) {
    unsafe self.init(start: text.start, count: text.count)
  }
}

extension String {
  /// Copies the text; what is not UTF-8 in it, a lone surrogate, becomes U+FFFD.
  fileprivate init(_ text: csimdjson_text) {
    unsafe self.init(decoding: UnsafeBufferPointer(text), as: UTF8.self)
  }
}
