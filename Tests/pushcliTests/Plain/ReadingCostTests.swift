import PushTesting
import Testing

@testable import pushcli

#if DEBUG
  /// For any input, a parser takes a number of steps in proportion to the size of the input.
  @Suite struct ReadingCostTests {
    private static let parsers = [
      CountedParser("numbers", "clear ", repeating: "1 ", by: read),
      CountedParser("ranges", "clear ", repeating: "1-9,", by: read),
      CountedParser("large ranges", "clear ", repeating: "1-5000 ", by: read),
      CountedParser("ends of ranges", "clear 1", repeating: "-1", by: read),
      CountedParser("spaces", repeating: " ", by: read),
      CountedParser("spaces after a word", "open", repeating: " ", "x", by: read),
      CountedParser("words of a search", "/", repeating: "train ", by: read),
      CountedParser("a long number", repeating: "1", by: read),
      CountedParser("control characters", repeating: "\u{1B}[A", by: read),
    ]

    private static func read(_ bytes: [UInt8]) { _ = PlainLine(String(decoding: bytes, as: UTF8.self)) }

    @Test(arguments: parsers) func `a parser takes steps in proportion to its input`(_ parser: CountedParser) {
      let steps = parser.stepsPerByte
      // A parser that compared all pieces of an input with each other would take hundreds.
      #expect(steps.allSatisfy { $0 > 0 && $0 <= 40 }, "\(steps)")
    }
  }
#endif
