import GatewayProtocol
import HTTP2Transport
import PushCore
import PushPolicy
import PushStorage

/// A push for a device token that this gateway does not know, after all checks that need no recipient.
private struct ForeignPush {
  var authorization: [UInt8]
  /// The key and the team in the provider token.
  var sender: ClaimedSender
  /// True if this gateway does not know the key, so that only the upstream can verify the token.
  var hasForeignKey: Bool
  /// True if the token was verified, here or by the upstream.
  var isVerified: Bool
  /// The id of the sender.
  var id: APNSID?
  var topic: String
  var app: App?
  var environment: Environment
}

/// Pushes for device tokens that this gateway does not know, and their answers, where the setting `upstream` is on.
extension ProviderAPI {
  /// Forwards a push whose device token or key is unknown, or refuses it.
  ///
  /// - Parameter refusal: the refusal without an upstream.
  func forward(_ exchange: Exchange, _ refusal: Rejection, by forwarder: Forwarder) {
    do throws(Rejection) {
      let foreign = try check(foreign: exchange, refusal, forwarder.upstream)
      let reference = exchange.reference
      let push = ForwardedPush(
        foreign.environment, authorization: foreign.authorization, isVerified: foreign.isVerified,
        head: head(of: exchange.request, for: forwarder.upstream.targets[foreign.environment]),
        body: exchange.request.body
      ) { [unowned self] outcome in finish(foreign, reference, outcome, forwarder.upstream) }
      try send(push, by: forwarder)
      // The end of the sender's stream cancels the push.
      exchange.stream.consumer = push
    } catch {
      refuse(exchange, error)
    }
  }

  /// - Throws: `ServiceUnavailable`, `TooManyProviderTokenUpdates`.
  private func send(_ push: ForwardedPush, by forwarder: Forwarder) throws(Rejection) {
    do throws(Forwarder.Refusal) {
      try forwarder.send(push)
    } catch {
      switch error {
      case .full:
        shared.meter.reached(.forwards)
        throw Rejection(.serviceUnavailable, retryAfter: Forwarder.retryTime)
      case .unreachable(let seconds): throw Rejection(.serviceUnavailable, retryAfter: seconds)
      case .tooManyTokens: throw Rejection(.tooManyProviderTokenUpdates)
      }
    }
  }

  // MARK: Checks

  /// Applies the checks of a push that need no recipient, in their usual order.
  private func check(
    foreign exchange: Exchange, _ refusal: Rejection, _ upstream: Upstream
  ) throws(Rejection) -> ForeignPush {
    let (request, connection, now) = (exchange.request, exchange.connection, parts.clock.milliseconds())
    if let identity = connection.identity {
      // The upstream would need the private key of the certificate.
      upstream.note(certificate: identity.fingerprint, topic: identity.topic)
      throw Rejection(.missingProviderToken)
    }
    guard let authorization = request.bytes(.authorization) else { throw refusal }
    let sender = ClaimedSender(authorization: authorization, parser: shared.parser)
    let hasForeignKey = refusal.reason == .invalidProviderToken
    if hasForeignKey, sender.keyID == nil || sender.team == nil || isForKnownDevice(exchange) { throw refusal }
    let headers = try NotificationHeaders(request, topics: topics)
    // The upstream would deliver the push at once.
    if try headers.scheduledTime(now: now / 1000) != nil { throw Rejection(.badExpirationDate) }
    let topic = headers.topic
    if hasForeignKey, let team = topic.team, team != sender.team { throw Rejection(.topicDisallowed) }
    let type = headers.pushType ?? topic.suffixType ?? .alert
    if parts.provider.checksPushType { try check(type, topic.suffixType, request) }
    let token = try deviceToken(in: request)
    let content = try content(of: request, type: type)
    if request[.via] != nil { throw Rejection(.internalServerError) }
    let isVerified = !hasForeignKey || upstream.vouched.contains(authorization, at: now / 1000)
    if !isVerified, !upstream.allowsUnverified(from: connection.source, at: now) {
      shared.meter.reached(.unverifiedForwards)
      throw Rejection(.tooManyRequests)
    }
    let app = app(of: topic)
    if let app {
      if isVerified, let token { try allow(token, app, of: nil, now: now) }
      try admit(foreign: content, id: headers.id ?? APNSID(using: &random), app, now: now, isLogged: isVerified)
    }
    return ForeignPush(
      authorization: authorization, sender: sender, hasForeignKey: hasForeignKey, isVerified: isVerified,
      id: headers.id, topic: topic.text, app: app, environment: connection.environment)
  }

