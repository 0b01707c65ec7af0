import GatewayProtocol
import HTTP2Transport
import NIOCore
import PushCore
import PushPolicy
import PushStorage

/// The API for `POST /3/device/<token>`: the checks in the order of reference §2.5, then the policy for senders, then
/// the mailbox.
///
/// One for each event loop; not `Sendable`.
final class ProviderAPI {
  let parts: GatewayParts
  private let tokens: ProviderTokenCache
  private let dispatcher: Dispatcher
  let shared: LoopParts
  var fields = HeaderFields()
  var random = BufferedRandom()
  private var rates = TokenBuckets<DeviceToken>()
  /// The `retry-after` of a cluster that can't store: its brokers need that many seconds to elect a leader. Apple
  /// sends none.
  private static let electionSeconds = "5"

  let topics: TopicCache
  /// Forwards a push for an unknown device token that would be refused; nil without an upstream.
  var forward: ((Exchange, Rejection) -> Void)?
  /// The receiver of refusals; nil but for a test gateway.
  weak var refusals: (any RefusalObserver)?
  private var acceptance = AcceptanceHeaders()

  init(_ shared: LoopParts, tokens: ProviderTokenCache, dispatcher: Dispatcher) {
    self.shared = shared
    parts = shared.parts
    self.tokens = tokens
    topics = TopicCache(registrations: parts.registrations)
    self.dispatcher = dispatcher
    dispatcher.answer = { [unowned self] exchange, push, outcome in
      switch outcome {
      case .queued: accept(exchange, push, .stored)
      case .duplicate: accept(exchange, push, .duplicate)
      case .unavailable: refuse(exchange, Rejection(.serviceUnavailable))
      case .failed: refuse(exchange, Rejection(.internalServerError))
      }
    }
  }

  /// Serves one request whose body is complete.
  func serve(_ exchange: Exchange) {
    do {
      var later: (time: Int64, expiration: Int64?)?
      let push = try check(exchange, &later)
      if exchange.request.has(.traceparent) { noteTrace(of: push, exchange.request) }
      if push.device.isGroup, later == nil { return sendToGroup(push, exchange) }
      if let later {
        schedule(push, at: later.time, later.expiration, exchange)
      } else if push.expires > push.received / 1000 {
        dispatcher.store(push, for: exchange)
      } else {
        accept(exchange, push, dispatcher.deliverNow(push) ? .unstored : .duplicate)
      }
    } catch {
      if error.isForeign, let forward { return forward(exchange, error) }
      refuse(exchange, error)
    }
  }

  /// Logs the trace to which a push belongs.
  private func noteTrace(of push: StoredPush, _ request: Message) {
    guard let value = request[.traceparent], let trace = TraceParent(value) else { return }
    shared.log.append(push.event(.traced, at: push.received, detail: .trace(trace.text)))
  }

  /// Refuses a request before its body is complete, or without reading it.
  func refuse(_ exchange: Exchange, _ reason: Reason) { refuse(exchange, Rejection(reason)) }

