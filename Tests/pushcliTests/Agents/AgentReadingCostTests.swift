import PushTesting
import Testing

@testable import pushcli

#if DEBUG
  /// For any input, a parser takes a number of steps in proportion to the size of the input.
  @Suite struct AgentReadingCostTests {
    private static let request = #"{"hook_event_name":"PreToolUse","tool_name":"Bash","tool_input":{"#
    private static let call = #"{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"ask","arguments":{"#
    private static let parsers = [
      CountedParser("a hook's command", request + #""command":""#, repeating: "x", #""}}"#, by: readHook),
      CountedParser("a hook's arguments", request, repeating: #""a":"b","#, #""a":1}}"#, by: readHook),
      CountedParser("a hook's file", request + #""file_path":""#, repeating: #"\u0001"#, #""}}"#, by: readHook),
      CountedParser("a call's text", call + #""question":""#, repeating: "x", #""}}}"#, by: readCall),
      CountedParser("a call's arguments", call, repeating: #""a":"b","#, #""a":1}}}"#, by: readCall),
      CountedParser("a call's list", call + #""actions":["#, repeating: #""a","#, #""a"]}}}"#, by: readCall),
      CountedParser("a line without an end", "{", repeating: "[", by: readCall),
    ]

    private static func readHook(_ bytes: [UInt8]) { _ = try? HookRequest(parsing: bytes) }

    private static func readCall(_ bytes: [UInt8]) {
      var session = MCPSession()
      _ = session.take(.bytes(bytes))
    }

    @Test(arguments: parsers) func `a parser takes steps in proportion to its input`(_ parser: CountedParser) {
      let steps = parser.stepsPerByte
      #expect(steps.allSatisfy { $0 > 0 && $0 <= 40 }, "\(steps)")
    }
  }
#endif
