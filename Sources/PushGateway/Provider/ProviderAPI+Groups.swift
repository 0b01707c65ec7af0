import GatewayProtocol
import HTTP2Transport
import NIOCore
import PushCore
import PushPolicy
import PushStorage

/// Pushes to the token of a group: one copy for each device, and one response for all.
extension ProviderAPI {
  /// Sends a push to the members of its group. The response is sent after all copies are on disk, or all are refused.
  func sendToGroup(_ push: StoredPush, _ exchange: Exchange) {
    let delivery = GroupDelivery(groups: parts.groups, registrations: parts.registrations)
    let all = delivery.recipients(of: push.device, app: push.app, now: push.received)
    let recipients: [GroupDelivery.Recipient]
    do throws(Rejection) {
      recipients = try admit(push, to: all)
    } catch {
      return refuse(exchange, error)
    }
    charge(push, copies: recipients.count, exchange)
    guard !recipients.isEmpty else {
      parts.log.append([
        push.event(.accepted, at: push.received),
        push.event(.dropped, at: push.received, detail: .fact(.nobodyRegistered)),
      ])
      return accept(exchange, push, .unstored)
    }
    store(push, for: recipients, of: delivery, exchange)
  }

  /// Counts the copies of a push against the rates of its app and its team; the request itself has counted one.
  private func charge(_ push: StoredPush, copies: Int, _ exchange: Exchange) {
    guard parts.senderRates.boundsSenders, let app = parts.registrations.app(push.app) else { return }
    let team = app.team ?? (exchange.connection.attachment as? ProviderConnection)?.team
    parts.senderRates.charge(app.id, of: team, copies: copies - 1, at: push.received)
  }

  /// Returns the recipients that accept the push, which may be advertising; logs a row `refused` for each other
  /// recipient.
  ///
  /// - Throws: `Forbidden` if all recipients refuse it.
  func admit(
    _ push: StoredPush, to all: [GroupDelivery.Recipient]
  ) throws(Rejection) -> [GroupDelivery.Recipient] {
    guard let content = push.content, let app = parts.registrations.app(push.app) else { return all }
    var (admitted, refusal): ([GroupDelivery.Recipient], Rejection?) = ([], nil)
    for recipient in all {
      do throws(Rejection) {
        try admit(advertising: content, id: push.id, recipient.device, app, now: push.received)
        admitted.append(recipient)
      } catch {
        refusal = error
        parts.log.append([
          DeliveryLog.Row(
            at: push.received, event: .refused, id: push.id, device: recipient.device, app: app.id,
            detail: error.finding.map { .finding($0) } ?? .nothing)
        ])
      }
    }
    if admitted.isEmpty, let refusal { throw refusal }
    return admitted
  }

  private func store(
    _ push: StoredPush, for recipients: [GroupDelivery.Recipient], of delivery: GroupDelivery, _ exchange: Exchange
  ) {
    let connection = exchange.connection
    guard connection.runningRequests < Limits.maximumConcurrentStreams else {
      return refuse(exchange, Rejection(.tooManyRequests))
    }
    let isStored = push.expires > push.received / 1000
    let later = NIOLoopBound((self, exchange.reference), eventLoop: connection.loop.eventLoop)
    let isTaken = delivery.store(push, for: recipients, in: parts.groupPushes, destinations) { outcome in
      later.eventLoop.execute {
        let (api, reference) = later.value
        reference.connection.runningRequests -= 1
        if let exchange = reference.exchange { api.answer(exchange, push, outcome, isStored: isStored) }
      }
    }
    guard isTaken else {
      shared.meter.reached(.groupPushes)
      return refuse(exchange, Rejection(.tooManyRequests))
    }
    // The response decrements it on this event loop, thus after this line.
    connection.runningRequests += 1
  }

  /// The destinations of accepted pushes.
  var destinations: Dispatcher.Destinations {
    Dispatcher.Destinations(mailbox: parts.mailbox, router: parts.router, log: parts.log, clock: parts.clock)
  }

  private func answer(_ exchange: Exchange, _ push: StoredPush, _ outcome: AppendOutcome, isStored: Bool) {
    switch outcome {
    case .queued: accept(exchange, push, isStored ? .stored : .unstored)
    case .duplicate: accept(exchange, push, .duplicate)
    case .unavailable: refuse(exchange, Rejection(.serviceUnavailable))
    case .failed: refuse(exchange, Rejection(.internalServerError))
    }
  }
}