  /// - Parameter later: set for a scheduled push: the delivery time in milliseconds since 1970, and the sender's
  ///   expiration.
  private func check(
    _ exchange: Exchange, _ later: inout (time: Int64, expiration: Int64?)?
  ) throws(Rejection) -> StoredPush {
    let request = exchange.request
    let now = parts.clock.milliseconds()
    guard request.has(.method, "POST") else { throw Rejection(.methodNotAllowed) }
    guard request.has(.path, beginningWith: Paths.devicePush) else { throw Rejection(.badPath) }
    if request.hasDuplicateFields { throw Rejection(.duplicateHeaders) }
    let sender = try authenticate(exchange, now: now / 1000)
    let headers = try NotificationHeaders(request, topics: topics, defaultTopic: sender.defaultTopic)
    if headers.deliverAt != nil, let time = try headers.scheduledTime(now: now / 1000) {
      later = (time, headers.expiration)
    }
    let topic = headers.topic
    guard sender.permits(topic) else { throw Rejection(.topicDisallowed) }
    let type = headers.pushType ?? topic.suffixType ?? .alert
    if parts.provider.checksPushType { try check(type, topic.suffixType, request) }
    let token = try deviceToken(in: request)
    let content = try content(of: request, type: type)
    let (registration, app) = try registration(
      token, bundleID: topic.bundleID, environment: exchange.connection.environment, now: now)
    try allow(registration.token, app, of: sender, now: now)
    shared.marketing.observe(app)
    let id = headers.id ?? APNSID(using: &random)
    try admit(content, id: id, registration.device, app, now: now)
    // Each member of a group has their own preferences: see sendToGroup.
    if !registration.device.isGroup { try admit(advertising: content, id: id, registration.device, app, now: now) }
    return StoredPush(
      device: registration.device, app: app.id, id: id, isSenderID: headers.id != nil,
      uniqueID: APNSID(using: &random), received: now, expires: headers.expires(now: now / 1000) ?? 0,
      priority: headers.priority, collapseID: headers.collapseID, payload: content.payload, content: content)
  }

  /// Counts a request to a token of an app.
  ///
  /// - Throws: `TooManyRequests`.
  @inline(__always)
  func allow(_ token: DeviceToken, _ app: App, of sender: ProviderSender?, now: Int64) throws(Rejection) {
    rates.set(parts.senderRates.perToken)
    guard rates.take(token, at: now) else {
      shared.meter.reached(.rate)
      throw Rejection(.tooManyRequests)
    }
    if parts.senderRates.boundsSenders { try count(app, of: sender, now: now) }
  }

  /// Schedules a push; the response is sent after the push is on disk.
  private func schedule(_ push: StoredPush, at time: Int64, _ expiration: Int64?, _ exchange: Exchange) {
    let team = parts.registrations.app(push.app)?.team
    let this = NIOLoopBound((self, exchange.reference), eventLoop: exchange.connection.loop.eventLoop)
    parts.schedule.add(ScheduledPush(push, at: time, expires: expiration, team: team)) { outcome in
      this.eventLoop.execute {
        let (api, reference) = this.value
        guard let exchange = reference.exchange else { return }
        switch outcome {
        case .success(.stored): api.accept(exchange, push, .stored, scheduled: time)
        case .success(.duplicate): api.accept(exchange, push, .duplicate, scheduled: time)
        case .success(.full):
          api.shared.meter.reached(.scheduled)
          api.refuse(exchange, Rejection(.tooManyRequests))
        case .failure: api.refuse(exchange, Rejection(.serviceUnavailable))
        }
      }
    }
  }

  /// - Throws: `MissingProviderToken`, `InvalidProviderToken`, `ExpiredProviderToken`, `BadEnvironmentKeyInToken`,
  ///   `UnrelatedKeyIdInToken`, `TooManyProviderTokenUpdates`.
  func authenticate(_ exchange: Exchange, now: Int64) throws(Rejection) -> ProviderSender {
    // A certificate takes precedence over a token. It was verified when the connection was made, and the connection
    // ends when the certificate ceases to be valid.
    if let identity = exchange.connection.identity { return .certificate(identity) }
    guard let field = exchange.request[.authorization] else { throw Rejection(.missingProviderToken) }
    let memory = exchange.connection.attachment as? ProviderConnection ?? ProviderConnection()
    exchange.connection.attachment = memory
    let generation = parts.registrations.keyGeneration
    if let token = memory.token(field, generation: generation) {
      try check(token, exchange, now: now)
      return .token(token)
    }
    let value = [UInt8](field)
    // The scheme is case-insensitive (RFC 9110 §11.1), and one client library capitalizes it.
    let scheme = value.prefix { $0 != UInt8(ascii: " ") }
    guard scheme.count == 6, String(decoding: scheme, as: UTF8.self).lowercased() == "bearer" else {
      throw Rejection(.missingProviderToken)
    }
    let bytes = value.dropFirst(scheme.count).drop { $0 == UInt8(ascii: " ") }
    guard !bytes.isEmpty else { throw Rejection(.missingProviderToken) }
    let token: ProviderToken
    do throws(Rejection) {
      token = try tokens.token(
        Array(bytes), parser: shared.parser, from: exchange.connection.source, at: now * 1000)
    } catch {
      if error.reason == .tooManyRequests { shared.meter.reached(.failedAuthentications) }
      throw error
    }
    try check(token, exchange, now: now)
    try memory.change(
      to: token, bytes, parts.registrations, interval: parts.provider.tokenUpdateInterval, now: now)
    memory.keep(value, token, generation: generation)
    exchange.connection.authenticated(as: .provider)
    return .token(token)
  }