  private func isForKnownDevice(_ exchange: Exchange) -> Bool {
    guard let token = exchange.deviceToken else { return false }
    return parts.registrations.registration(token) != nil || groupRegistration(token) != nil
  }

  /// Returns the app of a topic; nil if this gateway has none.
  private func app(of topic: NamedTopic) -> App? {
    parts.registrations.hasApp(topic: topic.bundleID) ? try? parts.registrations.app(topic: topic.bundleID) : nil
  }

  /// Applies the rules for senders, and the rule about advertising as for a recipient with the default preferences.
  /// Declared marketing is a matter of the consent of a recipient, and this gateway has none for the devices of the
  /// upstream.
  ///
  /// - Throws: `Forbidden`.
  private func admit(
    foreign content: PushContent, id: APNSID, _ app: App, now: Int64, isLogged: Bool
  ) throws(Rejection) {
    try admit(content, id: id, nil, app, now: now, isLogged: isLogged)
    guard !content.parsed.isMarketing, let violation = shared.ads.violation(content, of: app, for: Preferences())
    else { return }
    try admit(violation, id: id, nil, app, now: now, isLogged: isLogged)
  }

  // MARK: Request

  /// The fields that the upstream gets: all fields of a push that Apple documents, and the fields of this gateway.
  private static let forwardedNames: [HeaderName] = [
    .authorization, .apnsTopic, .apnsPushType, .apnsID, .apnsPriority, .apnsExpiration, .apnsCollapseID, .apnsDeliverAt,
    .apnsMarketing, .apnsRequestID, .apnsChannelID,
  ]
  /// The fields whose values differ in every request.
  private static let unindexedNames: Set<HeaderName> = [.apnsID, .apnsExpiration, .apnsCollapseID, .apnsRequestID]

  private func head(of request: Message, for target: UpstreamTarget) -> HeaderFields {
    var head = HeaderFields()
    head.append(.method, "POST")
    head.append(.scheme, "https")
    head.append(.authority, target.authority.utf8)
    head.append(.path, request.bytes(.path) ?? [], isUnindexed: true)
    for name in ProviderAPI.forwardedNames {
      guard let value = request.bytes(name) else { continue }
      head.append(name, value, isUnindexed: ProviderAPI.unindexedNames.contains(name))
    }
    // RFC 9110 §7.6.3. A gateway does not forward a push with this field.
    if target.isGateway { head.append(.via, "2.0 pushgateway") }
    return head
  }

  // MARK: Answer

  private func finish(
    _ foreign: ForeignPush, _ reference: StreamReference, _ outcome: ForwardOutcome, _ upstream: Upstream
  ) {
    let exchange: Exchange? = if case .abandoned = outcome { nil } else { reference.exchange }
    switch outcome {
    case .answered(let answer):
      let reason = reason(in: answer.body)
      note(answer.status, reason, to: foreign, upstream)
      log(foreign, reference, id: foreign.id ?? answer.id, upstream, status: answer.status, reason: reason)
      if let exchange { respond(exchange, answer) }
    case .failed(let seconds, wasSent: false):
      if let exchange { refuse(exchange, Rejection(.serviceUnavailable, id: foreign.id, retryAfter: seconds)) }
    case .failed(let seconds, wasSent: true):
      let id = logUnanswered(foreign, reference, upstream)
      guard let exchange else { return }
      refuse(exchange, Rejection(.serviceUnavailable, id: id, retryAfter: seconds), isLogged: false)
    case .abandoned(wasSent: true): _ = logUnanswered(foreign, reference, upstream)
    case .abandoned(wasSent: false): break
    }
  }

