import PushTesting
import Testing

@testable import PushStorage

#if DEBUG
  /// For any input, a parser takes a number of steps in proportion to the size of the input.
  @Suite struct ReadingCostTests {
    private static let zeros = String(repeating: "\u{0}", count: 11)
    private static let parsers = [
      CountedParser("rows of another gateway", "\u{1}" + zeros.dropLast(3), repeating: "\u{1}" + zeros) { bytes in
        _ = LogPassage(bytes)
      },
      CountedParser(
        "changes of another gateway", #"{"schema":1,"changes":["#,
        repeating: #"{"table":"t","kind":"insert","key":{"id":1},"values":{"a":1}},"#,
        #"{"table":"t","kind":"insert","key":{},"values":{}}]}"#, by: readChanges),
      CountedParser(
        "a change of columns", #"{"schema":1,"changes":[{"table":"t","kind":"insert","key":{},"values":{"#,
        repeating: #""a":1,"#, #""b":1}}]}"#, by: readChanges),
    ]

    private static func readChanges(_ bytes: [UInt8]) {
      _ = ChangeSet.schema(of: bytes)
      _ = (try? ChangeSet(encoded: bytes))?.fault
    }

    @Test(arguments: parsers) func `a parser takes steps in proportion to its input`(_ parser: CountedParser) {
      let steps = parser.stepsPerByte
      // A parser that compared all pieces of an input with each other would take hundreds.
      #expect(steps.allSatisfy { $0 > 0 && $0 <= 40 }, "\(steps)")
    }
  }
#endif
