import GatewayProtocol
import HTTP2Transport
import PushCore
import PushPolicy
import PushStorage

/// The form of a request with a message of a sender, and of its answer: this gateway's own (`POST /send/NAME`), or the
/// one of ntfy or of Gotify, for programs that send to these; or a heartbeat (`/beat/NAME`), which has no message.
///
/// A form decodes a request to a ``SentMessage`` and encodes the answer. Everything between is the same for all.
enum MessageDoor: Sendable {
  case own, heartbeat, ntfy, gotify

  /// Returns the form of a request over HTTP/2; nil for any other request.
  init?(_ request: Message) {
    if request.has(.path, beginningWith: Paths.messages) {
      self = .own
    } else if request.has(.path, beginningWith: Paths.heartbeats) {
      self = .heartbeat
    } else if request.has(.path, beginningWith: Paths.ntfy) {
      self = .ntfy
    } else if request.has(.path, beginningWith: Paths.gotify) {
      self = .gotify
    } else {
      return nil
    }
  }

  /// Returns the form of a request by its path without the query; nil for any other request.
  init?(path: some StringProtocol) {
    if path.hasPrefix("\(Paths.messages)") {
      self = .own
    } else if path.hasPrefix("\(Paths.heartbeats)") {
      self = .heartbeat
    } else if path.hasPrefix("\(Paths.ntfy)") {
      self = .ntfy
    } else if path.hasPrefix("\(Paths.gotify)") {
      self = .gotify
    } else {
      return nil
    }
  }

  /// The maximum size of a request's body in bytes.
  var maximumBodySize: Int {
    switch self {
    case .own, .heartbeat: Limits.maximumMessageSize
    case .ntfy, .gotify: Limits.maximumForeignMessageSize
    }
  }

  /// The methods of its requests.
  private var methods: [String] {
    switch self {
    case .own, .gotify: ["POST"]
    case .heartbeat: ["GET", "POST", "HEAD"]
    case .ntfy: ["POST", "PUT"]
    }
  }

  var tooLarge: MessageRefusal {
    guard maximumBodySize > Limits.maximumMessageSize else { return SentMessage.tooLarge }
    return MessageRefusal(
      413, "MessageTooLarge",
      "the request is too large: expected at most \(maximumBodySize) bytes, with at most \(Limits.maximumMessageSize) "
        + "bytes of title and text")
  }

  /// Checks the method and the path.
  func check(_ request: ControlRequest) throws(MessageRefusal) {
    guard methods.contains(request.method) else {
      throw MessageRefusal(
        405, "MethodNotAllowed",
        "send the \(self == .heartbeat ? "heartbeat" : "message") with the method \(methods.joined(separator: " or "))")
    }
    let isKnown =
      switch self {
      case .own, .heartbeat: true
      case .ntfy: topic(of: request) != nil || isForJSON(request)
      case .gotify: request.path == "\(Paths.gotify)"
      }
    guard isKnown else {
      throw MessageRefusal(
        404, "NotFound", "unknown path \(request.path.prefix(64)): expected /ntfy/TOPIC, /ntfy or /gotify/message")
    }
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

  /// Returns the token of a request, and the name that its sender must have; no name if any has to be accepted.
  func credentials(of request: ControlRequest) -> (name: String?, token: String?) {
    switch self {
    case .own: (String(request.path.dropFirst(Paths.messages.utf8CodeUnitCount)), request.bearer)
    case .heartbeat:
      (
        String(request.path.dropFirst(Paths.heartbeats.utf8CodeUnitCount)), request.bearer ?? request.query["token"]
      )
    case .ntfy: (topic(of: request), NtfyMessage.token(of: request))
    case .gotify: (nil, GotifyMessage.token(of: request))
    }
  }

  /// Decodes the message of a sender; nil for a heartbeat.
  ///
  /// - Parameter now: seconds since 1970.
  func message(
    in request: ControlRequest, of sender: MessageSender, parser: JSONParser, now: Int64
  ) throws(MessageRefusal) -> ReceivedMessage? {
    switch self {
    case .heartbeat: return nil
    case .own:
      return .own(
        try SentMessage(request.body, contentType: request.fields["content-type"], parser: parser, now: now))
    case .ntfy:
      let message = try NtfyMessage(request, topic: topic(of: request), parser: parser, now: now)
      guard message.topic == sender.name else { throw .unauthorized }
      return .ntfy(message)
    case .gotify: return .gotify(try GotifyMessage(request, parser: parser, now: now))
    }
  }

  /// Returns the answer to a refused message.
  func response(to refusal: MessageRefusal) -> Response {
    var response = refusal.response
    switch self {
    case .own, .heartbeat: break
    case .ntfy: response.body = controlJSON(NtfyError(refusal))
    case .gotify: response.body = controlJSON(GotifyError(refusal))
    }
    return response
  }
}

/// A decoded message, with the texts that its answer repeats.
enum ReceivedMessage: Sendable {
  case own(SentMessage)
  case ntfy(NtfyMessage)
  case gotify(GotifyMessage)

  /// The message for the recipients.
  var sent: SentMessage {
    switch self {
    case .own(let message): message
    case .ntfy(let message): message.sent
    case .gotify(let message): message.sent
    }
  }

  /// Returns the response to the accepted message.
  ///
  /// - Parameters:
  ///   - app: the app of the sender.
  ///   - now: milliseconds since 1970.
  func response(_ answer: MessageAnswer, app: AppID, now: Int64) -> Response {
    switch self {
    case .own: Response(answer)
    case .ntfy(let message): Response(NtfyAnswer(message, id: answer.id, now: now / 1000))
    case .gotify(let message): Response(GotifyAnswer(message, id: answer.id, app: app, now: now))
    }
  }
}
