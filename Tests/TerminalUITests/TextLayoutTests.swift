import Testing

@testable import TerminalUI

@Suite struct TextLayoutTests {
  @Test(arguments: [
    ("", 5, []), ("one two", 7, ["one two"]), ("one two", 6, ["one", "two"]), ("aaa bbb ccc", 7, ["aaa bbb", "ccc"]),
    ("abcdefgh", 3, ["abc", "def", "gh"]), ("a bcdefgh", 4, ["a", "bcde", "fgh"]), ("你好世界", 5, ["你好", "世界"]),
    ("ab你好", 5, ["ab你", "好"]), ("a\n\nb\n", 5, ["a", "", "b"]), ("x   y", 2, ["x", "y"]), ("👩‍💻👩‍💻", 3, ["👩‍💻", "👩‍💻"]),
  ])
  func `lines break at spaces, beside wide characters, and else where they must`(
    _ text: String,
    _ columns: Int,
    _ lines: [String]
  ) {
    #expect(TextLayout.wrapped(text, columns: columns) == lines)
  }

  /// A letter with several skin-tone modifiers is one grapheme cluster.
  @Test func `a cluster that is wider than a line is replaced`() {
    let cluster = "d" + String(repeating: "\u{1F3FD}", count: 4)
    #expect(cluster.count == 1 && DisplayWidth.of(cluster) == 9)
    #expect(TextLayout.wrapped("a \(cluster) b", columns: 7) == ["a \u{FFFD} b"])
    #expect(TextLayout.wrapped("世", columns: 1) == ["\u{FFFD}"])
  }

  @Test func `what does not fit is told by an ellipsis`() {
    #expect(TextLayout.wrapped("one two three", columns: 5, maximumLines: 2) == ["one", "two…"])
    #expect(TextLayout.wrapped("abcdefgh", columns: 4, maximumLines: 1) == ["abc…"])
    #expect(TextLayout.truncated("Family Album", columns: 8) == "Family…")
    #expect(TextLayout.truncated("你好世界", columns: 6) == "你好…")
    #expect(TextLayout.truncated("exact", columns: 5) == "exact")
    #expect(TextLayout.truncated("exact", columns: 0) == "")
  }

  @Test func `no line is ever wider than asked`() {
    let text = "A 👨‍👩‍👧 family   of 你好世界 and e\u{301}é averyveryverylongword\nnext\u{1B}[2J 🇨🇱🇨🇱🇨🇱"
    for columns in 2...40 {
      for line in TextLayout.wrapped(text, columns: columns) {
        #expect(DisplayWidth.of(line) <= columns)
        #expect(line.last != " ")
      }
    }
  }
}
