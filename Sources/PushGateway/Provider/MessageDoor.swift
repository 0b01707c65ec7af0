import GatewayProtocol
import HTTP2Transport
import PushCore
import PushPolicy
import PushStorage

/// The form of a sender's request and of its answer.
///
/// The forms are this gateway's own (`POST /send/NAME`); ntfy and Gotify, for programs that send to these; the webhook of a
/// service (`POST /hooks/NAME`); a heartbeat (`/beat/NAME`), which has no message; and Web Push (`/webpush/ID`). A form
/// decodes a request to a ``SentMessage`` and encodes the answer. The steps between are the same for all forms.
enum MessageDoor: Sendable, CaseIterable {
  case own, heartbeat, ntfy, gotify, hook, webPush

  /// Returns the form of a request over HTTP/2; nil for any other request.
  init?(_ request: Message) {
    guard let door = MessageDoor.allCases.first(where: { request.has(.path, beginningWith: $0.prefix) }) else {
      return nil
    }
    self = door
  }

  /// Returns the form of a request by its path without the query; nil for any other request.
  init?(path: some StringProtocol) {
    guard let door = MessageDoor.allCases.first(where: { path.hasPrefix("\($0.prefix)") }) else { return nil }
    self = door
  }

  /// The beginning of the paths of its requests.
  private var prefix: StaticString {
    switch self {
    case .own: Paths.messages
    case .heartbeat: Paths.heartbeats
    case .ntfy: Paths.ntfy
    case .gotify: Paths.gotify
    case .hook: Paths.hooks
    case .webPush: Paths.webPush
    }
  }

  /// The maximum size of a request's body in bytes.
  var maximumBodySize: Int {
    switch self {
    case .own, .heartbeat: Limits.maximumMessageSize
    case .ntfy, .gotify: Limits.maximumForeignMessageSize
    case .hook: Limits.maximumHookSize
    case .webPush: Limits.maximumWebPushSize
    }
  }

  /// The methods of its requests.
  private var methods: [String] {
    switch self {
    case .own, .gotify, .hook: ["POST"]
    case .heartbeat: ["GET", "POST", "HEAD"]
    case .ntfy: ["POST", "PUT"]
    case .webPush: ["POST", "GET", "DELETE"]
    }
  }

  var tooLarge: MessageRefusal {
    switch self {
    case .own, .heartbeat: SentMessage.tooLarge
    case .ntfy, .gotify:
      MessageRefusal(
        413, "MessageTooLarge",
        "the request is too large: expected at most \(maximumBodySize) bytes, with at most \(Limits.maximumMessageSize) "
          + "bytes of title and text")
    case .hook, .webPush:
      MessageRefusal(
        413, "MessageTooLarge", "the request is too large: expected at most \(maximumBodySize) bytes")
    }
  }

  /// Checks the method and the path.
  func check(_ request: ControlRequest) throws(MessageRefusal) {
    if isForAccount(request) { return }
    guard methods.contains(request.method) || isForServer(request) else {
      throw MessageRefusal(
        405, "MethodNotAllowed",
        "send the \(self == .heartbeat ? "heartbeat" : "message") with the method \(methods.joined(separator: " or "))")
    }
    let isKnown =
      switch self {
      case .own, .heartbeat, .hook: true
      case .ntfy: topic(of: request) != nil || isForJSON(request)
      case .gotify: request.path == "\(Paths.gotify)"
      case .webPush: WebPushPath(request.path).map { ($0.message == nil) == (request.method == "POST") } ?? false
      }
    guard isKnown else {
      let expected =
        self == .webPush
        ? "the address of an endpoint for POST, or of a message for GET and DELETE"
        : "/ntfy/TOPIC, /ntfy or /gotify/message"
      throw MessageRefusal(404, "NotFound", "unknown path \(request.path.prefix(64)): expected \(expected)")
    }
  }

  /// Returns true for a request of ntfy about the server or an account. Only ``isForAccount(_:)`` has an answer; all others
  /// are unknown paths.
  private func isForServer(_ request: ControlRequest) -> Bool {
    self == .ntfy && request.path.hasPrefix("\(Paths.ntfy)/v1/")
  }

  /// Returns true for a request of ntfy for the account of a token, which Home Assistant sends before it is set up.
  private func isForAccount(_ request: ControlRequest) -> Bool {
    self == .ntfy && request.method == "GET" && request.path == "\(Paths.ntfy)/v1/account"
  }

  private func isForJSON(_ request: ControlRequest) -> Bool {
    request.path == "\(Paths.ntfy)" || request.path == "\(Paths.ntfy)/"
  }

  /// The topic in a path of ntfy; nil if the body has it.
  private func topic(of request: ControlRequest) -> String? {
    guard request.path.hasPrefix("\(Paths.ntfy)/") else { return nil }
    let topic = request.path.dropFirst(Paths.ntfy.utf8CodeUnitCount + 1)
    return topic.isEmpty || topic.contains("/") ? nil : String(topic)
  }

  /// Returns the name that the sender of a request must have; nil if the path has no name.
  func name(of request: ControlRequest) -> String? {
    switch self {
    case .own, .heartbeat, .hook: String(request.path.dropFirst(prefix.utf8CodeUnitCount))
    case .ntfy: topic(of: request)
    case .gotify, .webPush: nil
    }
  }

  /// Returns the credential of a request; nil without one.
  func credential(of request: ControlRequest) -> MessageCredential? {
    if self == .hook, let signature = HookSignature(request.fields["x-hub-signature-256"]) {
      return .signature(signature)
    }
    if self == .webPush { return WebPushPath(request.path).map { MessageCredential.endpoint($0.endpoint) } }
    let token: String? =
      switch self {
      case .own: request.bearer
      case .heartbeat: request.bearer ?? request.query["token"]
      case .ntfy: NtfyMessage.token(of: request)
      case .gotify: GotifyMessage.token(of: request)
      case .hook: request.bearer ?? request.fields["x-gitlab-token"] ?? request.query["token"]
      case .webPush: nil
      }
    return token.map(MessageCredential.token)
  }

