import PushCore
import PushPolicy

/// The formats of webhooks: a table of functions from the body of a service to a message.
enum WebhookFormat {
  /// Reads the body of a webhook.
  ///
  /// - Throws: a refusal if it is not a body of the service.
  static func read(_ body: [UInt8], _ hook: Hook) throws(MessageRefusal) -> HookReading {
    ReadingSteps.add(body.count)
    let root: JSONValue
    do {
      // The parser of the event loop would keep the memory of the largest body.
      root = try JSONParser().parse(body.span) { JSONValue($0) }
    } catch {
      throw .badMessage("the body is not JSON: \(error.message)")
    }
    switch hook.kind {
    case .alertmanager, .grafana: return try AlertHooks.group(root)
    case .healthchecks: return try AlertHooks.check(root)
    case .github: return try GitHooks.github(root)
    case .gitlab: return try GitHooks.gitlab(root)
    case .json: return try json(root, hook.fields ?? [:])
    }
  }

  // MARK: Any JSON

  /// The fields that a webhook of any JSON can have in addition to the fields of a message.
  private enum Extra: String, CaseIterable { case subject, resolved }

  /// The names of the fields that a webhook of any JSON can have.
  static let fieldNames =
    HookMessage.Field.allCases.filter { $0 != .at && $0 != .delay }.map(\.rawValue) + Extra.allCases.map(\.rawValue)

  /// The values of the field `resolved` that end a subject.
  private static let endings: Set = ["true", "1", "ok", "up", "resolved", "success", "closed", "recovered"]

  private static func json(_ root: JSONValue, _ pointers: [String: String]) throws(MessageRefusal) -> HookReading {
    var fields: [HookMessage.Field: String?] = [:]
    for (name, pointer) in pointers {
      guard let field = HookMessage.Field(rawValue: name) else { continue }
      fields[field] = .some(root.value(at: pointer)?.shown)
    }
    func extra(_ field: Extra) -> String? {
      pointers[field.rawValue].flatMap { root.value(at: $0)?.shown }
    }
    let isResolved = extra(.resolved).map { endings.contains($0.lowercased()) } ?? false
    let message = HookMessage(subject: extra(.subject), isResolved: isResolved, fields)
    guard isResolved, message.subject == nil else { return .message(message) }
    return .ignored("a resolved event without a subject")
  }
}

extension JSONValue {
  /// The text of a string, a number or a boolean; nil for other values.
  fileprivate var shown: String? {
    switch self {
    case .string(let text): text
    case .integer(let number): String(number)
    case .number(let number): "\(number)"
    case .bool(let value): value ? "true" : "false"
    case .null, .array, .object: nil
    }
  }
}
