import PushPolicy
import Testing

@Suite struct JSONErrorTests {
  private func fault(_ text: String) -> String? {
    JSONSyntaxError.find(in: Array(text.utf8).span).map { "line \($0.line), column \($0.column): \($0.words)" }
  }

  @Test(arguments: [
    ("", "line 1, column 1: unexpected end of the text: expected a value"),
    ("{\"aps\":{\n  \"alert\": \"x\",\n}}", "line 3, column 1: expected a name in double quotes, found }"),
    ("{\"aps\":{}", "line 1, column 10: unexpected end of the text: expected a comma or }"),
    ("[1 2]", "line 1, column 4: expected a comma or ], found 2"),
    ("[1,]", "line 1, column 4: expected a value, found ]"),
    ("{aps:1}", "line 1, column 2: expected a name in double quotes or }, found aps"),
    ("{\"a\" 1}", "line 1, column 6: expected a colon, found 1"),
    ("{'a':1}", "line 1, column 2: expected a name in double quotes or }, found '"),
    ("{\"a\":'b'}", "line 1, column 6: a string must be in double quotes"),
    ("{} {}", "line 1, column 4: expected the end of the text, found {"),
    ("{\"a\":True}", "line 1, column 6: expected a value, found True"),
    ("{\"a\":01}", "line 1, column 6: a number must not begin with 0"),
    ("{\"a\":-}", "line 1, column 7: expected a digit, found }"),
    ("{\"a\":1.}", "line 1, column 8: expected a digit, found }"),
    ("{\"a\":\"x\ny\"}", "line 1, column 8: a string contains a line break: write \\n for a line break"),
    ("{\"a\":\"\u{1}\"}", "line 1, column 7: a string contains a control character: write \\u0001"),
    ("{\"a\":\"é\\x\"}", "line 1, column 8: unknown escape \\x: a backslash is \\\\"),
    ("{\"a\":\"\\u12\"}", "line 1, column 7: \\u needs four hexadecimal digits"),
    ("{\"a\":\"", "line 1, column 7: the text ends within double quotes"),
    ("\u{FEFF}{}", "line 1, column 1: the text begins with a byte order mark: save it without one"),
  ])
  func `a fault has its line, its column and what was expected`(_ text: String, _ expected: String) {
    #expect(fault(text) == expected)
  }

  @Test func `bytes that are not UTF-8 are found`() {
    #expect(JSONSyntaxError.find(in: ([0x22, 0x61, 0xC0, 0x80, 0x22] as [UInt8]).span)?.column == 3)
    #expect(JSONSyntaxError.find(in: ([0x22, 0xE2, 0x82] as [UInt8]).span)?.column == 2)
  }

  @Test(arguments: [
    "{}", "[]", " [1, -2.5e+3, \"a\\u00e9\\n\", true, false, null, {\"a\":[[]]}]\n", "\"\"", "0",
    "{\"a\":{\"b\":1},\"c\":[]}",
  ])
  func `JSON has no fault`(_ text: String) { #expect(fault(text) == nil) }

  /// Both parsers must accept the same documents: otherwise the error would be wrong.
  @Test(arguments: [
    "{\"aps\":{\"alert\":\"a\\u00e9b\",\"badge\":1.5e3,\"list\":[true,null,[]]}}", "[0,-0,10,\"\\\\\",\"é😀\"]",
  ])
  func `whatever is cut off, doubled or replaced, it agrees with the parser`(_ text: String) {
    let parser = JSONParser()
    let bytes = Array(text.utf8)
    for place in bytes.indices {
      for change in [[], [bytes[place], bytes[place]], [0x20], [0x2C], [0x7D], [0x22], [0x80], [0x5C]] as [[UInt8]] {
        let changed = bytes[..<place] + change + bytes[(place + 1)...]
        let isJSON = (try? parser.parse(Array(changed).span) { _ in true }) ?? false
        let isFault = JSONSyntaxError.find(in: Array(changed).span) != nil
        #expect(isJSON != isFault, "\(String(decoding: changed, as: UTF8.self))")
      }
    }
  }
}
