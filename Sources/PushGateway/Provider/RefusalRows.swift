import GatewayProtocol
import HTTP2Transport
import PushCore
import PushPolicy
import PushStorage

/// Rows of the delivery log for refused pushes.
struct RefusalRows {
  let shared: LoopParts

  private var parts: GatewayParts { shared.parts }

  /// Logs a push that is answered with a rejection.
  ///
  /// Rows of clients without a valid credential are limited (``RefusalRowLimiter``); the excess is counted.
  func log(_ rejection: Rejection, of exchange: Exchange, id: APNSID) {
    let (connection, now) = (exchange.connection, parts.clock.milliseconds())
    let key = verifiedKey(of: exchange)
    let isKnown = connection.identity != nil || key != nil
    if !isKnown || rejection.reason.isAboutCredential, !parts.refusalRows.take(connection.source, at: now) {
      return shared.meter.reached(.refusalRows)
    }
    var sender = key.map { ClaimedSender(keyID: $0.id, team: $0.team) }
    if !isKnown, let field = exchange.request.bytes(.authorization) {
      sender = ClaimedSender(authorization: field, parser: shared.parser)
    }
    let topic = topic(of: exchange)
    let bundleID = topic.map { PushType.split(topic: $0).bundleID }
    let registrations = parts.registrations
    let app = bundleID.flatMap { registrations.hasApp(topic: $0) ? try? registrations.app(topic: $0) : nil }
    let token = exchange.deviceToken
    let device = token.flatMap { registrations.registration($0)?.0.device ?? parts.groups.registration($0)?.device }
    shared.log.append(
      DeliveryLog.Row(
        at: now, event: .refused, id: id, device: device, app: app?.id,
        detail: .refusal(
          .init(
            status: rejection.status, reason: rejection.reason.rawValue, topic: topic, keyID: sender?.keyID,
            team: sender?.team, finding: rejection.finding))))
  }

  /// Returns the key of a request whose provider token was accepted on this connection.
  private func verifiedKey(of exchange: Exchange) -> ProviderKey? {
    guard let field = exchange.request[.authorization],
      let memory = exchange.connection.attachment as? ProviderConnection
    else { return nil }
    return memory.token(field, generation: parts.registrations.keyGeneration)?.key
  }

  /// Returns the topic of a request, or the only topic of its certificate.
  private func topic(of exchange: Exchange) -> String? {
    let request = exchange.request
    let text: [UInt8]?
    if request.isForBroadcasts {
      text = request.bytes(.path).map { Array($0.dropFirst(Paths.broadcast.utf8CodeUnitCount)) }
    } else {
      text = request.bytes(.apnsTopic)
    }
    if let text, !text.isEmpty { return String(decoding: text.prefix(Limits.maximumLoggedTopic), as: UTF8.self) }
    guard let identity = exchange.connection.identity, identity.topics.count == 1 else { return nil }
    return identity.topics.first
  }
}

/// The sender that an unverified provider token names.
struct ClaimedSender {
  var keyID: String?
  var team: String?

  init(keyID: String?, team: String?) { (self.keyID, self.team) = (keyID, team) }

  /// Parses the value of `authorization`. Values without the form of a key id or a team id are omitted.
  init(authorization: [UInt8], parser: JSONParser) {
    let token = authorization.drop { $0 != UInt8(ascii: " ") }.drop { $0 == UInt8(ascii: " ") }
    let parts = token.split(separator: UInt8(ascii: "."), maxSplits: 2, omittingEmptySubsequences: false)
    guard parts.count == 3 else { return }
    func identifier(_ part: ArraySlice<UInt8>, _ key: StaticString) -> String? {
      guard let bytes = Base64URL.decode(part) else { return nil }
      let text = (try? parser.parse(bytes.span) { $0[key]?.string }) ?? nil
      return text.flatMap { $0.utf8.count == 10 && $0.utf8.allSatisfy(\.isUpperOrDigit) ? $0 : nil }
    }
    keyID = identifier(parts[0], "kid")
    team = identifier(parts[1], "iss")
  }
}

extension Message {
  /// True if the request is a push to a device token, or a broadcast.
  var isPush: Bool {
    has(.method, "POST") && (has(.path, beginningWith: Paths.devicePush) || has(.path, beginningWith: Paths.broadcast))
  }

  /// The sender's id of a push; nil if it sent no valid one.
  var id: APNSID? {
    let value = isForBroadcasts ? bytes(.apnsRequestID) ?? bytes(.apnsID) : bytes(.apnsID)
    return value.flatMap { APNSID($0.span) }
  }
}

extension Exchange {
  /// The token in the path of a push.
  var deviceToken: DeviceToken? {
    guard let path = request[.path], path.starts(with: Paths.devicePush) else { return nil }
    return DeviceToken(hex: path.extracting(droppingFirst: Paths.devicePush.utf8CodeUnitCount))
  }
}
