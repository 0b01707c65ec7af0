import PushCore
import Testing

@testable import pushcli

@Suite struct MCPSessionTests {
  private func line(_ text: String) -> InputLines.Line { .bytes(Array(text.utf8)) }

  /// Returns the lines that the lines of a client cause.
  private func written(_ lines: String..., on session: inout MCPSession) -> [String] {
    lines.flatMap { session.take(line($0)) }.compactMap { effect -> String? in
      guard case .write(let text) = effect else { return nil }
      return text
    }
  }

  private func written(_ lines: String...) -> [String] {
    var session = MCPSession()
    return lines.flatMap { written($0, on: &session) }
  }

  private func call(_ id: String, _ tool: String, _ arguments: String, token: String? = nil) -> String {
    let meta = token.map { #","_meta":{"progressToken":\#($0)}"# } ?? ""
    return
      #"{"jsonrpc":"2.0","id":\#(id),"method":"tools/call","params":{"name":"\#(tool)","arguments":\#(arguments)\#(meta)}}"#
  }

  /// Returns the text of the result that a refused call has.
  private func refusal(_ tool: String, _ arguments: String) -> String {
    let lines = written(call("1", tool, arguments))
    #expect(lines.count == 1 && lines[0].hasSuffix(#"],"isError":true}}"#), "\(lines)")
    return lines.joined()
  }

  @Test func `a client begins, and sees the tools`() {
    let lines = written(
      #"{"jsonrpc":"2.0","id":0,"method":"initialize","params":{"protocolVersion":"2025-06-18","capabilities":{}}}"#,
      #"{"jsonrpc":"2.0","method":"notifications/initialized"}"#,
      #"{"jsonrpc":"2.0","id":"a","method":"ping"}"#,
      #"{"jsonrpc":"2.0","id":1,"method":"tools/list"}"#)
    #expect(
      lines.first
        == #"{"jsonrpc":"2.0","id":0,"result":{"protocolVersion":"2025-06-18","capabilities":{"tools":{}},"#
        + #""serverInfo":{"name":"pushcli","title":"PushGateway","version":"\#(Version.text)"}}}"#)
    #expect(lines[1] == #"{"jsonrpc":"2.0","id":"a","result":{}}"#)
    #expect(lines.count == 3 && lines[2].hasPrefix(#"{"jsonrpc":"2.0","id":1,"result":{"tools":[{"name":"notify","#))
    #expect(lines[2].contains(#"{"name":"ask","#) && lines[2].contains(#""required":["question"]"#))
  }

  @Test(
    arguments: [
      ("2025-06-18", "2025-06-18"), ("2024-11-05", "2024-11-05"), ("2025-11-25", "2025-06-18"),
      ("2025-03-26", "2024-11-05"), ("2023-01-01", "2025-06-18"), ("", "2025-06-18"), ("next", "2025-06-18"),
    ])
  func `the version is the latest that both have`(_ requested: String, _ version: String) {
    #expect(MCPSession.version(for: requested) == version)
  }

  @Test(
    arguments: [
      ("{", "null", -32700, "line 1, column 2"), ("\u{0}", "null", -32700, "not JSON"),
      (#"{"jsonrpc":"2.0","id":1e999,"method":"ping"}"#, "null", -32700, "not JSON"),
      ("7", "null", -32600, "one JSON object"), ("[]", "null", -32600, "one JSON object"),
      (#"{"id":1,"method":"ping"}"#, "1", -32600, "jsonrpc"),
      (#"{"jsonrpc":"2.0","id":1}"#, "1", -32600, "method"),
      (#"{"jsonrpc":"2.0","id":null,"method":"ping"}"#, "null", -32600, "an id"),
      (#"{"jsonrpc":"2.0","id":1.5,"method":"ping"}"#, "null", -32600, "an id"),
      (#"{"jsonrpc":"2.0","id":1,"method":"resources/list"}"#, "1", -32601, "resources/list"),
      (#"{"jsonrpc":"2.0","id":1,"method":"tools/call"}"#, "1", -32602, "notify or ask"),
      (#"{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"rm"}}"#, "1", -32602, "rm"),
      (
        #"{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"ask","arguments":[]}}"#, "1", -32602,
        "not an object"
      ),
    ] as [(String, String, Int, String)])
  func `a wrong line is answered with its error`(_ line: String, _ id: String, _ code: Int, _ words: String) {
    let lines = written(line)
    let start = #"{"jsonrpc":"2.0","id":\#(id),"error":{"code":\#(code),"message":"#
    #expect(lines.count == 1 && lines[0].hasPrefix(start))
    #expect(lines.joined().contains(words), "\(lines)")
  }

  @Test func `a line that is too long is answered, and the next line as well`() {
    var session = MCPSession()
    let effects = session.take(.tooLong)
    guard case .write(let text)? = effects.first else {
      Issue.record("\(effects)")
      return
    }
    #expect(effects.count == 1 && text.contains("-32600") && text.contains("1 MiB"))
    #expect(written(#"{"jsonrpc":"2.0","id":1,"method":"ping"}"#, on: &session).count == 1)
  }

  @Test(
    arguments: [
      "", " \t", #"{"jsonrpc":"2.0","method":"notifications/initialized"}"#, #"{"jsonrpc":"2.0","method":"unknown"}"#,
      #"{"jsonrpc":"2.0","id":1,"result":{}}"#, #"{"jsonrpc":"2.0","id":1,"error":{"code":1,"message":"x"}}"#,
      #"{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":9}}"#,
      #"{"jsonrpc":"2.0","method":"notifications/cancelled"}"#,
    ])
  func `a line without a request has no answer`(_ line: String) {
    var session = MCPSession()
    #expect(session.take(self.line(line)) == [])
  }

  @Test func `calls have the arguments of their tools`() {
    var session = MCPSession()
    #expect(
      session.take(line(call("1", "notify", #"{"message":"Done.","title":"Build","level":"passive"}"#)))
        == [.begin(.number(1), .notify(MCPCall.Message(message: "Done.", title: "Build", level: "passive")))])
    let question = MCPCall.Question(
      question: "Deploy?", details: "To production", actions: ["Deploy", "Wait"], timeout: "60", escalateTo: "bob",
      after: "10s")
    let arguments =
      #"{"question":"Deploy?","details":"To production","actions":["Deploy","Wait"],"timeout":60,"#
      + #""escalate_to":"bob","after":"10s"}"#
    #expect(session.take(line(call("\"b\"", "ask", arguments))) == [.begin(.text("b"), .ask(question))])
    let short = #"{"question":"Go on?","details":null,"actions":null}"#
    #expect(
      session.take(line(call("3", "ask", short))) == [.begin(.number(3), .ask(MCPCall.Question(question: "Go on?")))])
    #expect(MCPCall.Question(question: "Go on?").actions == ["Yes", "No"])
  }

  @Test(
    arguments: [
      ("notify", "{}", "message is missing"), ("notify", #"{"message":""}"#, "message is missing"),
      ("notify", #"{"message":["x"]}"#, "message is not a text"),
      ("notify", #"{"message":"x","level":"critical"}"#, "expected passive, active, time-sensitive"),
      ("notify", #"{"message":"x","to":"bob"}"#, "expected message, title, level"),
      ("ask", #"{"question":"x","actions":[]}"#, "one to four"),
      ("ask", #"{"question":"x","actions":["a","b","c","d","e"]}"#, "one to four"),
      ("ask", #"{"question":"x","actions":["a",1]}"#, "one to four"),
      ("ask", #"{"question":"x","actions":["a",""]}"#, "one to four"),
      ("ask", #"{"question":"x","actions":"Yes"}"#, "one to four"),
      ("ask", #"{"question":"x","timeout":0.5}"#, "timeout is not a text"),
      ("ask", #"{"question":"x","after":"1m"}"#, "escalate_to"),
    ])
  func `a wrong argument is a result that the model can read`(_ tool: String, _ arguments: String, _ words: String) {
    #expect(refusal(tool, arguments).contains(words))
  }

  @Test func `a call ends once, with its result`() {
    var session = MCPSession()
    #expect(session.isIdle)
    _ = session.take(line(call("1", "notify", #"{"message":"x"}"#)))
    #expect(!session.isIdle)
    #expect(
      session.end(.number(1), MCPSession.Result(text: "say \"hi\"\n"))
        == #"{"jsonrpc":"2.0","id":1,"result":{"content":[{"type":"text","text":"say \"hi\"\n"}],"isError":false}}"#)
    #expect(session.end(.number(1), MCPSession.Result(text: "again")) == nil)
    #expect(session.isIdle)
  }

  @Test func `a canceled call has no answer, and its id is free after its end`() {
    var session = MCPSession()
    let cancel = line(#"{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":1,"reason":"x"}}"#)
    _ = session.take(line(call("1", "ask", #"{"question":"x"}"#, token: "\"t\"")))
    #expect(session.take(cancel) == [.cancel(.number(1))])
    #expect(session.take(cancel) == [])
    #expect(session.progress(.number(1), seconds: 15) == nil)
    #expect(written(call("1", "ask", #"{"question":"x"}"#), on: &session).joined().contains("expected a new id"))
    #expect(session.end(.number(1), MCPSession.Result(text: "late")) == nil)
    #expect(session.take(line(call("1", "ask", #"{"question":"x"}"#))).count == 1)
  }

  @Test func `progress is reported if the client requests it`() {
    var session = MCPSession()
    _ = session.take(line(call("1", "ask", #"{"question":"x"}"#, token: "7")))
    _ = session.take(line(call("2", "ask", #"{"question":"x"}"#)))
    #expect(
      session.progress(.number(1), seconds: 15)
        == #"{"jsonrpc":"2.0","method":"notifications/progress","params":{"progressToken":7,"progress":15,"#
        + #""message":"no answer for 15 seconds"}}"#)
    #expect(session.progress(.number(2), seconds: 15) == nil)
    #expect(session.progress(.number(3), seconds: 15) == nil)
  }

  @Test func `the number of open calls is limited`() {
    var session = MCPSession()
    for id in 1...MCPSession.maximumCalls {
      #expect(session.take(line(call("\(id)", "ask", #"{"question":"x"}"#))).count == 1)
    }
    let refused = written(call("99", "ask", #"{"question":"x"}"#), on: &session).joined()
    #expect(refused.contains("16 calls are open") && refused.contains(#""isError":true"#))
    #expect(session.end(.number(99), MCPSession.Result(text: "x")) == nil)
    _ = session.end(.number(1), MCPSession.Result(text: "x"))
    #expect(written(call("99", "ask", #"{"question":"x"}"#), on: &session) == [])
  }

  @Test func `at the end of the input, questions are canceled and messages are sent`() {
    var session = MCPSession()
    _ = session.take(line(call("1", "ask", #"{"question":"x"}"#)))
    _ = session.take(line(call("2", "notify", #"{"message":"x"}"#)))
    #expect(session.close() == [.cancel(.number(1))])
    #expect(session.close() == [])
    #expect(session.end(.number(1), MCPSession.Result(text: "x")) == nil)
    #expect(session.end(.number(2), MCPSession.Result(text: "x")) != nil)
    #expect(session.isIdle)
  }
}
