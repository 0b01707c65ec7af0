import Foundation
import PushCore
import PushPolicy

/// A message in the form of ntfy's publish API: fields, parameters of the query and a text, or a JSON object.
///
/// Uses the names of ntfy (https://docs.ntfy.sh/publish/). Parameters that only change the presentation in ntfy's own
/// apps, such as an icon, are ignored.
struct NtfyMessage: Sendable {
  /// A parameter of the API.
  enum Parameter: String, CaseIterable, Sendable {
    case title, message, priority, tags, click, actions, delay, attach, filename, email, call, template

    /// The names in fields and in the query, the first with precedence.
    var names: [String] {
      switch self {
      case .title: ["x-title", "title", "t"]
      case .message: ["x-message", "message", "m"]
      case .priority: ["x-priority", "priority", "prio", "p"]
      case .tags: ["x-tags", "tags", "tag", "ta"]
      case .click: ["x-click", "click"]
      case .actions: ["x-actions", "actions", "action"]
      case .delay: ["x-delay", "delay", "x-at", "at", "x-in", "in"]
      case .attach: ["x-attach", "attach", "a"]
      case .filename: ["x-filename", "filename", "file", "f"]
      case .email: ["x-email", "x-e-mail", "email", "e-mail", "mail", "e"]
      case .call: ["x-call", "call"]
      case .template: ["x-template", "template", "tpl"]
      }
    }
  }

  /// The parameters of a request, decoded from all of its parts.
  private struct Input {
    var topic: String?
    /// The values, none of them empty.
    var texts: [Parameter: String] = [:]
    var tags: [String] = []
    var actions: [NtfyAction] = []
  }

  let topic: String
  /// The texts as they were sent, without additions for the alert.
  let title: String?
  let message: String
  /// From 1 to 5; nil for the default, 3.
  let priority: Int?
  let tags: [String]
  let click: String?
  /// The file of the message, or at an address.
  let attachment: NtfyAttachment?
  let sent: SentMessage

  /// The message of ntfy without a text.
  static let emptyText = "triggered"

  /// Decodes a request.
  ///
  /// - Parameters:
  ///   - topic: the topic in the path; nil if the body is a JSON object with the topic.
  ///   - now: seconds since 1970.
  init(_ request: ControlRequest, topic: String?, parser: JSONParser, now: Int64) throws(MessageRefusal) {
    var input = Input()
    try NtfyMessage.readParameters(request, parser, &input)
    var attachment: SentAttachment?
    if let topic {
      input.topic = topic
      try NtfyMessage.refuseUnsupported(input)
      if let name = NtfyMessage.fileName(request) {
        ReadingSteps.add(request.body.count)
        attachment = try SentAttachment(
          name: name, contentType: request.fields["content-type"], content: request.body)
      } else {
        try NtfyMessage.readText(request.body, parser, &input)
      }
    } else {
      try NtfyMessage.readJSON(request.body, parser, &input)
      try NtfyMessage.refuseUnsupported(input)
    }
    guard let name = input.topic, !name.isEmpty else {
      throw MessageRefusal(400, "BadTopic", "topic: expected the name of a sender (`pushcli senders`)")
    }
    self.topic = name
    (title, tags, click) = (input.texts[.title], input.tags, input.texts[.click])
    message = input.texts[.message] ?? attachment?.text ?? NtfyMessage.emptyText
    priority = try NtfyMessage.priority(input.texts[.priority])
    var fields = NtfyMessage.alert(input, title: title, message: message)
    fields.merge(NtfyMessage.urgency(priority).fields) { old, _ in old }
    if let delay = input.texts[.delay] {
      guard let time = NtfyDelay.time(delay, now: now) else {
        throw MessageRefusal(
          400, "BadDelay", "delay: expected a duration, as 30m or 2 hours, or seconds since 1970")
      }
      fields[.at] = String(time)
    }
    sent = try SentMessage(fields, attachment: attachment, now: now)
    self.attachment =
      if let attachment {
        NtfyAttachment(attachment.reference, expires: (sent.deliverAt ?? now) + Limits.attachmentLifetime)
      } else if let address = input.texts[.attach], SentMessage.isLink(address) {
        NtfyAttachment(at: address, name: input.texts[.filename].map(EncodedWords.decoded))
      } else {
        nil
      }
  }

  /// Returns the name of the file that the body of a request is; nil for a body with a message. With `attach`, the name
  /// belongs to a file at an address.
  static func fileName(_ request: ControlRequest) -> String? {
    let query = FormData.fields(Array(request.queryText.utf8)[...])
    guard value(.attach, request, query) == nil else { return nil }
    return value(.filename, request, query).map(EncodedWords.decoded)
  }

  // MARK: Credential