  /// - Throws: `ExpiredProviderToken`, `InvalidProviderToken`, `BadEnvironmentKeyInToken`.
  private func check(_ token: ProviderToken, _ exchange: Exchange, now: Int64) throws(Rejection) {
    try token.checkAge(now: now)
    if let environment = token.key.environment, environment != exchange.connection.environment {
      throw Rejection(parts.provider.environmentKeyReason)
    }
  }

  /// Checks that the push type matches the priority and the topic (reference §2.3), for a gateway that is configured
  /// to check it.
  ///
  /// - Throws: `BadPriority`, `TopicDisallowed`.
  func check(_ type: PushType, _ suffixType: PushType?, _ request: Message) throws(Rejection) {
    if type == .background, request.has(.apnsPriority, "10") { throw Rejection(.badPriority) }
    let due = type.topicSuffix.isEmpty ? nil : type
    guard suffixType == due else { throw Rejection(.topicDisallowed) }
  }

  /// Parses the token in the path. Any even number of hex digits has the form of a token; the lookup of its device
  /// follows later.
  ///
  /// - Throws: `MissingDeviceToken`, `BadDeviceToken`.
  func deviceToken(in request: Message) throws(Rejection) -> DeviceToken? {
    guard let path = request[.path], path.count > Paths.devicePush.utf8CodeUnitCount else {
      throw Rejection(.missingDeviceToken)
    }
    return try deviceToken(path.extracting(droppingFirst: Paths.devicePush.utf8CodeUnitCount))
  }

  /// - Throws: `BadDeviceToken`.
  func deviceToken(_ text: Span<UInt8>) throws(Rejection) -> DeviceToken? {
    if let token = DeviceToken(hex: text) { return token }
    guard text.count.isMultiple(of: 2), text.count <= Limits.maximumTokenDigits,
      text.indices.allSatisfy({ hexValue(text[$0]) != nil })
    else { throw Rejection(.badDeviceToken) }
    return nil
  }

  /// - Throws: `PayloadEmpty` (also if it is not a JSON object, reference §6.1), `PayloadTooLarge`.
  func content(of request: Message, type: PushType) throws(Rejection) -> PushContent {
    guard request.bodySize > 0 else { throw Rejection(.payloadEmpty) }
    guard request.bodySize <= type.maximumPayloadSize else { throw Rejection(.payloadTooLarge) }
    do {
      guard request.has(.apnsMarketing, "true") else { return try shared.payloads.content(of: request.body) }
      return try shared.payloads.content(declaringMarketing: request.body)
    } catch {
      switch error {
      case .empty, .notJSON, .notAnObject: throw Rejection(.payloadEmpty)
      }
    }
  }

