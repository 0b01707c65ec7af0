import PushCore
import PushPolicy
import PushStorage

/// The fields of a message to a push service (RFC 8030 §5) that depend on the push.
struct PushServiceFields: Equatable {
  /// The time in seconds for which the service keeps the message.
  var lifetime: Int64
  var urgency: Urgency
  /// The topic of the message: it replaces an undelivered one with the same topic; nil if it replaces none.
  var topic: String?

  enum Urgency: String {
    case veryLow = "very-low"
    case low, normal, high
  }

  /// The fields of a push.
  ///
  /// - Parameters:
  ///   - level: the interruption level that the recipient permits.
  ///   - now: seconds since 1970.
  init(_ push: StoredPush, level: InterruptionLevel, to subscription: PushSubscription, at now: Int64) {
    lifetime = min(max(0, push.expires - now), Limits.maximumPageLifetime)
    urgency =
      switch level {
      case .timeSensitive, .critical: .high
      case .active: push.priority >= 10 ? .normal : push.priority > 1 ? .low : .veryLow
      case .passive: push.priority > 1 ? .low : .veryLow
      }
    topic = PushServiceFields.topic(of: push, to: subscription)
  }

  /// The fields of the retraction of a push that was posted with a topic, or without one.
  init(retracting topic: String?) {
    lifetime = Limits.pageRetractionTime
    urgency = .normal
    self.topic = topic
  }

  /// Returns the topic for a collapse id: 32 characters from which the service can't find the id.
  private static func topic(of push: StoredPush, to subscription: PushSubscription) -> String? {
    guard !push.collapseID.isEmpty else { return nil }
    let hash = Digest.hmacSHA256(Array("\(push.app.row) \(push.collapseID)".utf8), key: subscription.secret)
    return Base64URL.encode(Array(hash.prefix(24)))
  }

  /// Returns the request with a content, which only the browser of the subscription can read.
  ///
  /// - Parameter identification: the value of `authorization`.
  func request(_ content: [UInt8], to subscription: PushSubscription, identification: String) throws -> HTTPPost {
    let body = try WebPushEncryption.seal(
      content, for: try ES256Key(publicPoint: subscription.key), secret: subscription.secret, by: .generate(),
      salt: randomBytes(count: 16))
    var fields = [
      (name: "content-encoding", value: "aes128gcm"), (name: "ttl", value: "\(lifetime)"),
      (name: "urgency", value: urgency.rawValue), (name: "authorization", value: identification),
    ]
    if let topic { fields.append((name: "topic", value: topic)) }
    return HTTPPost(
      url: try EventURL(subscription.endpoint), fields: fields, body: body, contentType: "application/octet-stream")
  }
}

/// The tokens with which the gateway identifies itself to push services (RFC 8292). A token is used again for
/// ``Limits/pageTokenReuse`` seconds, so that most messages need no signature.
struct PushServiceTokens {
  private struct Token {
    var value: String
    var made: Int64
  }

  private var tokens: [String: Token] = [:]

  /// The number of tokens at which all are removed. Few push services exist.
  private static let sweepCount = 64

  /// Returns the value of `authorization` for a push service.
  ///
  /// - Parameters:
  ///   - audience: the origin of the endpoint.
  ///   - contact: an address of the operator, `mailto:` or `https:`.
  ///   - now: seconds since 1970.
  mutating func field(audience: String, contact: String, by key: ES256Key, at now: Int64) throws -> String {
    let name = "\(audience) \(contact)"
    if let known = tokens[name], known.made <= now, now - known.made < Limits.pageTokenReuse { return known.value }
    if tokens.count >= PushServiceTokens.sweepCount { tokens = [:] }
    var claims = Array(#"{"aud":"#.utf8)
    appendJSONString(audience, to: &claims)
    claims += #","exp":\#(now + Limits.pageTokenValidity),"sub":"#.utf8
    appendJSONString(contact, to: &claims)
    claims += "}".utf8
    let signed = [Array(#"{"typ":"JWT","alg":"ES256"}"#.utf8), claims].map(Base64URL.encode).joined(separator: ".")
    let signature = Base64URL.encode(try key.signature(of: Array(signed.utf8)))
    let value = "vapid t=\(signed).\(signature), k=\(Base64URL.encode(key.publicPoint))"
    tokens[name] = Token(value: value, made: now)
    return value
  }
}

extension EventURL {
  /// The scheme, host and port, without the usual port of the scheme (RFC 6454 §6.2).
  var origin: String {
    let name = host.contains(":") ? "[\(host)]" : host
    return "\(isSecure ? "https" : "http")://\(name)".lowercased() + (port == (isSecure ? 443 : 80) ? "" : ":\(port)")
  }
}
