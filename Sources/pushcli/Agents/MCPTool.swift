/// A tool of the Model Context Protocol server, as its clients see it. A row of ``all``.
struct MCPTool: Sendable {
  struct Argument: Sendable {
    var name: String
    var help: String
    /// The JSON schema without the description.
    var schema = "\"type\":\"string\""
    var isRequired = false
  }

  let name: String
  let title: String
  let help: String
  let arguments: [Argument]

  static let notify = MCPTool(
    name: "notify", title: "Notify the user",
    help: "Sends a message to the user's devices, and does not wait. Use it when a long task ends or fails.",
    arguments: [
      Argument(name: "message", help: "The message.", isRequired: true),
      Argument(name: "title", help: "A title of at most 40 characters, which says what happened."),
      Argument(
        name: "level", help: "How much it may interrupt the user: active if it is missing.",
        schema: "\"type\":\"string\",\"enum\":[\"passive\",\"active\",\"time-sensitive\"]"),
    ])

  static let ask = MCPTool(
    name: "ask", title: "Ask the user",
    help: "Shows a question with buttons on the user's devices, and waits for the answer. The result is JSON: outcome "
      + "is answered, closed, viewed, retracted, refused or timed out, and title is the text of the chosen button.",
    arguments: [
      Argument(name: "question", help: "The question, in at most 40 characters.", isRequired: true),
      Argument(name: "details", help: "More text, which the user needs for the answer."),
      Argument(
        name: "actions", help: "The texts of one to four buttons: Yes and No if they are missing.",
        schema: "\"type\":\"array\",\"items\":{\"type\":\"string\"},\"minItems\":1,\"maxItems\":4"),
      Argument(name: "timeout", help: "The time for an answer, such as 30s, 5m or 2h: 5m if it is missing."),
      Argument(name: "escalate_to", help: "A device or user to ask as well if the first one does not answer."),
      Argument(
        name: "after", help: "With escalate_to: the time until it is asked: 2m or half of timeout if it is missing."),
    ])

  static let all = [notify, ask]

  /// The tool as an element of the answer to `tools/list`.
  var json: String {
    let properties = arguments.map {
      "\(jsonString($0.name)):{\($0.schema),\"description\":\(jsonString($0.help))}"
    }
    let required = arguments.filter(\.isRequired).map { jsonString($0.name) }
    return "{\"name\":\(jsonString(name)),\"title\":\(jsonString(title)),\"description\":\(jsonString(help)),"
      + "\"inputSchema\":{\"type\":\"object\",\"properties\":{\(properties.joined(separator: ","))},"
      + "\"required\":[\(required.joined(separator: ","))],\"additionalProperties\":false}}"
  }
}

/// The call of a tool, with its arguments.
enum MCPCall: Equatable, Sendable {
  struct Message: Equatable, Sendable {
    var message: String
    var title: String?
    var level: String?
  }

  struct Question: Equatable, Sendable {
    var question: String
    var details: String?
    var actions = ["Yes", "No"]
    var timeout = "5m"
    var escalateTo: String?
    var after: String?
  }

  case notify(Message)
  case ask(Question)

  /// Checks the arguments of a tool.
  ///
  /// - Throws: ``CommandFailure`` for an argument that the tool does not have, or with a wrong value.
  init(_ tool: MCPTool, _ arguments: [String: RPCArgument]) throws(CommandFailure) {
    let given = MCPArguments(tool: tool, values: arguments)
    try given.check()
    if tool.name == MCPTool.notify.name {
      let levels = ["passive", "active", "time-sensitive"]
      self = .notify(
        Message(
          message: try given.text("message") ?? "", title: try given.text("title"),
          level: try given.text("level", of: levels)))
      return
    }
    var question = Question(question: try given.text("question") ?? "")
    question.details = try given.text("details")
    question.actions = try given.actions() ?? question.actions
    question.timeout = try given.text("timeout") ?? question.timeout
    question.escalateTo = try given.text("escalate_to")
    question.after = try given.text("after")
    guard question.after == nil || question.escalateTo != nil else {
      throw CommandFailure(.usage, "after is the time until escalate_to is asked: name a device or user there")
    }
    self = .ask(question)
  }
}

/// The arguments of a call, as they are checked.
private struct MCPArguments {
  let tool: MCPTool
  let values: [String: RPCArgument]

  /// The maximum number of actions, and the maximum size of a title in bytes, as the gateway accepts them.
  private static let limits = (actions: 4, title: 60)

  /// Checks the names of the arguments.
  func check() throws(CommandFailure) {
    let names = tool.arguments.map(\.name)
    if let unknown = values.keys.sorted().first(where: { !names.contains($0) }) {
      throw CommandFailure(
        .usage, "\(tool.name) has no argument \(jsonString(unknown)): expected \(names.joined(separator: ", "))")
    }
    for argument in tool.arguments where argument.isRequired {
      guard try text(argument.name)?.isEmpty == false else {
        throw CommandFailure(.usage, "\(argument.name) is missing or empty: \(tool.name) needs it")
      }
    }
  }

  /// Returns an argument that is a text; nil if it is not given.
  func text(_ name: String, of accepted: [String]? = nil) throws(CommandFailure) -> String? {
    guard let value = values[name] else { return nil }
    guard case .text(let text) = value else { throw CommandFailure(.usage, "\(name) is not a text: expected a string") }
    if let accepted, !accepted.contains(text) {
      throw CommandFailure(.usage, "\(name) is \(jsonString(text)): expected \(accepted.joined(separator: ", "))")
    }
    return text
  }

  /// Returns the titles of the actions; nil if they are not given.
  func actions() throws(CommandFailure) -> [String]? {
    guard let value = values["actions"] else { return nil }
    guard case .texts(let titles) = value, (1...MCPArguments.limits.actions).contains(titles.count),
      titles.allSatisfy({ (1...MCPArguments.limits.title).contains($0.utf8.count) })
    else {
      throw CommandFailure(
        .usage, "actions is invalid: expected one to four texts of at most \(MCPArguments.limits.title) bytes")
    }
    return titles
  }
}
