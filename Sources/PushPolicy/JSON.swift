import CSimdjson
import Glibc

/// A JSON parser, which reuses its buffers for the next document. Only one thread may use it at a time.
///
/// It reads strict JSON (RFC 8259) in valid UTF-8, at most ``maximumDepth`` levels deep. A number that is too large
/// for its type — an integer of more than 64 bits, a double of more than 1.8e308 — is an error of the whole document,
/// as in simdjson.
@safe
package final class JSONParser {
  private let handle: OpaquePointer
  /// True while elements of the last document are in use.
  private var isReading = false

  /// The maximum nesting depth of payloads and other documents of a peer: more than usual documents have, and few
  /// enough for all parsers.
  package static let maximumDepth = 64
  /// The maximum nesting depth of a line that contains a payload some levels deep, of a device's stream or of a file
  /// of such lines.
  package static let maximumLineDepth = maximumDepth + 8

  /// The version of simdjson of this build, such as `3.0.1`.
  package static var libraryVersion: String {
    unsafe String(cString: csimdjson_version()).filter { $0 != "\"" }
  }

  /// Makes a parser that refuses documents with more levels; the root is the first level.
  package init(maximumDepth: Int = JSONParser.maximumDepth) {
    precondition(maximumDepth > 0, "a document has a level")
    guard let handle = unsafe csimdjson_parser_create(maximumDepth) else { fatalError("no memory for a JSON parser") }
    unsafe self.handle = handle
  }

  deinit {
    unsafe csimdjson_parser_free(handle)
  }

  /// Parses `bytes` and calls `body` with the root; elements cannot outlive the call.
  ///
  /// `body` must not use the same parser.
  ///
  /// - Throws: ``JSONSyntaxError`` if `bytes` are not one JSON value.
  package func parse<Value>(
    _ bytes: Span<UInt8>,
    _ body: (JSONElement) -> Value
  ) throws(JSONSyntaxError) -> Value {
    precondition(!isReading, "a parser reads one document at a time")
    ReadingSteps.add(bytes.count)
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

/// The reason why bytes are not JSON.
package struct JSONSyntaxError: Error, Sendable, Equatable {
  /// The position and the reason, for users.
  package var message: String

  /// Makes the error of a document that the parser refused, for its syntax or for an unsupported value.
  init(of bytes: Span<UInt8>) {
    if bytes.isEmpty {
      message = "it is empty"
    } else if let (line, column, words) = JSONSyntaxError.find(in: bytes) {
      message = "line \(line), column \(column): \(words)"
    } else {
      message = "it is nested too deeply, or has an invalid number or character"
    }
  }
}

/// A value of a parsed document, borrowed from the parser: it cannot leave the closure that receives it.
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

  /// The types of a JSON value. A number is an integer if it is written without fraction and exponent.
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

  /// The value of `true` or `false`; `nil` for another type.
  package var boolean: Bool? {
    var value = false
    return unsafe csimdjson_get_boolean(node, &value) ? value : nil
  }

  /// The value of a number that is written without fraction and exponent and fits `Int`; otherwise `nil`.
  package var integer: Int? {
    var value: Int64 = 0
    return unsafe csimdjson_get_int64(node, &value) ? Int(value) : nil
  }

  /// Like ``integer``, for numbers from 0 to `UInt.max`.
  var unsignedInteger: UInt? {
    var value: UInt64 = 0
    return unsafe csimdjson_get_uint64(node, &value) ? UInt(value) : nil
  }

  /// The value of any number, rounded to the nearest double; `nil` for another type.
  package var double: Double? {
    var value = 0.0
    return unsafe csimdjson_get_double(node, &value) ? value : nil
  }

  /// The text of a string with its escapes resolved; `nil` for another type.
  package var string: String? {
    var text = unsafe csimdjson_text()
    guard unsafe csimdjson_get_string(node, &text) else { return nil }
    ReadingSteps.add(unsafe text.count)
    return unsafe String(text)
  }

  /// The first member of an object with this name; `nil` if there is none or this is not an object.
  package subscript(_ key: StaticString) -> JSONElement? {
    @_lifetime(copy self)
    get {
      #if DEBUG
        if ReadingSteps.isCounting { addSearch() }
      #endif
      var value = unsafe csimdjson_node()
      let name = unsafe csimdjson_text(start: key.utf8Start, count: key.utf8CodeUnitCount)
      guard unsafe csimdjson_find(node, name, &value) else { return nil }
      return unsafe JSONElement(value, in: self)
    }
  }

  #if DEBUG
    /// Adds the steps of a search for a member by its name.
    private func addSearch() {
      var cursor = unsafe csimdjson_members(node)
      var key = unsafe csimdjson_text()
      var value = unsafe csimdjson_node()
      while unsafe csimdjson_next_member(&cursor, &key, &value) { ReadingSteps.add() }
    }
  #endif

  /// Calls `body` for each member of an object, in order, also for repeated names; does nothing for other types.
  package func forEachMember(_ body: (_ key: String, _ value: JSONElement) -> Void) {
    visitMembers { body($0.string, $1) }
  }

  /// Calls `body` like ``forEachMember(_:)``, but without making a string of each key.
  func visitMembers(_ body: (_ key: JSONKey, _ value: JSONElement) -> Void) {
    var cursor = unsafe csimdjson_members(node)
    var key = unsafe csimdjson_text()
    var value = unsafe csimdjson_node()
    while unsafe csimdjson_next_member(&cursor, &key, &value) {
      ReadingSteps.add()
      unsafe body(JSONKey(key, in: self), JSONElement(value, in: self))
    }
  }

  /// Calls `body` for each element of an array, in order; does nothing for other types.
  package func forEachElement(_ body: (JSONElement) -> Void) {
    var cursor = unsafe csimdjson_elements(node)
    var value = unsafe csimdjson_node()
    while unsafe csimdjson_next_element(&cursor, &value) {
      ReadingSteps.add()
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

  /// The size in bytes of UTF-8.
  var count: Int { unsafe text.count }

  static func ~= (literal: StaticString, key: JSONKey) -> Bool {
    guard let start = unsafe key.text.start, unsafe key.text.count == literal.utf8CodeUnitCount else { return false }
    return unsafe memcmp(start, literal.utf8Start, literal.utf8CodeUnitCount) == 0
  }

  /// Compares the key with `literal` without regard to the case of ASCII letters. `literal` must be in lower case.
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
  /// Copies the text; a lone surrogate, which is not valid UTF-8, becomes U+FFFD.
  fileprivate init(_ text: csimdjson_text) {
    unsafe self.init(decoding: UnsafeBufferPointer(text), as: UTF8.self)
  }
}
