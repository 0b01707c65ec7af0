import Testing

@testable import PushPolicy

@Suite struct LocalizedTextTests {
  @Test(arguments: [
    ("KEY", ["a"], "KEY"), ("%@", ["a"], "a"), ("%@ and %@", ["a", "b"], "a and b"), ("%2$@ %1$@", ["a", "b"], "b a"),
    ("%@ %2$@ %@", ["a", "b"], "a b b"), ("%1$@%1$@", ["ä"], "ää"), ("%%@", ["a"], "%@"), ("100%%", [], "100%"),
    ("%10$@", ["a", "b", "c", "d", "e", "f", "g", "h", "i", "j"], "j"), ("é%@é", ["%@"], "é%@é"),
  ])
  func `a format is filled with its arguments`(_ format: String, _ arguments: [String], _ text: String) {
    #expect(LocalizedText.fill(format, with: arguments) == text)
  }

  @Test(arguments: [
    "%@", "%2$@", "%0$@", "%99999999999999999999$@", "%$@", "%", "%1", "%1$", "%d", "50% of", "%1@", "% @", "%-1$@",
  ])
  func `a place that no argument fills stays as it is`(_ format: String) {
    #expect(LocalizedText.fill(format, with: format == "%@" ? [] : ["a"]) == format)
  }

  /// The arguments that fill no place are the same for a text that happens to have them, since it is not searched.
  @Test(arguments: [
    ("K %@", ["a", "b"], ["b"]), ("K b", ["b"], ["b"]), ("%2$@", ["a", "b", "a"], ["a", "a"]),
    ("%1$@", ["a", "a"], []),
    ("%@", [""], []), ("%3$@", ["a"], ["a"]),
  ])
  func `arguments that fill no place are unused`(_ key: String, _ arguments: [String], _ unused: [String]) {
    #expect(LocalizedText(key: key, arguments: arguments).unusedArguments == unused)
    #expect(LocalizedText(plain: "a", arguments: ["a"]).unusedArguments == ["a"])
  }

  @Test func `arguments fill a text up to its maximum and no further`() {
    let kilobyte = String(repeating: "x", count: 1024)
    let format = String(repeating: "%1$@", count: 500)
    let text = LocalizedText.fill(format, with: [kilobyte])
    #expect(text.hasPrefix(String(repeating: kilobyte, count: 4) + "%1$@"))
    #expect(text.utf8.count == 4 * 1024 + 496 * 4)
  }
}
