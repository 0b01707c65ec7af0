import Testing

@testable import PushPolicy

#if DEBUG
  /// The cost of a verdict is at most proportional to the size of the text, for any text. The tests count steps instead
  /// of time.
  @Suite struct AdCostTests {
    private let detector = AdDetector()

    /// Texts that cause the longest look-ahead or look-back of each part. Each is repeated to a size.
    static let patterns: [(name: String, text: String)] = [
      ("dots between letters", "a."), ("dots between words", "abc."), ("dots and digits", "1.a."),
      ("an end of a domain", "x.com."),
      ("no end of a domain", "x.c/."), ("hyphens", "a-"), ("hyphens between words", "abc-de-"), ("at signs", "a@"),
      ("addresses", "a@b.c"), ("brackets", "(["), ("brackets round letters", "(a)"), ("apostrophes", "a'"),
      ("stars", "f*r*e*e "),
      ("two signs", "a**"), ("spelled words", "f r e e "), ("spaces", " "), ("letters", "a"),
      ("triple letters", "aaab"),
      ("leet digits", "1a"), ("digits without letters", "2a"), ("long numbers", "1234567 "), ("digits", "1"),
      ("digits and colons", "1:"), ("single digits", "1 "), ("signs for letters", "$a"), ("signs", "$"),
      ("at and dollar", "@$"),
      ("look-alikes", "ѕаⅼе."), ("full width", "ｆｒｅｅ．"), ("marks", "e\u{301}\u{302}"), ("zero width", "a\u{200B}."),
      ("emoji", "🆓"),
      ("ligatures", "ﬃ."), ("ideographs", "优惠"), ("ideographs with stops", "优.惠，"), ("split ideographs", "亻尤"),
      ("http", "http:"),
      ("www", "www."), ("almost identifiers", "12345678-"), ("offers", "Flash sale 50% off. "),
      ("offers side by side", "sale "),
      ("offers between others", "sale x1 "), ("Chinese offers", "限时特惠，全场五折起"), ("quotes", "\""),
      ("slashes", "a/b.com/"), ("overrides", "\u{202E}ab"), ("ends of overrides", "\u{202E}ab\u{202C}"),
      ("ones for l", "sa1e"), ("kana", "の优惠"),
    ]

    private static func text(_ pattern: String, size: Int) -> String {
      String(repeating: pattern, count: size / pattern.utf8.count + 1)
    }

    private func cost(_ work: () -> Void) -> Int {
      let before = detector.reader.steps
      work()
      return detector.reader.steps - before
    }

    @Test(arguments: patterns.map(\.name)) func `a verdict takes steps in proportion to the text`(_ name: String) throws
    {
      let pattern = try #require(Self.patterns.first { $0.name == name }).text
      for size in [1, 2, 4, 8] {
        let text = Self.text(pattern, size: size << 10)
        let steps = cost { _ = detector.assess([text]) }
        // At most nine steps per byte, at every size.
        #expect(steps <= 9 * text.utf8.count, "\(size) KB: \(steps)")
      }
    }

    @Test(arguments: patterns.map(\.name)) func `an explanation takes a bounded number of verdicts`(_ name: String)
      throws
    {
      let pattern = try #require(Self.patterns.first { $0.name == name }).text
      let text = Self.text(pattern, size: 2 << 10)
      // The offers at both ends make an ad of most of the texts.
      let texts = [AdDetectorTests.ads[0] + " " + text, text + " " + AdDetectorTests.ads[4]]
      #expect(cost { _ = detector.explain(texts) } <= 150 * texts.reduce(0) { $0 + $1.utf8.count })
    }

    @Test func `a thousand texts that are ads are explained in a bounded number of verdicts`() {
      let texts = Array(repeating: "sale", count: 1000) + AdDetectorTests.ads
      #expect(cost { _ = detector.explain(texts) } <= 150 * texts.reduce(0) { $0 + $1.utf8.count })
    }
  }
#endif
