import PushTesting
import Testing

@testable import PushCore

#if DEBUG
  /// For any input, a parser takes a number of steps in proportion to the size of the input.
  @Suite struct ReadingCostTests {
    private static let parsers = [
      CountedParser("digits of base64", repeating: "A", by: readBase64),
      CountedParser("padding of base64", "A", repeating: "=", by: readBase64),
      CountedParser("a time with a long number", repeating: "1", "s", by: readTime),
      CountedParser("a time with points", repeating: ".", "ms", by: readTime),
      CountedParser("a list in JSON", "[", repeating: "1,", "1]", by: readJSON),
      CountedParser("nested lists in JSON", repeating: "[", by: readJSON),
      CountedParser("an error at the end of JSON", "[", repeating: "1,", "x", by: readJSON),
      CountedParser("aliases of YAML", repeating: "*a ", by: readAliases),
      CountedParser("asterisks of YAML", repeating: "*", by: readAliases),
    ]

    private static func readBase64(_ bytes: [UInt8]) { _ = Base64URL.decode(bytes) }
    private static func readTime(_ bytes: [UInt8]) { _ = TimeSpan(String(decoding: bytes, as: UTF8.self)) }
    private static func readJSON(_ bytes: [UInt8]) { _ = try? decodeJSON([Int].self, from: bytes) }
    private static func readAliases(_ bytes: [UInt8]) {
      _ = YAMLAliases.areTooMany(in: String(decoding: bytes, as: UTF8.self))
    }

    @Test(arguments: parsers) func `a parser takes steps in proportion to its input`(_ parser: CountedParser) {
      let steps = parser.stepsPerByte
      // A parser that compared all pieces of an input with each other would take hundreds.
      #expect(steps.allSatisfy { $0 > 0 && $0 <= 40 }, "\(steps)")
    }
  }
#endif