  /// Returns true if a sender with this credential may use the form: a webhook has a form of its own, and sends a
  /// signature exactly if its service signs.
  func admits(_ sender: MessageSender, _ credential: MessageCredential) -> Bool {
    guard let hook = sender.hook else { return self != .hook }
    return self == .hook && hook.kind.isSigned == credential.isSignature
  }

  /// Decodes the request of a sender.
  ///
  /// - Parameter now: seconds since 1970.
  func content(
    of request: ControlRequest, of sender: MessageSender, parser: JSONParser, now: Int64
  ) throws(MessageRefusal) -> MessageContent {
    switch self {
    case .heartbeat: return .heartbeat
    case .own:
      return .message(
        .own(try SentMessage(request.body, contentType: request.fields["content-type"], parser: parser, now: now)))
    case .ntfy:
      if isForAccount(request) { return .account }
      let message = try NtfyMessage(request, topic: topic(of: request), parser: parser, now: now)
      guard message.topic == sender.name else { throw .unauthorized }
      return .message(.ntfy(message))
    case .gotify: return .message(.gotify(try GotifyMessage(request, parser: parser, now: now)))
    case .hook:
      guard let hook = sender.hook else { throw .unauthorized }
      return try MessageContent(WebhookFormat.read(request.body, hook), now: now)
    case .webPush:
      guard let endpoint = sender.endpoint, let path = WebPushPath(request.path) else { throw .unauthorized }
      guard let message = path.message else { return .message(.webPush(try WebPushMessage(request, to: endpoint))) }
      return request.method == "DELETE" ? .withdrawn(message) : .receipt(message)
    }
  }

  /// Returns the answer to a refused message.
  func response(to refusal: MessageRefusal) -> Response {
    var refusal = refusal
    // A device that is not registered for the app takes no further messages of a subscription.
    if self == .webPush, refusal.status == 409 { refusal.status = 410 }
    var response = refusal.response
    switch self {
    case .own, .heartbeat, .hook, .webPush: break
    case .ntfy: response.body = controlJSON(NtfyError(refusal))
    case .gotify: response.body = controlJSON(GotifyError(refusal))
    }
    return response
  }
}

/// The credential of a request, which shows that its sender has the token.
enum MessageCredential: Sendable {
  case token(String)
  /// A signature of the body with the token.
  case signature(HookSignature)
  /// The id of a Web Push endpoint.
  case endpoint(String)

  var isSignature: Bool { if case .signature = self { true } else { false } }
}

/// The content of a request of a sender.
enum MessageContent: Sendable {
  case message(ReceivedMessage)
  case heartbeat
  /// A request of ntfy for the account of the sender.
  case account
  /// An event of a service that makes no message, with its name.
  case ignored(String)
  /// The end of a subject of a webhook, with its identifier; nil if the service names none.
  case ended(String?)
  /// The withdrawal of a message by its `apns-id`.
  case withdrawn(APNSID)
  /// A request for the receipt of a message.
  case receipt(APNSID)

  /// Makes the content of a webhook.
  ///
  /// - Parameter now: seconds since 1970.
  init(_ reading: HookReading, now: Int64) throws(MessageRefusal) {
    switch reading {
    case .ignored(let event): self = .ignored(event)
    case .message(let message):
      let subject = message.subject.map(HookMessage.identifier)
      if message.isResolved {
        self = .ended(subject)
      } else {
        self = .message(.hook(try SentMessage(message.fields, now: now), subject: subject))
      }
    }
  }
}

/// A decoded message, with the texts that its answer repeats.
enum ReceivedMessage: Sendable {
  case own(SentMessage)
  case ntfy(NtfyMessage)
  case gotify(GotifyMessage)
  /// The message of a webhook, and the identifier of its subject: the message replaces the last one about this subject.
  /// The subject is nil for a message that replaces none.
  case hook(SentMessage, subject: String?)
  case webPush(WebPushMessage)

  /// The message for the recipients.
  var sent: SentMessage {
    switch self {
    case .own(let message), .hook(let message, _): message
    case .ntfy(let message): message.sent
    case .gotify(let message): message.sent
    case .webPush(let message): message.sent
    }
  }

  /// The `apns-collapse-id`; nil for none.
  var collapseID: String? { if case .webPush(let message) = self { message.collapseID } else { subject } }

  /// The `apns-priority`.
  var priority: UInt8 { if case .webPush(let message) = self { message.priority } else { 10 } }

  /// Returns the time at which the push expires, in seconds since 1970; 0 for a push that is never stored.
  func expires(now: Int64) -> Int64 {
    guard case .webPush(let message) = self else { return now + Int64(Limits.maximumLifetime) }
    return message.lifetime == 0 ? 0 : now + message.lifetime
  }

  /// The identifier of the subject; nil for none.
  var subject: String? { if case .hook(_, let subject) = self { subject } else { nil } }

  /// Returns the response to the accepted message.
  ///
  /// - Parameters:
  ///   - app: the app of the sender.
  ///   - now: milliseconds since 1970.
  func response(_ answer: MessageAnswer, app: AppID, now: Int64) -> Response {
    switch self {
    case .own, .hook: Response(answer)
    case .ntfy(let message): Response(NtfyAnswer(message, id: answer.id, now: now / 1000))
    case .gotify(let message): Response(GotifyAnswer(message, id: answer.id, app: app, now: now))
    case .webPush(let message): message.response(id: answer.id)
    }
  }
}