  /// Returns the token of a request: of `Bearer`, or the password of `Basic`, in the field `authorization` or, encoded
  /// once more, in the parameter `auth` of the query.
  static func token(of request: ControlRequest) -> String? {
    if let field = request.fields["authorization"] { return token(field) }
    let query = FormData.fields(Array(request.queryText.utf8)[...])
    guard let parameter = query["auth"] ?? query["authorization"], let bytes = Base64URL.decode(parameter.utf8) else {
      return nil
    }
    return token(String(decoding: bytes, as: UTF8.self))
  }

  private static func token(_ authorization: String) -> String? {
    let words = authorization.split(separator: " ", maxSplits: 1).map(String.init)
    guard words.count == 2 else { return nil }
    switch words[0].lowercased() {
    case "bearer": return words[1]
    case "basic":
      guard let bytes = Base64URL.decode(words[1].utf8) else { return nil }
      let sides = String(decoding: bytes, as: UTF8.self).split(
        separator: ":", maxSplits: 1, omittingEmptySubsequences: false)
      let password = sides.count > 1 ? String(sides[1]) : ""
      return password.isEmpty ? String(sides[0]) : password
    default: return nil
    }
  }

  // MARK: Parts of a request

  /// Reads the fields and the query. A field has precedence.
  private static func readParameters(
    _ request: ControlRequest, _ parser: JSONParser, _ input: inout Input
  ) throws(MessageRefusal) {
    let query = FormData.fields(Array(request.queryText.utf8)[...])
    func value(_ parameter: Parameter) -> String? { NtfyMessage.value(parameter, request, query) }
    for parameter in Parameter.allCases {
      switch parameter {
      case .title: input.texts[.title] = value(.title).map(EncodedWords.decoded)
      case .message:
        input.texts[.message] = value(.message).map { EncodedWords.decoded(unescaped($0)) }
      case .tags: input.tags = list(value(.tags) ?? "").map(EncodedWords.decoded)
      case .actions:
        if let text = value(.actions) { input.actions = try NtfyAction.list(text, parser: parser) }
      default: input.texts[parameter] = value(parameter)
      }
    }
  }

  private static func value(
    _ parameter: Parameter, _ request: ControlRequest, _ query: [String: String]
  ) -> String? {
    for values in [request.fields, query] {
      for name in parameter.names {
        if let text = values[name]?.trimmingCharacters(in: .whitespacesAndNewlines), !text.isEmpty { return text }
      }
    }
    return nil
  }

  /// Returns a text of one line with its line ends, which are written as `\n`.
  private static func unescaped(_ text: String) -> String { text.replacingOccurrences(of: "\\n", with: "\n") }

  private static func list(_ text: String) -> [String] {
    text.split(separator: ",").map { $0.trimmingCharacters(in: .whitespaces) }.filter { !$0.isEmpty }
  }

  /// Reads a body that is the text of the message, or the body of a webhook.
  private static func readText(
    _ body: [UInt8], _ parser: JSONParser, _ input: inout Input
  ) throws(MessageRefusal) {
    ReadingSteps.add(body.count)
    if let template = input.texts[.template], !["0", "no", "false"].contains(template.lowercased()) {
      guard template.lowercased() == "grafana" else {
        throw MessageRefusal(
          400, "BadTemplate", "template: expected grafana; templates of a sender or a file are not supported")
      }
      return try readGrafana(body, parser, &input)
    }
    guard let text = String(validating: body, as: UTF8.self) else {
      throw MessageRefusal(
        400, "NotUTF8", "the message is not valid UTF-8: send a file with its name in the header field filename")
    }
    let trimmed = text.trimmingCharacters(in: .whitespacesAndNewlines)
    if !trimmed.isEmpty { input.texts[.message] = trimmed }
  }

  /// Reads the title, the text and the state of a webhook of Grafana.
  private static func readGrafana(
    _ body: [UInt8], _ parser: JSONParser, _ input: inout Input
  ) throws(MessageRefusal) {
    var texts: (title: String?, message: String?, status: String?) = (nil, nil, nil)
    do {
      try parser.parse(body.span) { root in
        texts = (root["title"]?.string, root["message"]?.string, root["status"]?.string)
      }
    } catch {
      throw .badJSON("the body of the webhook is not JSON: \(error.message)")
    }
    guard texts.title != nil || texts.message != nil else {
      throw .badJSON("invalid webhook of Grafana: expected the members title and message")
    }
    switch texts.status {
    case "firing"?: input.tags.append("rotating_light")
    case "resolved"?: input.tags.append("white_check_mark")
    default: break
    }
    input.texts[.title] = input.texts[.title] ?? texts.title
    input.texts[.message] = texts.message.map { String($0.prefix(Limits.maximumTemplateText)) }
  }

