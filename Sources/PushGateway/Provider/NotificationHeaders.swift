import GatewayProtocol
import HTTP2Transport
import PushCore

/// The `apns-*` fields of one request, parsed and validated (reference §2.2).
struct NotificationHeaders {
  /// The sender's id, or nil when it chose none.
  var id: APNSID?
  var pushType: PushType?
  /// 10, 5 or 1.
  var priority: UInt8 = 10
  /// Seconds since 1970; 0 for one attempt; nil when the sender said nothing.
  var expiration: Int64?
  /// Empty for none.
  var collapseID = ""
  /// When it is to be delivered, in seconds since 1970; nil: now.
  var deliverAt: Int64?
  var topic: NamedTopic

  /// Checks in the order of reference §2.5.
  ///
  /// - Parameter defaultTopic: the topic of a request that names none.
  /// - Throws: `BadMessageId`, `InvalidPushType`, `BadPriority`, `BadExpirationDate`, `BadCollapseId`, `MissingTopic`,
  ///   `BadTopic`.
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
      // One spelling each: 05 and 010 are none.
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

  /// When it is to be delivered, in milliseconds since 1970; nil: now, as for a time that has come.
  ///
  /// - Throws: `BadExpirationDate` for a time that is too far away, or comes when the push is over.
  func scheduledTime(now: Int64) throws(Rejection) -> Int64? {
    guard let deliverAt, deliverAt > now else { return nil }
    let isOver = expiration.map { $0 != 0 && $0 <= deliverAt } ?? false
    guard deliverAt - now <= Limits.maximumScheduleTime, !isOver else { throw Rejection(.badExpirationDate) }
    return deliverAt * 1000
  }

  /// When the push ends, in seconds since 1970; nil when it is never stored (0, or a time that is over).
  func expires(now: Int64) -> Int64? {
    let latest = now + Int64(Limits.maximumLifetime)
    guard let expiration else { return latest }
    return expiration > now ? min(expiration, latest) : nil
  }
}

/// A number in decimal digits that fits 63 bits, or nil.
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
