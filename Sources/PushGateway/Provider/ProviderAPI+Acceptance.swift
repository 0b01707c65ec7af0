import HTTP2Transport
import PushCore
import PushStorage

/// The responses to accepted pushes (reference §3.1).
extension ProviderAPI {
  /// Responds with 200.
  func accept(_ exchange: Exchange, _ push: StoredPush, _ outcome: RequestMeter.Acceptance) {
    shared.meter.accept(outcome)
    exchange.connection.allowAllStreams()
    if shared.marketing.isUnsubscribed(push) { return accept(exchange, unsubscribed: push) }
    // An accepted id is a UUID. A sender's id keeps the case of its digits: the response returns it unchanged.
    if exchange.connection.environment == .development {
      unsafe acceptance.unique.overwriteValue(1) { unsafe push.id.write(to: $0) }
      unsafe acceptance.unique.overwriteValue(2) { unsafe push.uniqueID.write(to: $0) }
      exchange.respond(acceptance.unique, body: EmptyCollection())
    } else {
      unsafe acceptance.plain.overwriteValue(1) { unsafe push.id.write(to: $0) }
      exchange.respond(acceptance.plain, body: EmptyCollection())
    }
  }

  /// Responds with 200 to a push to a recipient who has unsubscribed from the marketing of the app.
  private func accept(_ exchange: Exchange, unsubscribed push: StoredPush) {
    beginAcceptance(exchange, push)
    fields.append(.apnsMarketing, MarketingApps.unsubscribed.utf8)
    exchange.respond(fields, body: EmptyCollection())
  }

  /// Responds with 200 to a scheduled push; the response header contains the scheduled second. A gateway that does not
  /// support the field omits it.
  func accept(
    _ exchange: Exchange, _ push: StoredPush, _ outcome: RequestMeter.Acceptance, scheduled time: Int64
  ) {
    shared.meter.accept(outcome)
    exchange.connection.allowAllStreams()
    beginAcceptance(exchange, push)
    fields.append(.apnsDeliverAt, String(time / 1000).utf8, isUnindexed: true)
    if shared.marketing.isUnsubscribed(push) { fields.append(.apnsMarketing, MarketingApps.unsubscribed.utf8) }
    exchange.respond(fields, body: EmptyCollection())
  }

  /// Starts the header of a 200 with more fields than usual.
  private func beginAcceptance(_ exchange: Exchange, _ push: StoredPush) {
    begin(status: "200", exchange, push.id)
    guard exchange.connection.environment == .development else { return }
    var text: [UInt8] = []
    push.uniqueID.append(to: &text)
    fields.append(.apnsUniqueID, text, isUnindexed: true)
  }
}
