import GatewayProtocol
import HTTP2Transport
import PushCore

/// The `apns-*` fields of one request, parsed and validated (reference §2.2).
struct NotificationHeaders {
  /// The sender's id; nil if it sent none.
  var id: APNSID?
  var pushType: PushType?
  /// 10, 5 or 1.
  var priority: UInt8 = 10
  /// Seconds since 1970; 0 for one attempt; nil if the sender sent none.
  var expiration: Int64?
  /// Empty for none.
  var collapseID = ""
  /// The scheduled delivery time in seconds since 1970; nil: now.
  var deliverAt: Int64?
  var topic: NamedTopic

  /// Parses the fields, with the checks in the order of reference §2.5.
  ///
  /// - Parameter defaultTopic: the topic of a request that names none.
  /// - Throws: `BadMessageId`, `InvalidPushType`, `BadPriority`, `BadExpirationDate`, `BadCollapseId`,
  ///   `MissingTopic`, `BadTopic`.
  init(_ request: Message, topics: TopicCache, defaultTopic: String? = nil) throws(Rejection) {
    if let value = request[.apnsID] {
      guard let id = APNSID(value) else { throw Rejection(.badMessageId) }
      self.id = id
    }
    if let value = request[.apnsPushType] {
      guard let type = PushType(value) else { throw Rejection(.invalidPushType) }
      pushType = type
    }
    if let value = request[.apnsPriority] {
      // Only one spelling is valid: 05 and 010 are rejected.
      guard let number = decimal(value), [1, 5, 10].contains(number), value.count == (number == 10 ? 2 : 1) else {
        throw Rejection(.badPriority)
      }
      priority = UInt8(number)
    }
    if let value = request[.apnsExpiration] {
      guard let number = decimal(value) else { throw Rejection(.badExpirationDate) }
      expiration = number
    }
    if let value = request[.apnsDeliverAt] {
      guard let number = decimal(value) else { throw Rejection(.badExpirationDate) }
      deliverAt = number
    }
    if let value = request[.apnsCollapseID] {
      guard value.count <= Limits.maximumCollapseIDSize else { throw Rejection(.badCollapseId) }
      collapseID = String(repairing: value)
    }
    guard let value = request[.apnsTopic], !value.isEmpty else {
      guard let defaultTopic else { throw Rejection(.missingTopic) }
      topic = topics.named(defaultTopic)
      return
    }
    topic = try topics.topic(value)
  }

  /// Returns the scheduled delivery time in milliseconds since 1970; nil: now, also for a past time.
  ///
  /// - Throws: `BadExpirationDate` for a time that is too far in the future, or not before the expiration.
  func scheduledTime(now: Int64) throws(Rejection) -> Int64? {
    guard let deliverAt, deliverAt > now else { return nil }
    let isOver = expiration.map { $0 != 0 && $0 <= deliverAt } ?? false
    guard deliverAt - now <= Limits.maximumScheduleTime, !isOver else { throw Rejection(.badExpirationDate) }
    return deliverAt * 1000
  }

  /// Returns the expiration in seconds since 1970; nil for a push that is never stored (0, or a past time).
  func expires(now: Int64) -> Int64? {
    let latest = now + Int64(Limits.maximumLifetime)
    guard let expiration else { return latest }
    return expiration > now ? min(expiration, latest) : nil
  }
}

/// Parses a number in decimal digits that fits 63 bits; nil for other text.
func decimal(_ bytes: Span<UInt8>) -> Int64? {
  guard (1...18).contains(bytes.count) else { return nil }
  var value: Int64 = 0
  for place in bytes.indices {
    let digit = bytes[place] &- UInt8(ascii: "0")
    guard digit < 10 else { return nil }
    value = value * 10 + Int64(digit)
  }
  return value
}
