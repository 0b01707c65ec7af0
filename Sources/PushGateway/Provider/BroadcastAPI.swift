import Foundation
import GatewayProtocol
import HTTP2Transport
import Logging
import NIOCore
import PushCore
import PushPolicy
import PushStorage

/// The API for `POST /4/broadcasts/apps/<bundle id>`, and for channels below `/1/apps/<bundle id>` (reference §8).
///
/// One for each event loop; not `Sendable`. ``ProviderAPI`` authenticates the sender, and also answers refusals.
final class BroadcastAPI {
  private let parts: GatewayParts
  private let provider: ProviderAPI
  private let shared: LoopParts
  private let logger: Logger
  private var random = BufferedRandom()
  private var rates = TokenBuckets<ChannelID>()

  init(_ shared: LoopParts, provider: ProviderAPI, logger: Logger) {
    self.shared = shared
    parts = shared.parts
    self.provider = provider
    self.logger = logger
  }

  /// Serves one request whose body is complete.
  func serve(_ exchange: Exchange) {
    do {
      if exchange.request.has(.path, beginningWith: "/4/") {
        try send(exchange)
      } else {
        try manage(exchange)
      }
    } catch {
      provider.refuse(exchange, error)
    }
  }

  // MARK: Authorization

  private struct Caller {
    var id: APNSID
    var app: App
    var sender: ProviderSender
    var environment: Environment
    /// Milliseconds since 1970.
    var now: Int64
  }

  /// - Throws: `BadRequestParams`, the reasons of authentication, `BadMessageId`, `TopicDisallowed`, `TopicMismatch`,
  ///   `BroadcastFeatureNotEnabled`.
  private func caller(_ exchange: Exchange, bundleID: String) throws(Rejection) -> Caller {
    let now = parts.clock.milliseconds()
    if exchange.request.hasDuplicateFields { throw Rejection(.badRequestParams) }
    let sender = try provider.authenticate(exchange, now: now / 1000)
    // One of Apple's samples sends the field `apns-id` instead.
    var id = APNSID(using: &random)
    if let offered = exchange.request.text(.apnsRequestID) ?? exchange.request.text(.apnsID) {
      guard let given = APNSID(offered) else { throw Rejection(.badMessageId) }
      id = given
    }
    // The path has the app's own id; only topics of other pushes have a suffix.
    guard Topic.isWellFormed(bundleID.utf8), PushType.split(topic: bundleID).type == nil else {
      throw Rejection(.topicDisallowed)
    }
    guard sender.permitsBroadcast(to: bundleID) else { throw Rejection(.topicMismatch) }
    guard let app = try? parts.registrations.app(topic: bundleID) else { throw Rejection(.topicDisallowed) }
    guard sender.isOf(app.team) else { throw Rejection(.topicMismatch) }
    guard parts.channels.isOn(app.id) else { throw Rejection(parts.provider.broadcastFeatureReason) }
    return Caller(id: id, app: app, sender: sender, environment: exchange.connection.environment, now: now)
  }

  /// - Throws: `MissingChannelId`, `BadChannelId` for an invalid id.
  private func channelID(_ exchange: Exchange) throws(Rejection) -> ChannelID {
    guard let text = exchange.request.bytes(.apnsChannelID), !text.isEmpty else { throw Rejection(.missingChannelId) }
    guard let id = ChannelID(text) else { throw Rejection(.badChannelId) }
    return id
  }

  // MARK: Sending (reference §8.1)

