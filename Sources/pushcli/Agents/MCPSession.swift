import PushCore
import PushPolicy

/// A Model Context Protocol server on standard input and output, as a value: lines of the client become answers, and
/// calls of tools (specification 2025-06-18, <https://modelcontextprotocol.io/specification/2025-06-18>).
struct MCPSession {
  enum Effect: Equatable, Sendable {
    /// Writes a line, without its end.
    case write(String)
    /// Begins the call of a tool; ``end(_:_:)`` ends it.
    case begin(RPCID, MCPCall)
    /// Stops a call, which has no answer.
    case cancel(RPCID)
  }

  /// The result of a tool for the model.
  struct Result: Equatable, Sendable {
    var text: String
    var isError = false
  }

  /// The codes of JSON-RPC 2.0 (section 5.1).
  private enum ErrorCode: Int {
    case parse = -32700
    case request = -32600
    case method = -32601
    case parameters = -32602
  }

  /// The maximum size of a line in bytes. Payloads have 4,096 bytes, and requests are not much larger.
  static let maximumLineSize = 1 << 20
  /// The maximum number of open calls: each has a connection to the gateway, and a question on screens.
  static let maximumCalls = 16
  /// The supported versions, the latest first. Version 2025-03-26 requires batches, which no other version has.
  static let versions = ["2025-06-18", "2024-11-05"]

  private struct OpenCall {
    /// The token for messages about progress; nil if the client requests none.
    var token: RPCID?
    /// True for the tool `ask`.
    var isQuestion: Bool
    var isCanceled = false
  }

  /// The calls that have not ended, also canceled ones.
  private var open: [RPCID: OpenCall] = [:]

  /// True if no call is open.
  var isIdle: Bool { open.isEmpty }

  mutating func take(_ line: InputLines.Line) -> [Effect] {
    guard case .bytes(let bytes) = line else {
      let reason = "the line has more than \(MCPSession.maximumLineSize >> 20) MiB: expected a shorter request"
      return [.write(MCPSession.error(nil, .request, reason))]
    }
    if bytes.allSatisfy({ $0 == UInt8(ascii: " ") || $0 == UInt8(ascii: "\t") }) { return [] }
    let message: RPCMessage
    do {
      message = try RPCMessage(parsing: bytes)
    } catch {
      return [.write(MCPSession.error(nil, .parse, "the line is not JSON: \(error.message)"))]
    }
    switch message {
    case .request(let id, let method, let parameters): return [answer(id, method, parameters)]
    case .notification("notifications/cancelled", let parameters):
      guard let id = parameters.requestID, open[id]?.isCanceled == false else { return [] }
      open[id]?.isCanceled = true
      return [.cancel(id)]
    case .notification, .answer: return []
    case .invalid(let id, let reason): return [.write(MCPSession.error(id, .request, reason))]
    }
  }

  private mutating func answer(_ id: RPCID, _ method: String, _ parameters: RPCParameters) -> Effect {
    switch method {
    case "initialize":
      let version = jsonString(MCPSession.version(for: parameters.protocolVersion ?? ""))
      let server = "{\"name\":\"pushcli\",\"title\":\"PushGateway\",\"version\":\(jsonString(Version.text))}"
      let capabilities = "{\"tools\":{}}"
      return .write(
        MCPSession.result(
          id, "{\"protocolVersion\":\(version),\"capabilities\":\(capabilities),\"serverInfo\":\(server)}"))
    case "ping": return .write(MCPSession.result(id, "{}"))
    case "tools/list":
      let tools = MCPTool.all.map(\.json).joined(separator: ",")
      return .write(MCPSession.result(id, "{\"tools\":[\(tools)]}"))
    case "tools/call": return call(id, parameters)
    default:
      let expected = "expected initialize, ping, tools/list or tools/call"
      return .write(MCPSession.error(id, .method, "there is no method \(jsonString(method)): \(expected)"))
    }
  }

  private mutating func call(_ id: RPCID, _ parameters: RPCParameters) -> Effect {
    guard open[id] == nil else {
      return .write(MCPSession.error(id, .request, "a call with this id is open: expected a new id"))
    }
    guard let tool = MCPTool.all.first(where: { $0.name == parameters.name }) else {
      let names = MCPTool.all.map(\.name).joined(separator: " or ")
      let reason = "unknown tool \(jsonString(parameters.name ?? "")): expected \(names)"
      return .write(MCPSession.error(id, .parameters, reason))
    }
    guard let arguments = parameters.arguments else {
      return .write(MCPSession.error(id, .parameters, "the arguments of \(tool.name) are not an object"))
    }
    guard open.count < MCPSession.maximumCalls else {
      let reason = "\(MCPSession.maximumCalls) calls are open: repeat the call after the end of another one"
      return .write(MCPSession.result(id, MCPSession.content(Result(text: reason, isError: true))))
    }
    do {
      let call = try MCPCall(tool, arguments)
      open[id] = OpenCall(token: parameters.progressToken, isQuestion: tool.name == MCPTool.ask.name)
      return .begin(id, call)
    } catch {
      // The model reads this and can repeat the call; a protocol error would end in its client.
      return .write(MCPSession.result(id, MCPSession.content(Result(text: error.message, isError: true))))
    }
  }

  /// Ends a call; nil if it was canceled, which has no answer.
  mutating func end(_ id: RPCID, _ result: Result) -> String? {
    guard open.removeValue(forKey: id)?.isCanceled == false else { return nil }
    return MCPSession.result(id, MCPSession.content(result))
  }

  /// Returns the progress of an open call; nil if the client has not requested it, or has canceled the call.
  ///
  /// - Parameter seconds: the time since the begin of the call.
  func progress(_ id: RPCID, seconds: Int) -> String? {
    guard let call = open[id], !call.isCanceled, let token = call.token else { return nil }
    return "{\"jsonrpc\":\"2.0\",\"method\":\"notifications/progress\",\"params\":{\"progressToken\":\(token.json),"
      + "\"progress\":\(seconds),\"message\":\"no answer for \(seconds) seconds\"}}"
  }

  /// Cancels all open questions, since no answer can reach a client that is gone; messages are sent to their end.
  mutating func close() -> [Effect] {
    let questions = open.filter { $0.value.isQuestion && !$0.value.isCanceled }.map(\.key)
    for id in questions { open[id]?.isCanceled = true }
    return questions.map { Effect.cancel($0) }
  }

  /// Returns the latest supported version that is not later than a client's; for another text, the latest one. A client
  /// names its latest version, and supports earlier ones more often than later ones.
  static func version(for requested: String) -> String {
    versions.first { $0 <= requested } ?? versions[0]
  }

  private static func content(_ result: Result) -> String {
    "{\"content\":[{\"type\":\"text\",\"text\":\(jsonString(result.text))}],\"isError\":\(result.isError)}"
  }

  private static func result(_ id: RPCID, _ json: String) -> String {
    "{\"jsonrpc\":\"2.0\",\"id\":\(id.json),\"result\":\(json)}"
  }

  private static func error(_ id: RPCID?, _ code: ErrorCode, _ reason: String) -> String {
    "{\"jsonrpc\":\"2.0\",\"id\":\(id?.json ?? "null"),\"error\":{\"code\":\(code.rawValue),\"message\":\(jsonString(reason))}}"
  }
}
