import Testing

@testable import pushcli

@Suite struct SanitizedTextTests {
  private func text(_ text: SanitizedText) -> String { String(decoding: text.bytes, as: UTF8.self) }

  private static let hostile = "a\u{1B}]0;x\u{7}\r\nb\u{9B}2J\u{202E}c\u{200F}\u{3164}"

  @Test func `a line of somebody else's words is one line, and nothing in it works`() {
    #expect(text(SanitizedText(line: Self.hostile)) == "a bc\n")
    #expect(text(SanitizedText(question: Self.hostile)) == "a bc")
    #expect(text(SanitizedText(progress: Self.hostile)) == "\r\u{1B}[Ka bc")
    #expect(text(SanitizedText(lines: Self.hostile)) == "a\nbc\n")
    #expect(text(SanitizedText(lines: "a\n\n")) == "a\n\n")
  }

  @Test func `an event of the log is one line that spells what it may not hold`() {
    #expect(
      text(SanitizedText(event: Self.hostile)) == #"a\u{1b}]0;x\u{7}\u{d}\u{a}b\u{9b}2J\u{202e}c\u{200f}\u{3164}"#
        + "\n")
  }

  @Test func `a line is bounded`() {
    let long = SanitizedText(line: String(repeating: "x", count: SanitizedText.maximumLineSize + 1))
    #expect(long.bytes.count == SanitizedText.maximumLineSize + "…\n".utf8.count)
    #expect(
      SanitizedText(line: String(repeating: "x", count: SanitizedText.maximumLineSize)).bytes.count == SanitizedText
        .maximumLineSize
        + 1)
    #expect(
      SanitizedText(event: String(repeating: "\u{1B}", count: 1 << 20)).bytes.count <= SanitizedText.maximumLineSize + 1
    )
  }

  @Test func `JSON stays as it is, and for a terminal it is the same value`() {
    let json = Array("{\"a\":\"\u{9B}\"}\n".utf8)
    #expect(SanitizedText(json: json, isForTerminal: false).bytes == json)
    #expect(text(SanitizedText(json: json, isForTerminal: true)) == "{\"a\":\"\\u009b\"}\n")
  }
}
