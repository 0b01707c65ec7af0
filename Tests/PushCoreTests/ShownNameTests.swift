import PushCore
import Testing

@Suite struct ShownNameTests {
  @Test(arguments: ["ann", "Ann O'Neill", "安娜", "Zoë", "👩🏽‍🚀", "❤️", "می‌خواهم", String(repeating: "x", count: 64)])
  func `what can be shown is a name`(_ name: String) { #expect(ShownName.isValid(name)) }

  @Test(arguments: [
    "", "a\nb", "a\u{1B}]52;c;AA\u{7}", "a\u{9B}2J", "a\u{7F}", "a\u{202E}b", "a\u{200F}", "a\u{61C}", "\u{3164}",
    "a\u{115F}",
    "a\u{AD}b", "a\u{2028}b", "a\u{E0041}", String(repeating: "x", count: 65),
  ])
  func `what a terminal obeys, or does not show, is no name`(_ name: String) { #expect(!ShownName.isValid(name)) }
}