  /// - Throws: `BadDeviceToken`, `Unregistered`, `ExpiredToken`, `DeviceTokenNotForTopic`, `TopicDisallowed`.
  func registration(
    _ token: DeviceToken?, bundleID: String, environment: Environment, now: Int64
  ) throws(Rejection) -> (Registration, App) {
    guard let token, let (registration, app) = parts.registrations.registration(token) ?? groupRegistration(token)
    else { throw Rejection.foreign(.badDeviceToken) }
    guard registration.environment == environment else { throw Rejection(.badDeviceToken) }
    if let time = registration.unregistered { throw Rejection(.unregistered, timestamp: time) }
    if let time = registration.expires, time <= now { throw Rejection(.expiredToken, timestamp: time) }
    guard app.topic == bundleID else {
      // The topic is the app's own id with an unknown suffix (reference §2.3).
      let isUnknownSuffix = bundleID.hasPrefix(app.topic + ".") && !parts.registrations.hasApp(topic: bundleID)
      throw Rejection(isUnknownSuffix ? .topicDisallowed : .deviceTokenNotForTopic)
    }
    return (registration, app)
  }

  func groupRegistration(_ token: DeviceToken) -> (Registration, App)? {
    guard let registration = parts.groups.registration(token), let app = parts.registrations.app(registration.app)
    else { return nil }
    return (registration, app)
  }

  /// Counts a push or a broadcast of an app.
  ///
  /// - Throws: `TooManyRequests`.
  func count(_ app: App, of sender: ProviderSender?, now: Int64) throws(Rejection) {
    guard let limit = parts.senderRates.excess(app.id, of: app.team ?? sender?.team, at: now) else { return }
    shared.meter.reached(limit)
    throw Rejection(.tooManyRequests)
  }

  /// Applies the rules for senders when a push is accepted (design §2), and the schema of `aps` for a strict app.
  ///
  /// This method logs violations that do not refuse the push; ``refuse(_:_:isLogged:)`` logs refusals.
  ///
  /// - Parameter isLogged: false for a sender that was not verified.
  /// - Throws: `Forbidden` with the rule, unless the app only reports violations.
  func admit(
    _ content: PushContent, id: APNSID, _ device: DeviceID?, _ app: App, now: Int64, isLogged: Bool = true
  ) throws(Rejection) {
    if content.parsed.violations.isEmpty, content.parsed.faults.isEmpty { return }
    func log(_ event: DeliveryEvent, _ finding: DeliveryDetail.Finding) {
      guard isLogged else { return }
      parts.log.append([
        DeliveryLog.Row(at: now, event: event, id: id, device: device, app: app.id, detail: .finding(finding))
      ])
    }
    if let violation = content.parsed.violations.first {
      shared.meter.policy.find(violation.rule, isRefused: app.policyMode == .enforce)
      if app.policyMode == .enforce { throw Rejection(.forbidden, violation: violation, id: id) }
      log(.reported, .init(violation, isReportOnly: true))
    }
    for fault in content.parsed.faults.prefix(Limits.maximumReportedFaults) {
      shared.meter.policy.find(nil, isRefused: app.isStrict)
      if app.isStrict { throw Rejection(.forbidden, fault: fault, id: id) }
      log(.ignored, .init(fault))
    }
  }

  /// Applies the rules A9 and N9: no advertising reaches a user who has not allowed it for the app, and no declared
  /// marketing a user who has not turned it on. The mode `hold` takes effect at delivery.
  ///
  /// - Throws: `Forbidden` with the evidence, if the alert is plainly advertising, or declared as marketing, and the
  ///   app's mode refuses it.
  @inline(__always) func admit(
    advertising content: PushContent, id: APNSID, _ device: DeviceID, _ app: App, now: Int64
  ) throws(Rejection) {
    if content.parsed.isMarketing { shared.marketing.note(app) }
    var preferences: Preferences { parts.registrations.preferences(of: device) }
    guard let violation = shared.ads.violation(content, of: app, for: preferences) else { return }
    let isUnsubscribed = violation.rule == .n9 && preferences.isUnsubscribed(from: app.topic)
    try admit(violation, id: id, device, app, now: now, isUnsubscribed: isUnsubscribed)
  }

