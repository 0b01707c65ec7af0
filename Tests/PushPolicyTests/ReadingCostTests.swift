import PushPolicy
import PushTesting
import Testing

#if DEBUG
  /// For any input, a parser takes a number of steps in proportion to the size of the input.
  @Suite struct ReadingCostTests {
    private static let members = #""x":1,"#
    private static let wrongMembers = #""badge":"x","#
    private static let parsers = [
      CountedParser("a payload of unknown members", #"{"aps":{"#, repeating: members, #""x":1}}"#, by: readPayload),
      CountedParser(
        "a payload of wrong members", #"{"aps":{"#, repeating: wrongMembers, #""badge":1}}"#, by: readPayload),
      CountedParser(
        "a payload of alerts", #"{"aps":{"#, repeating: #""alert":{"title":1},"#, #""badge":1}}"#, by: readPayload),
      CountedParser(
        "a payload of arguments", #"{"aps":{"alert":{"loc-args":["#, repeating: #""a","#, #""a"]}}}"#, by: readPayload),
      CountedParser(
        "a payload of places", #"{"aps":{"alert":{"loc-args":["a"],"loc-key":""#, repeating: "%1$@", #""}}}"#,
        by: readPayload),
      CountedParser(
        "a payload of escapes", #"{"aps":{"alert":""#, repeating: #"\u0061"#, #""}}"#, by: readPayload),
      CountedParser("a payload that is nested", repeating: "[", by: readPayload),
      CountedParser("a payload that is a list", "[", repeating: "1,", "1]", by: readPayload),
      CountedParser(
        "a payload with an error at its end", #"{"a":["#, repeating: #"{"b":1},"#, "x", by: readPayload),
      CountedParser("a file of unknown members", #"{"aps":{"#, repeating: members, #""x":1}}"#, by: lint),
      CountedParser("a file of wrong members", #"{"aps":{"#, repeating: wrongMembers, #""badge":1}}"#, by: lint),
      CountedParser(
        "a file of categories", #"{"categories":["#, repeating: #"{"id":"A","actions":[]},"#, "{}]}", by: lint),
      CountedParser("quiet hours with days", "22:00-07:00 ", repeating: "mon-sun,", "mon", by: readWindow),
      CountedParser("quiet hours with words", "22:00-07:00", repeating: " mon", by: readWindow),
      CountedParser("quiet hours with ends", "22:00", repeating: "-07:00", by: readWindow),
      CountedParser("times of a summary", repeating: "08:00,", "08:00", by: readTimes),
      CountedParser("topics of a Focus", "focus.work=", repeating: "a.b,", "a.b", by: assign),
      CountedParser("windows of quiet hours", "quiet=", repeating: "22:00-07:00 mon;", "22:00-07:00", by: assign),
    ]

    private static func readPayload(_ bytes: [UInt8]) { _ = try? JSONParser().payload(bytes.span) }
    private static func lint(_ bytes: [UInt8]) { _ = PayloadLint { $0.utf8.count }.findings(in: bytes) }
    private static func readWindow(_ bytes: [UInt8]) { _ = QuietWindow(String(decoding: bytes, as: UTF8.self)) }
    private static func assign(_ bytes: [UInt8]) {
      var preferences = Preferences()
      try? preferences.set(String(decoding: bytes, as: UTF8.self), app: nil, category: nil)
    }
    private static func readTimes(_ bytes: [UInt8]) { _ = SummaryTimes(String(decoding: bytes, as: UTF8.self)) }

    @Test(arguments: parsers) func `a parser takes steps in proportion to its input`(_ parser: CountedParser) {
      let steps = parser.stepsPerByte
      // A parser that compared all pieces of an input with each other would take hundreds.
      #expect(steps.allSatisfy { $0 > 0 && $0 <= 40 }, "\(steps)")
    }
  }
#endif
