import Testing

@testable import TerminalUI

@Suite struct SanitizerTests {
  @Test(arguments: [
    ("plain", "plain"), ("a\nb\r\nc\u{2028}d\u{85}e", "a b c d e"), ("a\tb", "a b"),
    ("\u{1B}[31mred\u{1B}[0m", "[31mred[0m"), ("\u{1B}]0;title\u{7}", "]0;title"), ("\u{9B}2J", "2J"),
    ("\u{90}q\u{9C}", "q"), ("a\u{0}\u{8}\u{7F}b", "ab"),
    ("user\u{202E}fdp.exe\u{202C}", "userfdp.exe"), ("\u{202A}\u{202B}\u{202D}x\u{2066}\u{2067}\u{2068}\u{2069}", "x"),
    ("\u{FEFF}a\u{AD}b\u{FFF9}c\u{E0041}", "abc"), ("🏴󠁧󠁢󠁳󠁣󠁴󠁿👨‍👩‍👧é你", "🏴󠁧󠁢󠁳󠁣󠁴󠁿👨‍👩‍👧é你"),
  ])
  func `one line keeps the words and nothing that controls`(_ text: String, _ clean: String) {
    #expect(Sanitizer.line(text) == clean)
  }

  @Test func `a body keeps its line breaks`() {
    #expect(Sanitizer.body("a\r\nb\u{2029}c\u{B}d\re\u{1B}\n\u{202E}") == "a\nb\nc\nd\ne\n")
  }

  @Test func `stacked marks stay in their cell`() {
    let text = Sanitizer.line("z" + String(repeating: "\u{300}", count: 1_000))
    #expect(text.unicodeScalars.count == Sanitizer.maximumScalarsPerCharacter)
  }

  @Test func `every scalar that a terminal obeys is removed`() {
    for value in Array(UInt32(0)..<0x20) + Array(0x7F..<0xA0) + Array(0x202A...0x202E) + Array(0x2066...0x2069) {
      let scalar = Unicode.Scalar(value)!
      #expect(!Sanitizer.line("a\(scalar)b").unicodeScalars.contains(scalar))
      #expect(!Sanitizer.body("a\(scalar)b").unicodeScalars.contains(scalar) || scalar == "\n")
    }
  }
}
