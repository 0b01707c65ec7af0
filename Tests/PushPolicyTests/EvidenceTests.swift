import Testing

@testable import PushPolicy

@Suite struct EvidenceTests {
  @Test(arguments: [
    ("null", "null"), ("true", "true"), ("-5", "-5"), ("18446744073709551615", "18446744073709551615"), ("1.5", "1.5"),
    (#""a\"""#, #""a\"""#), ("[1]", "[…]"), (#"{"a":1}"#, "{…}"),
  ])
  func `evidence is the value as short JSON`(_ text: String, _ evidence: String) throws {
    #expect(try JSONParser().parse(Array(text.utf8).span) { $0.evidence } == evidence)
  }

  @Test func `a text of forty scalars is shown whole and a longer one is cut`() {
    let forty = String(repeating: "é", count: 40)
    #expect(forty.evidence == "\"\(forty)\"")
    #expect((forty + "x").evidence == "\"\(forty)…\"")
  }

  @Test(arguments: [("", ""), ("badge", "badge"), ("a/b~c", "a~1b~0c"), ("~1", "~01")])
  func `a pointer's token escapes tilde and slash`(_ key: String, _ token: String) {
    #expect(key.pointerToken == token)
  }
}
