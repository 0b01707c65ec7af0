import PushCore
import PushPolicy

/// A message in the form of Gotify's `POST /message`: JSON or a form.
struct GotifyMessage: Sendable {
  let title: String?
  let message: String
  /// Usually from 0 to 10.
  let priority: Int
  /// The address that a click opens, from the extras.
  let click: String?
  let sent: SentMessage

  /// The priority of a message without one: with alert and sound.
  private static let standardPriority = 5

  private struct Input {
    var title: String?
    var message: String?
    var priority: String?
    var click: String?
  }

  /// Decodes a request.
  ///
  /// - Parameter now: seconds since 1970.
  init(_ request: ControlRequest, parser: JSONParser, now: Int64) throws(MessageRefusal) {
    let input = try GotifyMessage.input(of: request, parser)
    guard let text = input.message, !text.isEmpty else { throw .badMessage("Field 'message' is required") }
    guard let number = Int(input.priority ?? "\(GotifyMessage.standardPriority)") else {
      throw .badMessage("priority: expected a whole number from 0 to 10")
    }
    (title, message, priority, click) = (input.title, text, number, input.click)
    let urgency: MessageUrgency =
      switch number {
      case ...3: .quiet
      case 4...7: .normal
      default: .urgent
      }
    var fields = urgency.fields
    fields[.title] = input.title
    fields[.body] = text
    if let click = input.click {
      if SentMessage.isLink(click) { fields[.link] = click } else { fields[.body] = "\(text)\nLink: \(click)" }
    }
    sent = try SentMessage(fields, now: now)
  }

  /// Returns the token of a request: in the query, in the field `x-gotify-key`, or after `Bearer`.
  static func token(of request: ControlRequest) -> String? {
    FormData.fields(Array(request.queryText.utf8)[...])["token"] ?? request.fields["x-gotify-key"] ?? request.bearer
  }

  // MARK: Forms of a body

  private static func input(of request: ControlRequest, _ parser: JSONParser) throws(MessageRefusal) -> Input {
    ReadingSteps.add(request.body.count)
    let contentType = request.fields["content-type"]
    var form = FormData.fields(Array(request.queryText.utf8)[...])
    switch SentMessage.mediaType(contentType) {
    case "application/json": return try members(of: request.body, parser)
    case "multipart/form-data":
      guard let fields = FormData.multipart(request.body, contentType: contentType ?? "") else {
        throw .badMessage("the body does not end with the boundary of its content type")
      }
      form.merge(fields) { _, new in new }
    case nil, "application/x-www-form-urlencoded":
      if SentMessage.isObject(request.body, parser) { return try members(of: request.body, parser) }
      form.merge(FormData.fields(request.body[...])) { _, new in new }
    case let type?:
      throw MessageRefusal(
        415, "UnsupportedContentType",
        "unsupported content type \(type.prefix(64)): expected application/json, multipart/form-data or "
          + "application/x-www-form-urlencoded")
    }
    return Input(title: form["title"], message: form["message"], priority: form["priority"])
  }

  /// Reads a JSON object; members of other names are ignored, as by Gotify.
  private static func members(of body: [UInt8], _ parser: JSONParser) throws(MessageRefusal) -> Input {
    do {
      return try parser.parse(body.span) { root in
        Input(
          title: root["title"]?.string, message: root["message"]?.string,
          priority: root["priority"]?.integer.map(String.init) ?? root["priority"]?.string,
          click: root["extras"]?["client::notification"]?["click"]?["url"]?.string)
      }
    } catch {
      throw .badMessage("the body is not JSON: \(error.message)")
    }
  }
}

/// The answer of Gotify to an accepted message.
struct GotifyAnswer: Sendable, Encodable {
  /// A number of 32 bits: the beginning of the push's id, because Gotify has no other ids.
  var id: Int
  var appid: Int64
  var message: String
  var title: String
  var priority: Int
  var date: String
  var extras: [String: [String: [String: String]]]?

  /// - Parameter now: milliseconds since 1970.
  init(_ message: GotifyMessage, id: String, app: AppID, now: Int64) {
    self.id = Int(id.prefix(8), radix: 16) ?? 0
    appid = app.row
    (self.message, title, priority) = (message.message, message.title ?? "", message.priority)
    date = Timestamp.text(now)
    extras = message.click.map { ["client::notification": ["click": ["url": $0]]] }
  }
}

/// The answer of Gotify to a refused message.
struct GotifyError: Sendable, Encodable {
  var error: String
  var errorCode: Int
  var errorDescription: String

  init(_ refusal: MessageRefusal) {
    error =
      switch refusal.status {
      case 400: "Bad Request"
      case 401: "Unauthorized"
      case 403: "Forbidden"
      case 404: "Not Found"
      case 405: "Method Not Allowed"
      case 409: "Conflict"
      case 410: "Gone"
      case 413: "Content Too Large"
      case 415: "Unsupported Media Type"
      case 429: "Too Many Requests"
      case 503: "Service Unavailable"
      default: "Internal Server Error"
      }
    (errorCode, errorDescription) = (refusal.status, refusal.message)
  }
}
