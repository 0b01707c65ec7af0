import GatewayProtocol
import HTTP2Transport
import NIOCore
import PushCore
import PushStorage

/// Webhooks: the replacement of the last push about a subject, and its retraction at the end of the subject.
extension ProviderAPI {
  /// Answers an event of a webhook that makes no message.
  func ignore(_ event: String, _ exchange: MessageExchange) {
    exchange.respond(Response(HookAnswer(result: "ignored", message: "this event makes no message: \(event)")))
  }

  /// Retracts the last push about a subject, which has ended.
  func takeBack(_ subject: String?, of sender: MessageSender, _ exchange: MessageExchange) {
    guard let subject else { return exchange.respond(Response(HookAnswer(result: "unknown"))) }
    let (senders, pushes, environment) = (parts.messages.senders, parts.pushes, exchange.request.environment)
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
    _ id: APNSID, about subject: String, of sender: MessageSender, _ exchange: MessageExchange, now: Int64,
    store: @escaping (ProviderAPI, MessageExchange) -> Void
  ) {
    let (senders, pushes, environment) = (parts.messages.senders, parts.pushes, exchange.request.environment)
    leaveLoop(exchange) {
      let previous = try await senders.record(id, about: subject, of: sender.name, at: now)
      if let previous, previous != id { _ = try await pushes.retract(previous, of: sender, in: environment) }
    } finish: { api, exchange, _ in
      store(api, exchange)
    }
  }

  /// Does work in a task, and continues with its result on the event loop of the exchange.
  func leaveLoop<Value: Sendable>(
    _ exchange: MessageExchange, _ work: @escaping @Sendable () async throws -> Value,
    finish: @escaping (ProviderAPI, MessageExchange, Value) -> Void
  ) {
    let later = NIOLoopBound((self, exchange, finish), eventLoop: exchange.eventLoop)
    Task {
      let result: Result<Value, Rejection>
      do {
        result = .success(try await work())
      } catch {
        let isDamage = (error as? StoreError)?.isDamage ?? false
        result = .failure(Rejection(isDamage ? .internalServerError : .serviceUnavailable))
      }
      later.eventLoop.execute {
        let (api, exchange, finish) = later.value
        switch result {
        case .success(let value): finish(api, exchange, value)
        case .failure(let rejection):
          api.shared.meter.refuse(rejection.reason)
          exchange.respond(exchange.door.response(to: MessageRefusal(rejection)))
        }
      }
    }
  }
}

/// The answer to a webhook that sends no message.
private struct HookAnswer: Sendable, Encodable {
  /// `ignored`, or the outcome of a retraction; `unknown` if no push about the subject is recorded.
  var result: String
  /// The `apns-id` of the retracted push.
  var id: String?
  var message: String?
}