  /// Reads a body that is a JSON object; its members have precedence.
  private static func readJSON(
    _ body: [UInt8], _ parser: JSONParser, _ input: inout Input
  ) throws(MessageRefusal) {
    var refusal: MessageRefusal?
    do {
      try parser.parse(body.span) { root in
        guard root.kind == .object else {
          refusal = .badJSON(#"the body is not a JSON object: expected one, as {"topic":"backup","message":"Done"}"#)
          return
        }
        root.forEachMember { name, value in
          guard refusal == nil, value.kind != .null else { return }
          do throws(MessageRefusal) {
            try readMember(name, value, &input)
          } catch {
            refusal = error
          }
        }
      }
    } catch {
      throw .badJSON("the body is not JSON: \(error.message)")
    }
    if let refusal { throw refusal }
  }

  private static func readMember(
    _ name: String, _ value: JSONElement, _ input: inout Input
  ) throws(MessageRefusal) {
    switch name {
    case "tags" where value.kind == .array:
      var tags: [String] = []
      value.forEachElement { if let tag = $0.string, !tag.isEmpty { tags.append(tag) } }
      if !tags.isEmpty { input.tags = tags }
    case "actions" where value.kind == .array:
      let actions = NtfyAction.list(value)
      try NtfyAction.check(actions)
      if !actions.isEmpty { input.actions = actions }
    case "topic": input.topic = value.string
    default:
      guard let parameter = Parameter(rawValue: name), parameter != .template else { return }
      guard let text = scalarText(value) else { throw .badJSON("\(name): expected a text") }
      if parameter == .tags {
        input.tags = list(text)
      } else if !text.isEmpty, parameter != .priority || text != "0" {
        input.texts[parameter] = text
      }
    }
  }

  /// Returns a text or a number as a text; nil for any other type.
  private static func scalarText(_ value: JSONElement) -> String? {
    value.string ?? value.integer.map(String.init) ?? value.double.map { "\($0)" }
  }

  /// Throws a refusal for an unsupported part of a message, which would otherwise be dropped.
  private static func refuseUnsupported(_ input: Input) throws(MessageRefusal) {
    if input.texts[.email] != nil {
      throw MessageRefusal(400, "NoEmail", "e-mail is not supported: omit the parameter email")
    }
    if input.texts[.call] != nil {
      throw MessageRefusal(400, "NoCalls", "phone calls are not supported: omit the parameter call")
    }
  }

  // MARK: The alert

  /// Returns a priority from 1 to 5; nil without one.
  private static func priority(_ text: String?) throws(MessageRefusal) -> Int? {
    switch text?.lowercased() {
    case nil, "0"?: return nil
    case "1"?, "min"?: return 1
    case "2"?, "low"?: return 2
    case "3"?, "default"?: return 3
    case "4"?, "high"?: return 4
    case "5"?, "max"?, "urgent"?: return 5
    // The field of RFC 9218, which proxies and browsers send.
    case let text? where text.hasPrefix("u=") || text == "i": return nil
    default:
      throw MessageRefusal(400, "BadPriority", "priority: expected 1 to 5, or min, low, default, high, max or urgent")
    }
  }

  private static func urgency(_ priority: Int?) -> MessageUrgency {
    switch priority ?? 3 {
    case ...2: .quiet
    case 3: .normal
    default: .urgent
    }
  }

  /// Returns the title, the text and the link. Tags with an emoji are before the title, or before the text if there is
  /// no title. Other tags, and addresses that are not the link, are lines after the text.
  private static func alert(
    _ input: Input, title: String?, message: String
  ) -> [SentMessage.Field: String] {
    let emoji = input.tags.compactMap { EmojiTags.emoji[$0] }.joined(separator: " ")
    let words = input.tags.filter { EmojiTags.emoji[$0] == nil }
    let prefix = emoji.isEmpty ? "" : emoji + " "
    var lines = [title == nil ? prefix + message : message]
    var link = input.texts[.click]
    if let click = link, !SentMessage.isLink(click) {
      lines.append("Link: \(click)")
      link = nil
    }
    for action in input.actions where action.kind == "view" {
      if link == nil, SentMessage.isLink(action.url) {
        link = action.url
      } else if action.url != link {
        lines.append("\(action.label): \(action.url)")
      }
    }
    if let attachment = input.texts[.attach] { lines.append("Attachment: \(attachment)") }
    if !words.isEmpty { lines.append("Tags: \(words.joined(separator: ", "))") }
    var fields: [SentMessage.Field: String] = [.body: lines.joined(separator: "\n")]
    if let title { fields[.title] = prefix + title }
    fields[.link] = link
    return fields
  }
}

extension MessageRefusal {
  fileprivate static func badJSON(_ message: String) -> MessageRefusal { MessageRefusal(400, "BadJSON", message) }
}