  private func logUnanswered(_ foreign: ForeignPush, _ reference: StreamReference, _ upstream: Upstream) -> APNSID {
    let reason = Reason.serviceUnavailable
    return log(
      foreign, reference, id: foreign.id, upstream, status: reason.status, reason: reason.rawValue, isUnanswered: true)
  }

  /// Remembers a token with an unknown key that the upstream accepts, or forgets a refused token. Any other refusal,
  /// as `Forbidden` by the policy of an app, is about the push.
  private func note(_ status: Int, _ reason: String?, to foreign: ForeignPush, _ upstream: Upstream) {
    guard foreign.hasForeignKey else { return }
    if ProviderAPI.isVouched(status) {
      upstream.vouched.insert(foreign.authorization, at: parts.clock.seconds)
    } else if let reason, ProviderAPI.tokenRefusals.contains(reason) {
      upstream.vouched.remove(foreign.authorization)
    }
  }

  /// The reasons of an upstream that does not accept the provider token.
  private static let tokenRefusals: Set<String> = [
    Reason.invalidProviderToken.rawValue, Reason.expiredProviderToken.rawValue,
  ]

  /// Returns true for the status of an answer to a sender whose token the upstream has verified.
  private static func isVouched(_ status: Int) -> Bool { status == 200 || status == Reason.unregistered.status }

  /// Returns the reason in the body of an answer; nil if it has none.
  private func reason(in body: [UInt8]) -> String? {
    guard !body.isEmpty, let reason = (try? shared.parser.parse(body.span) { $0["reason"]?.string }) ?? nil else {
      return nil
    }
    return String(decoding: reason.utf8.prefix(Limits.maximumLoggedTopic), as: UTF8.self)
  }

  /// Adds the row of a push that was sent to the upstream. The rows of senders without a verified token are limited.
  ///
  /// - Parameter id: the id of the push; nil for a new one.
  /// - Returns: the id in the row.
  @discardableResult
  private func log(
    _ foreign: ForeignPush, _ reference: StreamReference, id: APNSID?, _ upstream: Upstream, status: Int,
    reason: String?, isUnanswered: Bool = false
  ) -> APNSID {
    let id = id ?? APNSID(using: &random)
    let (connection, now) = (reference.connection, parts.clock.milliseconds())
    let isVerified = foreign.isVerified || ProviderAPI.isVouched(status)
    guard isVerified || parts.refusalRows.take(connection.source, at: now) else {
      shared.meter.reached(.refusalRows)
      return id
    }
    let detail = DeliveryDetail.Forwarding(
      upstream: upstream.targets[foreign.environment].authority, status: status, reason: reason,
      topic: String(decoding: foreign.topic.utf8.prefix(Limits.maximumLoggedTopic), as: UTF8.self),
      keyID: foreign.sender.keyID, team: foreign.sender.team, isUnanswered: isUnanswered)
    shared.log.append(
      DeliveryLog.Row(at: now, event: .forwarded, id: id, app: foreign.app?.id, detail: .forwarding(detail)))
    return id
  }

  /// Passes the answer of the upstream to the sender.
  private func respond(_ exchange: Exchange, _ answer: UpstreamAnswer) {
    if answer.status == 200 {
      exchange.connection.allowAllStreams()
      exchange.connection.authenticated(as: .provider)
    }
    fields.removeAll()
    fields.append(.status, String(answer.status).utf8)
    for (name, value) in answer.fields { fields.append(name, value, isUnindexed: name == .apnsID) }
    exchange.respond(fields, body: answer.body)
  }
}