  private func send(_ exchange: Exchange) throws(Rejection) {
    let request = exchange.request
    guard request.has(.method, "POST") else { throw Rejection(.methodNotAllowed) }
    guard let path = request[.path], path.starts(with: Paths.broadcast) else { throw Rejection(.badPath) }
    let bundleID = String(repairing: path.extracting(droppingFirst: Paths.broadcast.utf8CodeUnitCount))
    guard !bundleID.isEmpty, !bundleID.contains("/") else { throw Rejection(.badPath) }
    let caller = try caller(exchange, bundleID: bundleID)
    let id = try channelID(exchange)
    try checkPushType(request.text(.apnsPushType))
    // Broadcasts reach current subscribers and can't be scheduled.
    guard request[.apnsDeliverAt] == nil, let field = request[.apnsExpiration], let expiration = decimal(field) else {
      throw Rejection(.badExpirationDate)
    }
    var priority: UInt8 = 10
    if let value = request[.apnsPriority] {
      guard let number = decimal(value), [1, 5, 10].contains(number) else { throw Rejection(.badPriority) }
      priority = UInt8(number)
    }
    let content = try payload(of: request)
    let channel: BroadcastChannel
    do {
      channel = try parts.channels.channel(id, app: caller.app.id, environment: caller.environment)
    } catch {
      throw BroadcastAPI.rejection(error)
    }
    guard channel.policy == .mostRecentMessage || expiration == 0 else { throw Rejection(.badExpirationDate) }
    rates.set(parts.senderRates.perToken)
    guard rates.take(id, at: caller.now) else {
      shared.meter.reached(.rate)
      throw Rejection(.tooManyRequests)
    }
    try provider.count(caller.app, of: caller.sender, now: caller.now)
    try provider.admit(content, id: caller.id, nil, caller.app, now: caller.now)
    if content.parsed.isMarketing { shared.marketing.note(caller.app) }
    let latest = caller.now / 1000 + Int64(Limits.maximumBroadcastLifetime)
    let expires = expiration > caller.now / 1000 ? min(expiration, latest) : 0
    let message = BroadcastMessage(
      channel: id, app: caller.app.id, number: 0, id: caller.id, uniqueID: APNSID(using: &random),
      received: caller.now, expires: expires, priority: priority, payload: content.payload, content: content)
    publish(message, exchange)
  }

  /// - Throws: `MissingPushType`, `InvalidPushType`.
  private func checkPushType(_ text: String?) throws(Rejection) {
    guard let text else { throw Rejection(.missingPushType) }
    guard text.lowercased() == PushType.liveactivity.rawValue else { throw Rejection(.invalidPushType) }
  }

  /// - Throws: `PayloadEmpty`, `PayloadTooLarge`, `BadRequestPayload` if it is not a JSON object, or starts an
  ///   activity.
  private func payload(of request: Message) throws(Rejection) -> PushContent {
    guard request.bodySize > 0 else { throw Rejection(.payloadEmpty) }
    guard request.bodySize <= Limits.maximumBroadcastPayloadSize else { throw Rejection(.payloadTooLarge) }
    let body = request.body
    guard let content = try? shared.payloads.content(of: body) else { throw Rejection(.badRequestPayload) }
    let event = (try? shared.parser.parse(body.span) { $0["aps"]?["event"]?.string }) ?? nil
    // Subscribers have the activity already (reference §7.6).
    if event == "start" { throw Rejection(.badRequestPayload) }
    return content
  }

  /// Publishes a message. A message that is stored is on disk before the response is sent, and before any device gets
  /// it. A message that can't be stored is refused, and has no row of its acceptance.
  private func publish(_ message: BroadcastMessage, _ exchange: Exchange) {
    guard message.expires > 0 else {
      parts.log.append([message.event(.accepted, at: message.received)])
      // A retry, if a gateway failed before it answered, reaches no device twice.
      if parts.liveChannels.recent(message.id)?.channel != message.channel {
        parts.liveChannels.publish(message)
        parts.backend.cluster?.broadcast(message)
      }
      return accept(exchange, message)
    }
    let parts = parts
    answerLater(exchange) {
      try await parts.channels.publish(message) { stored in
        parts.log.append([
          stored.event(.accepted, at: stored.received), stored.event(.stored, at: parts.clock.milliseconds()),
        ])
        parts.liveChannels.publish(stored)
      }
    } then: { [unowned self] exchange, _ in
      accept(exchange, message)
    }
  }

  private func accept(_ exchange: Exchange, _ message: BroadcastMessage) {
    shared.meter.accept(.broadcast)
    exchange.connection.allowAllStreams()
    var fields = head(200, exchange, message.id)
    if exchange.connection.environment == .development { fields.append(.apnsUniqueID, message.uniqueID.text) }
    exchange.respond(fields, body: EmptyCollection())
  }

  // MARK: Channels (reference §8.2)

