import PushPolicy
import Testing

@Suite struct JSONTests {
  let parser = JSONParser()

  func parse<Value>(_ text: String, _ body: (JSONElement) -> Value) throws -> Value {
    try parser.parse(Array(text.utf8).span, body)
  }

  @Test(arguments: [
    ("null", JSONElement.Kind.null), ("true", .bool), ("-1", .integer), ("18446744073709551615", .integer),
    ("1e2", .double), (#""a""#, .string), ("[]", .array), ("{}", .object),
  ])
  func `every value has its kind`(_ text: String, _ kind: JSONElement.Kind) throws {
    #expect(try parse(text) { $0.kind } == kind)
  }

  @Test(arguments: [
    ("false", Values(boolean: false)), ("-7", Values(integer: -7, double: -7)),
    ("18446744073709551615", Values(double: 0x1p64)), ("1.5", Values(double: 1.5)), ("2.0", Values(double: 2)),
    (#""x""#, Values(string: "x")), ("null", Values()), ("[1]", Values()), (#"{"a":1}"#, Values()),
  ])
  func `a value reads as its own type and as nil of every other`(_ text: String, _ values: Values) throws {
    #expect(try parse(text) { Values($0) } == values)
  }

  @Test func `a member is found by its whole name, the first of two, and not in other types`() throws {
    let found = try parse(#"{"a":1,"ab":2,"a":3,"é\n":4}"#) { root in
      [root["a"]?.integer, root["ab"]?.integer, root["é\n"]?.integer, root["b"]?.integer, root["a"]?["a"]?.integer]
    }
    #expect(found == [1, 2, 4, nil, nil])
  }

  @Test func `members and elements come in order, and a name that comes twice comes twice`() throws {
    var seen: [String] = []
    try parse(#"{"a":[1,[2],3],"b":{},"a":[]}"#) { root in
      root.forEachMember { key, value in
        seen.append(key)
        value.forEachElement { seen.append($0.integer.map(\.description) ?? "-") }
        value.forEachMember { key, _ in seen.append(key) }
      }
      root.forEachElement { _ in seen.append("an object has no elements") }
    }
    #expect(seen == ["a", "1", "-", "3", "b", "a"])
  }

  @Test(arguments: [
    (#""\u00e9\ud83d\ude00\"\\\/\b\f\n\r\t""#, "é😀\"\\/\u{8}\u{C}\n\r\t"), (#""a\u0000b""#, "a\0b"), (#""""#, ""),
  ])
  func `a string reads without its escapes`(_ text: String, _ value: String) throws {
    #expect(try parse(text) { $0.string } == value)
  }

  @Test(arguments: ["", " ", "{", "[1,]", "01", "'a'", "{} {}", "nul", #""\x""#, "1e400", "\u{FEFF}"])
  func `what is not one JSON value is a syntax error in words`(_ text: String) {
    let error = #expect(throws: JSONSyntaxError.self) { try parse(text) { _ in } }
    #expect(error?.message.isEmpty == false)
  }

  @Test func `bytes that are not UTF-8 are a syntax error`() {
    let bytes: [UInt8] = [0x22, 0xC0, 0x80, 0x22]
    #expect(throws: JSONSyntaxError.self) { try parser.parse(bytes.span) { _ in } }
  }

  @Test(arguments: [1, 2, 64, 65, 72, 500], ["", "1", #""]}\"]}""#, "{}"])
  func `so many levels are read as a parser is made for, and one more is an error`(_ maximum: Int, _ inner: String)
    throws
  {
    let parser = JSONParser(maximumDepth: maximum)
    for (opening, closing) in [("[", "]"), (#"{"[{":"#, "}")] where !(inner.isEmpty && opening != "[") {
      func deep(_ levels: Int) -> [UInt8] {
        let levels = inner == "{}" ? levels - 1 : levels
        return Array(
          (String(repeating: opening, count: levels) + inner + String(repeating: closing, count: levels)).utf8)
      }
      // The parses alternate, so that the state that one leaves would affect the other.
      for _ in 0..<3 {
        try parser.parse(deep(maximum).span) { _ in }
        #expect(throws: JSONSyntaxError.self) { try parser.parse(deep(maximum + 1).span) { _ in } }
        #expect(throws: JSONSyntaxError.self) { try parser.parse(deep(maximum + 2).span) { _ in } }
        #expect(throws: JSONSyntaxError.self) { try parser.parse(Array(deep(maximum).dropLast()).span) { _ in } }
      }
    }
  }

  @Test func `a parser reads one document at a time`() async {
    await #expect(processExitsWith: .failure) {
      let parser = JSONParser()
      let bytes = Array("{}".utf8)
      try parser.parse(bytes.span) { _ in try? parser.parse(bytes.span) { _ in } }
    }
  }

  @Test func `a parser reads on after an error, whatever the sizes`() throws {
    for size in [1, 10_000, 3, 40_000, 0] {
      let text = String(repeating: "x", count: size)
      #expect(try parse("\"\(text)\"") { $0.string } == text)
      #expect(throws: JSONSyntaxError.self) { try parse("\"\(text)") { _ in } }
    }
  }
}

/// The values of an element by type.
struct Values: Equatable {
  var boolean: Bool?
  var integer: Int?
  var double: Double?
  var string: String?
}

extension Values {
  init(_ element: JSONElement) {
    self.init(boolean: element.boolean, integer: element.integer, double: element.double, string: element.string)
  }
}
