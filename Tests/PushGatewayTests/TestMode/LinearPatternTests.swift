import Testing

@testable import PushGateway

@Suite(.timeLimit(.minutes(5))) struct LinearPatternTests {
  @Test(arguments: [
    ("Train", "a Train", true), ("^Train", "a Train", false), ("in$", "Train in", true), ("in$", "Train in 5", false),
    ("^$", "", true), ("", "any", true), ("a.c", "abc", true), ("a.c", "ac", false), ("ab*c", "ac", true),
    ("ab+c", "ac", false), ("ab+c", "abbbc", true), ("ab?c", "abbc", false), ("^a{2,3}$", "aa", true),
    ("^a{2,3}$", "aaaa", false), ("^a{2}$", "aaa", false), ("^a{2,}$", "aaaaa", true), ("^(ab|cd)+$", "abcdab", true),
    ("^(ab|cd)+$", "abc", false), ("^[0-9]+ min$", "15 min", true), ("[^a-z]", "abc", false), ("[^a-z]", "aBc", true),
    (#"^\d\d:\d\d$"#, "18:05", true), (#"^\w+\s\w+$"#, "Bäcker eins", true), (#"\."#, "abc", false),
    (#"\S"#, " \t", false), (#"[\d-]+$"#, "5-6", true), ("[]a]", "]", true), ("x|", "", true), ("日本+", "日本本", true),
    ("(a*)*b", "aaaa", false), ("(a|a)*$", "aaaa", true),
  ])
  func `a pattern is found in a text`(_ pattern: String, _ text: String, _ isFound: Bool) throws {
    #expect(try LinearPattern(pattern).isFound(in: text) == isFound)
  }

  @Test(arguments: [
    "(", ")", "a)", "[", "[a", "*", "a**", "+", "a{", "a{x}", "a{3,2}", "a{256}", "{2}", #"\"#, #"\1"#, #"\b"#, "(?:a)",
    "[z-a]", #"[\D]"#, "((a{99}){99}){99}", "((((){255}){255}){255}){255}",
    String(repeating: "(", count: 200), String(repeating: "a", count: 257),
  ])
  func `a pattern that is not supported or too large is refused`(_ pattern: String) {
    #expect(throws: LinearPattern.SyntaxError.self) { try LinearPattern(pattern) }
  }

  @Test func `a pattern that backtracks elsewhere takes linear time`() throws {
    let pattern = try LinearPattern(String(repeating: "a?", count: 100) + String(repeating: "a", count: 50))
    #expect(pattern.isFound(in: String(repeating: "a", count: 5000)))
    #expect(!pattern.isFound(in: String(repeating: "ab", count: 2500)))
    #expect(try !LinearPattern("^(a+)+$").isFound(in: String(repeating: "a", count: 5000) + "b"))
  }

  @Test func `all searches of a pattern share its steps`() throws {
    let pattern = try LinearPattern("a*b", steps: 1000)
    let text = String(repeating: "a", count: 100)
    var searches = 0
    while !pattern.isExhausted, searches < 1000 {
      #expect(!pattern.isFound(in: text))
      searches += 1
    }
    #expect(searches == 2)
    #expect(!pattern.isFound(in: "b"))
    #expect(try LinearPattern("a*b", steps: 1000).isFound(in: "b"))
  }
}