  private func manage(_ exchange: Exchange) throws(Rejection) {
    let request = exchange.request
    let target = request.text(.path) ?? ""
    guard request.has(.path, beginningWith: Paths.channels) else { throw Rejection(.badPath) }
    let rest = target.dropFirst(Paths.channels.utf8CodeUnitCount)
    let segments = rest.split(separator: "/", maxSplits: 2, omittingEmptySubsequences: false)
    guard segments.count >= 2, !segments[0].isEmpty else { throw Rejection(.badPath) }
    let caller = try caller(exchange, bundleID: String(segments[0]))
    let method = request.text(.method)
    switch (method, String(segments[1]), segments.count) {
    case ("POST", "channels", 2): try create(exchange, caller)
    case ("GET", "channels", 2) where isAPNSwift(request) && request[.apnsChannelID] == nil: list(exchange, caller)
    case ("GET", "channels", 2): try read(exchange, caller, try channelID(exchange))
    case ("DELETE", "channels", 2): try delete(exchange, caller, try channelID(exchange))
    // One client library sends the id in the path.
    case ("GET", "channels", 3): try read(exchange, caller, try channelID(segments[2]))
    case ("DELETE", "channels", 3): try delete(exchange, caller, try channelID(segments[2]))
    case ("GET", "all-channels", 2): list(exchange, caller)
    case (_, "channels", _), (_, "all-channels", 2): throw Rejection(.methodNotAllowed)
    default: throw Rejection(.badPath)
    }
  }

  /// Returns true for requests of APNSwift's channel client, which was written before Apple documented the service:
  /// it expects JSON in every response, and lists channels with the path that reads one.
  private func isAPNSwift(_ request: Message) -> Bool { request.has(.userAgent, beginningWith: "APNS/swift-nio") }

  private func channelID(_ part: Substring) throws(Rejection) -> ChannelID {
    guard let text = String(part).removingPercentEncoding, let id = ChannelID(text.utf8) else {
      throw Rejection(.badChannelId)
    }
    return id
  }

  /// - Throws: `PayloadEmpty`, `PayloadTooLarge`, `BadRequestPayload`, `MissingPushType`, `InvalidPushType`,
  ///   `MissingChannelQueueSize`, `BadRequestParams`.
  private func create(_ exchange: Exchange, _ caller: Caller) throws(Rejection) {
    let request = exchange.request
    guard request.bodySize > 0 else { throw Rejection(.payloadEmpty) }
    guard request.bodySize <= Limits.maximumBroadcastPayloadSize else { throw Rejection(.payloadTooLarge) }
    let body = request.body
    struct Requested {
      var isObject: Bool
      var pushType: String?
      var hasPolicy: Bool
      var policy: Int?
    }
    let definition = try? shared.parser.parse(body.span) { root in
      Requested(
        isObject: root.kind == .object, pushType: root["push-type"]?.string,
        hasPolicy: root["message-storage-policy"] != nil, policy: root["message-storage-policy"]?.integer)
    }
    guard let definition, definition.isObject else { throw Rejection(.badRequestPayload) }
    let isAPNSwift = isAPNSwift(request)
    if definition.pushType != nil || !isAPNSwift { try checkPushType(definition.pushType) }
    guard definition.hasPolicy else { throw Rejection(.missingChannelQueueSize) }
    guard let policy = definition.policy.flatMap(BroadcastChannel.StoragePolicy.init) else {
      throw Rejection(.badRequestParams)
    }
    let channels = parts.channels
    answerLater(exchange) {
      try await channels.create(
        app: caller.app.id, environment: caller.environment, policy: policy, now: caller.now)
    } then: { [unowned self] exchange, made in
      var fields = head(201, exchange, caller.id)
      fields.append(.apnsChannelID, (made.first?.description ?? "").utf8)
      exchange.connection.allowAllStreams()
      let text = made.first.map { BroadcastAPI.text(of: policy, id: $0) } ?? ""
      exchange.respond(fields, body: isAPNSwift ? Array(text.utf8) : [])
    }
  }

