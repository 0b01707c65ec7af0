import PushPolicy
import PushTesting
import Testing

@testable import GatewayProtocol

#if DEBUG
  /// For any input, a parser takes a number of steps in proportion to the size of the input.
  @Suite struct ReadingCostTests {
    private static let members = #""x":1,"#
    private static let parsers = [
      CountedParser(
        "a device's line of members", #"{"type":"hello","#, repeating: members, #""cursor":1}"#, by: readDeviceLine),
      CountedParser(
        "a device's line of parts", #"{"type":"presented","id":"00000000-0000-4000-8000-000000000005","parts":["#,
        repeating: #""alert","#, #""alert"]}"#, by: readDeviceLine),
      CountedParser(
        "a device's line of digits", #"{"type":"ack","seq":"#, repeating: "1", "}", by: readDeviceLine),
      CountedParser("a device's line of text", #"{"type":""#, repeating: "ack", #""}"#, by: readDeviceLine),
      CountedParser(
        "a gateway's line of apps", #"{"type":"welcome","gateway":"g","device":"d","apps":["#,
        repeating: #"{"topic":"t","name":"n","icon":"i"},"#, #"{"topic":"t","name":"n","icon":"i"}]}"#,
        by: readGatewayLine),
      CountedParser(
        "a gateway's line of preferences", #"{"type":"preferences","preferences":{"apps":{"#,
        repeating: #""a":{"badge":false},"#, #""b":{}}}}"#, by: readGatewayLine),
      CountedParser(
        "a gateway's line of a push", #"{"type":"push","seq":7,"id":"x","topic":"t","payload":{"#, repeating: members,
        #""x":1}}"#, by: readGatewayLine),
    ]

    private static func readDeviceLine(_ bytes: [UInt8]) {
      _ = DeviceLine(bytes.span, parser: JSONParser(maximumDepth: JSONParser.maximumLineDepth))
    }

    private static func readGatewayLine(_ bytes: [UInt8]) {
      _ = GatewayLine(bytes.span, parser: JSONParser(maximumDepth: JSONParser.maximumLineDepth))
    }

    @Test(arguments: parsers) func `a parser takes steps in proportion to its input`(_ parser: CountedParser) {
      let steps = parser.stepsPerByte
      // A parser that compared all pieces of an input with each other would take hundreds.
      #expect(steps.allSatisfy { $0 > 0 && $0 <= 40 }, "\(steps)")
    }
  }
#endif
