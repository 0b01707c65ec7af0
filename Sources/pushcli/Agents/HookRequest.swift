import PushPolicy
import TerminalUI

/// The permission request of a coding agent, as the texts of a question.
struct HookRequest: Sendable {
  let format: HookFormat
  /// The tool in one line.
  let title: String
  /// The command or the file, the other arguments, and the agent's folder. A long text is cut, so that a payload can
  /// contain it.
  let body: String

  static let actions = [
    AlertAction(id: "allow", title: "Allow"), AlertAction(id: "deny", title: "Deny", isDestructive: true),
  ]

  /// The arguments that name the effect of a tool. They are shown first.
  private static let leading = ["command", "file_path", "notebook_path", "path", "url", "pattern", "query"]
  /// The maximum sizes of the texts in a payload, in bytes of JSON. Together with the other members, a payload has at
  /// most 4,096 bytes.
  private static let sizes = (tool: 200, body: 2900, argument: 400, folder: 400)

  /// Parses the agent's input.
  ///
  /// - Throws: ``CommandFailure`` if the input is not JSON, or not a permission request.
  init(parsing bytes: [UInt8]) throws(CommandFailure) {
    let input: Input
    do {
      input = try JSONParser().parse(bytes.span) { Input($0) }
    } catch {
      throw CommandFailure(.failed, "the agent's request is not JSON: \(error.message)")
    }
    guard let format = HookFormat.all.first(where: { $0.event == input.event }) else {
      let found = input.event.map { "is \"\($0)\"" } ?? "is missing"
      let expected = HookFormat.all.map(\.event).joined(separator: " or ")
      throw CommandFailure(.failed, "the agent's request: hook_event_name \(found), expected \(expected)")
    }
    guard let tool = input.tool, !tool.isEmpty else {
      throw CommandFailure(.failed, "the agent's request: tool_name is missing, expected the name of a tool")
    }
    self.format = format
    title = "Allow \(HookRequest.cut(Sanitizer.line(tool), to: HookRequest.sizes.tool))?"
    let text = HookRequest.cut(HookRequest.text(of: input.arguments), to: HookRequest.sizes.body)
    let folder = input.folder.map { ["in " + HookRequest.cut($0, to: HookRequest.sizes.folder)] } ?? []
    body = ([text].filter { !$0.isEmpty } + folder).joined(separator: "\n")
  }

  /// Returns the arguments as lines. An argument that alone names the effect has no label.
  private static func text(of arguments: [(name: String, text: String)]) -> String {
    let first = arguments.filter { leading.contains($0.name) }
    let others = arguments.filter { !leading.contains($0.name) }
    let heads = first.count == 1 ? first.map(\.text) : first.map { "\($0.name): \($0.text)" }
    return (heads + others.map { "\($0.name): \(cut($0.text, to: sizes.argument))" }).joined(separator: "\n")
  }

  /// Cuts a text to a size in bytes of JSON, and names the number of bytes that are missing.
  static func cut(_ text: String, to maximumSize: Int) -> String {
    var size = 0
    let excess = text.unicodeScalars.firstIndex { scalar in
      size += jsonSize(scalar)
      return size > maximumSize
    }
    guard let end = excess else { return text }
    return "\(text[..<end])… (\(text.utf8[end...].count) more bytes)"
  }

  /// Returns the size of a character in a JSON string; at most this, if it is escaped.
  private static func jsonSize(_ scalar: Unicode.Scalar) -> Int {
    ReadingSteps.add()
    return switch scalar.value {
    case 0x22, 0x5C: 2
    case ..<0x20, 0x7F: 6
    default: UTF8.width(scalar)
    }
  }
}

/// The members of an agent's request that a question shows.
private struct Input {
  var event, tool, folder: String?
  /// The arguments of the tool as texts; lists and objects are abbreviated.
  var arguments: [(name: String, text: String)] = []

  init(_ root: JSONElement) {
    event = root["hook_event_name"]?.string
    tool = root["tool_name"]?.string
    folder = root["cwd"]?.string
    var found: [(name: String, text: String)] = []
    root["tool_input"]?.forEachMember { name, value in
      if let text = Input.text(value) { found.append((name, text)) }
    }
    arguments = found
  }

  private static func text(_ value: JSONElement) -> String? {
    switch value.kind {
    case .null: nil
    case .bool: value.boolean == true ? "true" : "false"
    case .integer: value.integer.map { "\($0)" } ?? value.double.map { "\($0)" }
    case .double: value.double.map { "\($0)" }
    case .string: value.string
    case .array: "[…]"
    case .object: "{…}"
    }
  }
}