  /// Refuses or logs an alert that is advertising, as the mode of the app says.
  ///
  /// - Parameter isLogged: false for a sender that was not verified.
  /// - Throws: `Forbidden`.
  func admit(
    _ violation: Violation, id: APNSID, _ device: DeviceID?, _ app: App, now: Int64, isUnsubscribed: Bool = false,
    isLogged: Bool = true
  ) throws(Rejection) {
    let isRefused = app.ads == .refuse && app.policyMode == .enforce
    shared.meter.policy.find(violation.rule, isRefused: isRefused)
    if isRefused {
      var rejection = Rejection(.forbidden, violation: violation, id: id)
      rejection.isUnsubscribed = isUnsubscribed
      throw rejection
    }
    guard isLogged else { return }
    parts.log.append([
      DeliveryLog.Row(
        at: now, event: .reported, id: id, device: device, app: app.id,
        detail: .finding(.init(violation, isReportOnly: true)))
    ])
  }

  // MARK: Responses (reference §3.1)

  /// Responds with 200.
  ///
  /// - Parameter time: the time of a scheduled push; the response header contains its second. A gateway that does not
  ///   support the field omits it.
  func accept(
    _ exchange: Exchange, _ push: StoredPush, _ outcome: RequestMeter.Acceptance, scheduled time: Int64? = nil
  ) {
    shared.meter.accept(outcome)
    exchange.connection.allowAllStreams()
    let isUnsubscribed = !shared.marketing.isEmpty && shared.marketing.isUnsubscribed(push)
    guard isUnsubscribed || time != nil else { return acceptance.respond(to: exchange, with: push) }
    begin(status: "200", exchange, push.id)
    if exchange.connection.environment == .development {
      var text: [UInt8] = []
      push.uniqueID.append(to: &text)
      fields.append(.apnsUniqueID, text, isUnindexed: true)
    }
    if let time { fields.append(.apnsDeliverAt, String(time / 1000).utf8, isUnindexed: true) }
    if isUnsubscribed { fields.append(.apnsMarketing, MarketingApps.unsubscribed.utf8) }
    exchange.respond(fields, body: EmptyCollection())
  }

  /// Answers a request with a rejection.
  ///
  /// - Parameter isLogged: true if the refusal of a push is logged here; false if it has a row already.
  func refuse(_ exchange: Exchange, _ rejection: Rejection, isLogged: Bool = true) {
    shared.meter.refuse(rejection.reason)
    refusals?.refused(exchange, rejection)
    var id = rejection.id
    if isLogged, exchange.request.isPush {
      let logged = id ?? exchange.request.id ?? APNSID(using: &random)
      RefusalRows(shared: shared).log(rejection, of: exchange, id: logged)
      id = logged
    }
    begin(status: String(rejection.status), exchange, id)
    if rejection.isUnsubscribed { fields.append(.apnsMarketing, MarketingApps.unsubscribed.utf8) }
    if let seconds = rejection.retryAfter {
      fields.append(.retryAfter, String(seconds).utf8)
    } else if rejection.reason == .serviceUnavailable, parts.backend.cluster != nil {
      fields.append(.retryAfter, ProviderAPI.electionSeconds.utf8)
    }
    exchange.respond(fields, body: rejection.body)
  }

  /// Answers a request with a status only.
  func answer(_ exchange: Exchange, status: Int) {
    refusals?.answered(exchange, status: status)
    begin(status: String(status), exchange, nil)
    exchange.respond(fields, body: EmptyCollection())
  }

  /// Starts a response header with the status and the id that the sender sent; otherwise with `id`, or a new one.
  private func begin(status: String, _ exchange: Exchange, _ id: APNSID?) {
    fields.removeAll()
    fields.append(.status, status.utf8)
    let name: HeaderName = exchange.request.isForBroadcasts ? .apnsRequestID : .apnsID
    let offered = exchange.request.bytes(name) ?? exchange.request.bytes(.apnsID)
    if let offered, AcceptanceHeaders.isEchoable(offered) {
      fields.append(name, offered, isUnindexed: true)
      return
    }
    var text: [UInt8] = []
    text.reserveCapacity(APNSID.textSize)
    (id ?? APNSID(using: &random)).append(to: &text)
    fields.append(name, text, isUnindexed: true)
  }
}