  /// Returns a channel as JSON.
  private static func text(of policy: BroadcastChannel.StoragePolicy, id: ChannelID? = nil) -> String {
    let id = id.map { #""channel-id":"\#($0)","# } ?? ""
    return #"{\#(id)"message-storage-policy":\#(policy.rawValue),"push-type":"LiveActivity"}"#
  }

  private func read(_ exchange: Exchange, _ caller: Caller, _ id: ChannelID) throws(Rejection) {
    let channel = try known(id, caller)
    let body = BroadcastAPI.text(of: channel.policy, id: isAPNSwift(exchange.request) ? id : nil)
    exchange.connection.allowAllStreams()
    exchange.respond(head(200, exchange, caller.id), body: body.utf8)
  }

  private func delete(_ exchange: Exchange, _ caller: Caller, _ id: ChannelID) throws(Rejection) {
    _ = try known(id, caller)
    let broadcasts = parts.broadcasts
    answerLater(exchange) {
      try await broadcasts.delete(id)
    } then: { [unowned self] exchange, _ in
      exchange.connection.allowAllStreams()
      // APNSwift accepts only 200 and 201 as success.
      guard isAPNSwift(exchange.request) else {
        return exchange.respond(head(204, exchange, caller.id), body: EmptyCollection())
      }
      exchange.respond(head(200, exchange, caller.id), body: "{}".utf8)
    }
  }

  private func list(_ exchange: Exchange, _ caller: Caller) {
    let channels = parts.channels
    answerLater(exchange) {
      let ids = channels.channels(of: caller.app.id, environment: caller.environment).map { "\"\($0.id)\"" }
      return Array((#"{"channels":["# + ids.joined(separator: ",") + "]}").utf8)
    } then: { [unowned self] exchange, body in
      exchange.connection.allowAllStreams()
      exchange.respond(head(200, exchange, caller.id), body: body)
    }
  }

  /// - Throws: `BadPath` for a channel that never existed or was deleted.
  private func known(_ id: ChannelID, _ caller: Caller) throws(Rejection) -> BroadcastChannel {
    do {
      return try parts.channels.channel(id, app: caller.app.id, environment: caller.environment)
    } catch {
      throw Rejection(.badPath)
    }
  }

  // MARK: Responses

  private func head(_ status: Int, _ exchange: Exchange, _ id: APNSID) -> HeaderFields {
    var fields = HeaderFields(status: status)
    fields.append(.apnsRequestID, id.text)
    return fields
  }

  /// Runs work off the event loop and responds when it is done; its errors become rejections.
  private func answerLater<Value: Sendable>(
    _ exchange: Exchange, _ work: @escaping @Sendable () async throws -> Value,
    then answer: @escaping (Exchange, Value) -> Void
  ) {
    // Requests whose stream was reset count as running, too: see GatewayHandler.
    let connection = exchange.connection
    guard connection.runningRequests < Limits.maximumConcurrentStreams else {
      return provider.refuse(exchange, .tooManyRequests)
    }
    connection.runningRequests += 1
    let later = NIOLoopBound((exchange.reference, provider, answer), eventLoop: exchange.connection.loop.eventLoop)
    let logger = logger
    Task {
      let result: Result<Value, Rejection>
      do {
        result = .success(try await work())
      } catch {
        if !(error is Channels.Failure) { logger.log(.broadcastFailed, "a broadcast's channel failed: \(error)") }
        result = .failure(BroadcastAPI.rejection(error))
      }
      later.eventLoop.execute {
        let (reference, provider, answer) = later.value
        reference.connection.runningRequests -= 1
        guard let exchange = reference.exchange else { return }
        switch result {
        case .success(let value): answer(exchange, value)
        case .failure(let rejection): provider.refuse(exchange, rejection)
        }
      }
    }
  }

  private static func rejection(_ error: any Error) -> Rejection {
    switch error {
    case Channels.Failure.unknown: Rejection(.badChannelId)
    case Channels.Failure.deleted: Rejection(.channelNotRegistered)
    case Channels.Failure.full: Rejection(.cannotCreateChannelConfig)
    case Channels.Failure.off: Rejection(.broadcastFeatureNotEnabled)
    case let error as StoreError where !error.isDamage: Rejection(.serviceUnavailable)
    default: Rejection(.internalServerError)
    }
  }
}

extension ProviderSender {
  /// Returns true if the sender may broadcast for an app and manage its channels.
  fileprivate func permitsBroadcast(to bundleID: String) -> Bool {
    let topic = bundleID + PushType.liveactivity.topicSuffix
    switch self {
    case .token(let token): return token.key.topics.map { $0.contains(bundleID) || $0.contains(topic) } ?? true
    case .certificate(let identity): return identity.topics.contains(bundleID) || identity.topics.contains(topic)
    }
  }
}

extension BroadcastMessage {
  /// Returns a row of the delivery log about the message as a whole.
  func event(_ event: DeliveryEvent, at time: Int64) -> DeliveryLog.Row {
    DeliveryLog.Row(
      at: time, event: event, id: id, uniqueID: event == .accepted ? uniqueID : nil, device: nil, app: app,
      detail: .channel(channel.description))
  }
}

extension APNSID {
  /// The 36 bytes of the text form.
  var text: [UInt8] {
    var bytes: [UInt8] = []
    append(to: &bytes)
    return bytes
  }
}
