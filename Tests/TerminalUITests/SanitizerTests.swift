import Testing

@testable import TerminalUI

@Suite struct SanitizerTests {
  @Test(arguments: [
    ("plain", "plain"), ("a\nb\r\nc\u{2028}d\u{85}e", "a b c d e"), ("a\tb", "a b"),
    ("\u{1B}[31mred\u{1B}[0m", "red"), ("\u{1B}]0;title\u{7}", ""), ("\u{9B}2J", ""),
    ("\u{90}q\u{9C}", ""), ("a\u{0}\u{8}\u{7F}b", "ab"),
    ("user\u{202E}fdp.exe\u{202C}", "userfdp.exe"), ("\u{202A}\u{202B}\u{202D}x\u{2066}\u{2067}\u{2068}\u{2069}", "x"),
    ("\u{FEFF}a\u{AD}b\u{FFF9}c\u{E0041}", "abc"), ("🏴󠁧󠁢󠁳󠁣󠁴󠁿👨‍👩‍👧é你", "🏴󠁧󠁢󠁳󠁣󠁴󠁿👨‍👩‍👧é你"),
  ])
  func `one line keeps the words and nothing that controls`(_ text: String, _ clean: String) {
    #expect(Sanitizer.line(text) == clean)
  }

  @Test(arguments: [
    ("a\u{1B}[1;31mb\u{1B}[mc\u{1B}[?25ld", "abcd"), ("\u{1B}(B\u{1B}[m\u{1B})0x", "x"),
    ("a\u{1B}]8;;https://example.com\u{1B}\\link\u{1B}]8;;\u{1B}\\b", "alinkb"),
    ("a\u{1B}Pq#0\u{1B}\\b\u{9D}0;t\u{9C}c\u{1B}_G\u{7}d", "abcd"), ("a\u{1B}\u{1B}[31mb", "ab"),
    ("a\u{301}\u{1B}[31m\u{302}b", "a\u{301}b"), ("\u{1B}[31m\u{1B}]0;é\u{7}é", "é"),
    // An unfinished sequence hides no text that a terminal would show.
    ("a\u{1B}", "a"), ("a\u{1B}[", "a"), ("a\u{1B}[31", "a"), ("a\u{1B}[31\u{1B}[32mb", "ab"),
    ("a\u{1B}[3é", "aé"), ("a\u{1B}[3\nb", "a b"), ("a\u{1B}]0;title", "a0;title"),
    ("a\u{1B}]0;b\u{1B}]0;c\u{7}d", "a0;bd"), ("a\u{1B}]0;b\nc\u{7}d", "a0;b cd"),
    ("a\u{1B}]0;b\u{18}c\u{7}d", "a0;bcd"), ("a\u{1B}]0;b\u{1B}[1mc\u{7}d", "a0;bcd"), ("a\u{1B}cb", "acb"),
    ("\\", "\\"), ("[31m", "[31m"),
  ])
  func `control sequences go as a whole`(_ text: String, _ clean: String) {
    #expect(Sanitizer.line(text) == clean)
  }

  @Test func `many unfinished sequences take linear time`() {
    for part in ["\u{1B}]", "\u{1B}]\u{1B}", "\u{1B}[", "\u{1B}]a\u{301}", "\u{9D}\u{300}"] {
      let text = "z" + String(repeating: part, count: 200_000)
      #expect(Sanitizer.body(text).unicodeScalars.first == "z")
    }
  }

  @Test func `a body keeps its line breaks`() {
    #expect(Sanitizer.body("a\r\nb\u{2029}c\u{B}d\re\u{1B}\n\u{202E}") == "a\nb\nc\nd\ne\n")
  }

  @Test func `stacked marks stay in their cell`() {
    let text = Sanitizer.line("z" + String(repeating: "\u{300}", count: 1_000))
    #expect(text.unicodeScalars.count == Sanitizer.maximumScalarsPerCharacter)
  }

  @Test(arguments: ["\u{0}", "\u{15}", "\u{202E}", "\u{200B}", "\t", "\n"])
  func `nothing between stacked marks has them leave their cell`(_ separator: String) {
    let marks = String(repeating: "\u{300}", count: 15)
    let text = Sanitizer.line("z" + String(repeating: marks + separator, count: 100) + "a\u{300}b")
    #expect(text.allSatisfy { $0.unicodeScalars.count <= Sanitizer.maximumScalarsPerCharacter })
    #expect(text.unicodeScalars.suffix(3).elementsEqual("a\u{300}b".unicodeScalars))
  }

  @Test func `every scalar that a terminal obeys is removed`() {
    let orders: [UInt32] = [0x61C, 0x200E, 0x200F] + Array(0x202A...0x202E) + Array(0x2066...0x2069)
    for value in Array(UInt32(0)..<0x20) + Array(0x7F..<0xA0) + orders {
      let scalar = Unicode.Scalar(value)!
      #expect(!Sanitizer.line("a\(scalar)b").unicodeScalars.contains(scalar))
      #expect(!Sanitizer.body("a\(scalar)b").unicodeScalars.contains(scalar) || scalar == "\n")
    }
  }

  @Test(
    arguments: [0x3164, 0x115F, 0x1160, 0xFFA0, 0xFE00, 0xFE0E, 0xFE0F, 0xE0100, 0x34F, 0x200B, 0x2060, 0x180E]
      as [UInt32])
  func `what takes space and shows nothing is removed`(_ value: UInt32) {
    let scalar = Unicode.Scalar(value)!
    #expect(Sanitizer.line("a\(scalar)b") == "ab")
    #expect(Sanitizer.line("\(scalar)").isEmpty)
  }

  @Test(arguments: ["❤️", "❤︎", "1️⃣", "👩🏽‍🚀", "👁️‍🗨️", "می‌خواهم", "한국어", "ⓂⓂ️"]) func `what emoji and scripts need stays`(
    _ text: String
  ) {
    #expect(Sanitizer.line(text).unicodeScalars.elementsEqual(text.unicodeScalars))
  }

  @Test func `a digit alone has no variation selector`() {
    #expect(Sanitizer.line("1\u{FE0F}2").unicodeScalars.elementsEqual("12".unicodeScalars))
  }

  @Test func `JSON for a terminal is the same value without controls`() {
    let json = Array("{\"a\":\"x\u{9B}2J\u{202E}\u{7F}é👍\"}\n".utf8)
    #expect(
      String(decoding: Sanitizer.escaped(json: json), as: UTF8.self)
        == "{\"a\":\"x\\u009b2J\\u202e\\u007fé👍\"}\n")
    #expect(Sanitizer.escaped(json: Array("{}\n".utf8)) == Array("{}\n".utf8))
  }

  @Test func `a log's text is one line that hides nothing`() {
    #expect(Sanitizer.escaped("a\n2026 error\u{1B}]0;x\u{7}\u{200F}b") == #"a\u{a}2026 error\u{1b}]0;x\u{7}\u{200f}b"#)
    #expect(Sanitizer.escaped("plain é 👩‍🚀") == "plain é 👩‍🚀")
  }

  @Test func `a prefix ends between characters`() {
    #expect(Sanitizer.prefix("aé👍", maximumSize: 6) == "aé")
    #expect(Sanitizer.prefix("aé👍", maximumSize: 7) == "aé👍")
    #expect(Sanitizer.prefix("👍", maximumSize: 3).isEmpty)
  }
}
