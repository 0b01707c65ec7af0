import GatewayProtocol
import HTTP2Transport
import PushCore
import PushStorage

/// Implements `/webpush/ID`, the endpoints of devices for Web Push (RFC 8030): the authentication of a sender, the
/// withdrawal of a message, and its receipt. ``ProviderAPI/serve(_:)`` handles the message itself as all other messages.
extension ProviderAPI {
  static let unknownEndpoint = MessageRefusal(
    404, "UnknownEndpoint", "unknown endpoint: `pushcli endpoints add` makes one on a device")
  static let removedEndpoint = MessageRefusal(
    410, "EndpointRemoved", "the endpoint was removed: delete the subscription and send to it no more")

  /// Returns the sender of requests to an endpoint: its device is the only recipient.
  ///
  /// - Returns: nil for an unknown id.
  /// - Throws: a refusal for an endpoint that was removed, also with its app or device, and for a sender that the endpoint
  ///   does not permit.
  func endpointSender(
    _ id: String, _ exchange: MessageExchange, now: Int64
  ) throws(MessageRefusal) -> MessageSender? {
    guard let endpoint = parts.endpoints.find(id) else { return nil }
    guard endpoint.removed == nil, let app = parts.registrations.app(endpoint.app),
      parts.registrations.device(endpoint.device) != nil
    else { throw ProviderAPI.removedEndpoint }
    // RFC 8292 identifies the senders of messages. The address of a message is a secret of its sender.
    if exchange.request.method == "POST" { try identify(exchange, endpoint, now: now) }
    var sender = MessageSender(
      name: "endpoint \(WebPushEnvelope.tag(of: id))", app: app.id, recipients: [.device(endpoint.device)],
      rate: Limits.endpointRate, created: endpoint.created)
    let holdsAds = app.policyMode == .enforce && (app.ads == .hold || app.ads == .refuse)
    sender.endpoint = MessageSender.Endpoint(id: id, origin: endpoint.origin, holdsAds: holdsAds)
    return sender
  }

  /// Verifies the VAPID token of a message, if it has one. Only a restricted endpoint requires a token.
  private func identify(
    _ exchange: MessageExchange, _ endpoint: WebPushEndpoint, now: Int64
  ) throws(MessageRefusal) {
    guard let field = exchange.request.fields["authorization"] else {
      guard endpoint.vapid != nil else { return }
      let words = "the endpoint takes messages of one sender: \(VAPIDToken.malformed.message)"
      throw counted(MessageRefusal(401, "MissingToken", words), exchange, now: now)
    }
    // Each verification of a signature costs 100 µs of an event loop.
    guard parts.messages.mayFail(from: exchange.request.source, at: now) else { throw tooManyFailures() }
    do throws(MessageRefusal) {
      let token = try VAPIDToken(field)
      if let key = endpoint.vapid, key != token.key {
        throw VAPIDToken.refusal("the endpoint takes messages of one sender, which has another key than k")
      }
      try token.verify(origin: endpoint.origin, parser: shared.parser, now: now / 1000)
    } catch {
      throw counted(error, exchange, now: now)
    }
  }

  /// Retracts a message from its device: a pending push, and the alert that the device shows.
  func withdraw(_ id: APNSID, of sender: MessageSender, _ exchange: MessageExchange) {
    guard let device = device(of: sender), let person = parts.registrations.device(device)?.person else {
      return exchange.respond(exchange.door.response(to: ProviderAPI.removedEndpoint))
    }
    let pushes = parts.pushes
    leaveLoop(exchange) {
      try await pushes.retract(id, of: sender.app, from: [person], by: sender.name)
    } finish: { _, exchange, outcome in
      exchange.respond(outcome == .unknown ? exchange.door.response(to: ProviderAPI.unknownMessage) : .noContent)
    }
  }

  /// Answers a request for the receipt of a message with the status of RFC 8030 §6.3: 204 if the device has acknowledged
  /// it, 410 if it ended otherwise, and 202 while it is pending. The status is 404 if the delivery log does not have the
  /// message, and 429 during another search for the device.
  func answerReceipt(_ id: APNSID, of sender: MessageSender, _ exchange: MessageExchange) {
    guard let device = device(of: sender), parts.budgets.beginSearch(device) else {
      return exchange.respond(
        exchange.door.response(
          to: MessageRefusal(
            429, "TooManyRequests", "another search for a receipt of this device is running", retryAfter: 1)))
    }
    let (log, budgets) = (parts.log, parts.budgets)
    let query = DeliveryLog.Query(
      id: id, device: device, app: sender.app, limit: Limits.maximumLogPage,
      maximumReadSize: Limits.deviceLogSearchSize)
    leaveLoop(exchange) {
      defer { budgets.endSearch(device) }
      return Set(try await log.rows(query).map(\.row.event))
    } finish: { _, exchange, events in
      exchange.respond(ProviderAPI.receipt(events) ?? exchange.door.response(to: ProviderAPI.unknownMessage))
    }
  }

  private static let unknownMessage = MessageRefusal(
    404, "UnknownMessage", "unknown message: the delivery log has no such message of this endpoint")

  /// Returns the response for the events of a message; nil if there are none.
  private static func receipt(_ events: Set<DeliveryEvent>) -> Response? {
    if events.isEmpty { return nil }
    if events.contains(.acknowledged) { return .noContent }
    let ends: Set<DeliveryEvent> = [.collapsed, .expired, .dropped, .undeliverable, .retracted]
    return Response(status: events.isDisjoint(with: ends) ? 202 : 410)
  }

  private func device(of sender: MessageSender) -> DeviceID? {
    if case .device(let device)? = sender.recipients.first { device } else { nil }
  }
}
