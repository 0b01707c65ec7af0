import GatewayProtocol
import HTTP2Transport
import NIOCore
import PushCore
import PushStorage

/// Webhooks: authentication in the ways of their services, and the retraction of subjects that have ended.
extension ProviderAPI {
  /// Returns the webhook of a name if the request has its credential: a signature, or the token in `authorization`, in
  /// `x-gitlab-token` or in the query.
  ///
  /// - Parameter now: milliseconds since 1970.
  func hook(_ name: String, _ control: ControlRequest, _ request: Message, now: Int64) -> MessageSender? {
    let (senders, field) = (parts.messages.senders, request.text(.hookCredential))
    if let signature = HookSignature(field) {
      return senders.find(name, now: now / 1000) { signature.isValid(of: request.body, token: $0) }
    }
    guard let token = control.bearer ?? field ?? control.query["token"],
      let sender = senders.find(name, token: token, now: now / 1000), sender.hook?.kind.isSigned == false
    else { return nil }
    return sender
  }

  /// Serves the request of a webhook, which is authenticated.
  func serve(_ hook: Hook, of sender: MessageSender, _ exchange: Exchange, now: Int64) throws(MessageRefusal) {
    switch try WebhookFormat.read(exchange.request.body, hook) {
    case .ignored(let event):
      exchange.respond(Response(HookAnswer(result: "ignored", message: "no message is made of this event: \(event)")))
    case .message(let message):
      let subject = message.subject.map(HookMessage.identifier)
      guard message.isResolved else {
        return try send(SentMessage(message.fields), of: sender, about: subject, exchange, now: now)
      }
      guard let subject else { return exchange.respond(Response(HookAnswer(result: "unknown"))) }
      takeBack(subject, of: sender, exchange)
    }
  }

  /// Retracts the last push about a subject, which has ended.
  private func takeBack(_ subject: String, of sender: MessageSender, _ exchange: Exchange) {
    let (senders, pushes, environment) = (parts.messages.senders, parts.pushes, exchange.connection.environment)
    leaveLoop(exchange) {
      guard let id = try await senders.push(about: subject, of: sender.name) else {
        return HookAnswer(result: "unknown")
      }
      let outcome = try await pushes.retract(id, of: sender, in: environment)
      try await senders.forget(id, about: subject, of: sender.name)
      return HookAnswer(result: outcome.rawValue, id: id.description)
    } finish: { _, exchange, answer in
      exchange.respond(Response(answer))
    }
  }

  /// Records a push about a subject, retracts the previous one, and then stores the push.
  ///
  /// The push replaces a pending push by its collapse id, and the retraction removes the alert that devices show.
  func replace(
    _ id: APNSID, about subject: String, of sender: MessageSender, _ exchange: Exchange, now: Int64,
    store: @escaping (ProviderAPI, Exchange) -> Void
  ) {
    let (senders, pushes, environment) = (parts.messages.senders, parts.pushes, exchange.connection.environment)
    leaveLoop(exchange) {
      let previous = try await senders.record(id, about: subject, of: sender.name, at: now)
      if let previous, previous != id { _ = try await pushes.retract(previous, of: sender, in: environment) }
    } finish: { api, exchange, _ in
      store(api, exchange)
    }
  }

  /// Does work in a task, and continues with its result on the event loop, unless the stream has ended.
  private func leaveLoop<Value: Sendable>(
    _ exchange: Exchange, _ work: @escaping @Sendable () async throws -> Value,
    finish: @escaping (ProviderAPI, Exchange, Value) -> Void
  ) {
    let connection = exchange.connection
    // Requests whose stream was reset count as running, too: see GatewayHandler.
    guard connection.runningRequests < Limits.maximumConcurrentStreams else {
      return exchange.respond(MessageRefusal(Rejection(.tooManyRequests)).response)
    }
    connection.runningRequests += 1
    let later = NIOLoopBound((self, exchange.reference, finish), eventLoop: connection.loop.eventLoop)
    Task {
      let result: Result<Value, Rejection>
      do {
        result = .success(try await work())
      } catch {
        let isDamage = (error as? StoreError)?.isDamage ?? false
        result = .failure(Rejection(isDamage ? .internalServerError : .serviceUnavailable))
      }
      later.eventLoop.execute {
        let (api, reference, finish) = later.value
        reference.connection.runningRequests -= 1
        guard let exchange = reference.exchange else { return }
        switch result {
        case .success(let value): finish(api, exchange, value)
        case .failure(let rejection):
          api.shared.meter.refuse(rejection.reason)
          exchange.respond(MessageRefusal(rejection).response)
        }
      }
    }
  }
}

/// The answer to a webhook that sends no message.
private struct HookAnswer: Sendable, Encodable {
  /// `ignored`, or the outcome of a retraction.
  var result: String
  /// The `apns-id` of the retracted push.
  var id: String?
  var message: String?
}

/// The signature of a request of GitHub: HMAC-SHA-256 of the body with the token.
struct HookSignature {
  private let digits: [UInt8]

  private static let prefix = "sha256="

  /// Reads the value of `x-hub-signature-256`; nil for any other text.
  init?(_ field: String?) {
    guard let field, field.hasPrefix(HookSignature.prefix) else { return nil }
    digits = Array(field.dropFirst(HookSignature.prefix.count).lowercased().utf8)
  }

  func isValid(of body: [UInt8], token: String) -> Bool {
    let expected = Digest.hex(Digest.hmacSHA256(body, key: Array(token.utf8)))
    return Digest.areEqual(Array(expected.utf8), digits)
  }
}

extension HookMessage {
  /// Returns the identifier of a subject: 32 hex digits, which are also the collapse id of its pushes.
  static func identifier(_ subject: String) -> String {
    String(Digest.hex(Digest.sha256(Array(subject.utf8))).prefix(32))
  }
}
