import GatewayProtocol
import HTTP2Transport
import PushCore
import PushPolicy
import PushStorage

/// The path of an endpoint of Web Push, or of a message that was sent to it: `/webpush/ID` or `/webpush/ID/MESSAGE`.
struct WebPushPath {
  let endpoint: String
  /// The `apns-id` of a message; nil for the endpoint.
  let message: APNSID?

  /// - Returns: nil for another path.
  init?(_ path: String) {
    let parts = path.dropFirst(Paths.webPush.utf8CodeUnitCount).split(separator: "/", omittingEmptySubsequences: false)
    guard path.hasPrefix("\(Paths.webPush)"), (1...2).contains(parts.count), let endpoint = parts.first,
      !endpoint.isEmpty
    else { return nil }
    message = parts.count == 2 ? APNSID(String(parts[1])) : nil
    guard parts.count == 1 || message != nil else { return nil }
    self.endpoint = String(endpoint)
  }
}

/// A message in the form of Web Push (RFC 8030), encrypted for the device (RFC 8291).
struct WebPushMessage: Sendable {
  let sent: SentMessage
  /// The lifetime of the push in seconds, at most ``Limits/maximumLifetime``; 0: it is only delivered to open streams.
  let lifetime: Int64
  /// The `apns-priority`.
  let priority: UInt8
  /// The `apns-collapse-id`, made from the tag of the endpoint and the topic of the message; nil without a topic.
  let collapseID: String?
  /// The address of the endpoint.
  private let address: String
  /// True if the sender requests a receipt.
  private let wantsReceipt: Bool

  private enum Urgency: String, CaseIterable {
    case veryLow = "very-low"
    case low, normal, high

    /// The importance, and the priority of the push.
    var importance: (urgency: MessageUrgency, priority: UInt8) {
      switch self {
      case .veryLow: (.quiet, 1)
      case .low: (.quiet, 5)
      case .normal: (.normal, 10)
      case .high: (.urgent, 10)
      }
    }
  }

  /// Decodes a request.
  init(_ request: ControlRequest, to endpoint: MessageSender.Endpoint) throws(MessageRefusal) {
    ReadingSteps.add(request.body.count)
    lifetime = try WebPushMessage.lifetime(request.fields["ttl"])
    let importance = try WebPushMessage.urgency(request.fields["urgency"]).importance
    priority = importance.priority
    let tag = WebPushEnvelope.tag(of: endpoint.id)
    collapseID = try WebPushMessage.topic(request.fields["topic"]).map { "\(tag)/\($0)" }
    address = "\(endpoint.origin)\(Paths.webPush)\(endpoint.id)"
    wantsReceipt = request.fields["prefer"]?.lowercased().contains("respond-async") ?? false
    var fields = importance.urgency.fields
    guard !request.body.isEmpty else {
      fields[.body] = WebPushNotification.emptyText
      sent = try SentMessage(fields, now: 0)
      return
    }
    try WebPushMessage.checkEncoding(request.fields["content-encoding"])
    do throws(WebPushFault) {
      _ = try WebPushRecord(request.body)
    } catch {
      throw MessageRefusal(400, "BadEncryption", error.description)
    }
    let envelope = WebPushEnvelope(
      endpoint: tag, content: request.body, level: fields[.level].flatMap(InterruptionLevel.init) ?? .active,
      hasSound: fields[.sound] != nil, holdsAds: endpoint.holdsAds)
    sent = SentMessage(encrypted: envelope)
  }

  private static func lifetime(_ text: String?) throws(MessageRefusal) -> Int64 {
    guard let text, !text.isEmpty, text.utf8.allSatisfy({ (UInt8(ascii: "0")...UInt8(ascii: "9")).contains($0) }) else {
      throw .badMessage("ttl: expected a field with the seconds to keep the message, as 86400; 0: deliver now or never")
    }
    // A number above the range of its type is also above the maximum.
    return min(Int64(text) ?? .max, Int64(Limits.maximumLifetime))
  }

  private static func urgency(_ text: String?) throws(MessageRefusal) -> Urgency {
    guard let urgency = Urgency(rawValue: text?.lowercased() ?? Urgency.normal.rawValue) else {
      throw .badMessage("urgency: expected \(Urgency.allCases.map(\.rawValue).joined(separator: ", "))")
    }
    return urgency
  }

  private static func topic(_ text: String?) throws(MessageRefusal) -> String? {
    guard let text else { return nil }
    let isValid =
      (1...Limits.maximumWebPushTopic).contains(text.utf8.count)
      && text.utf8.allSatisfy { byte in
        byte.isUpperOrDigit || (UInt8(ascii: "a")...UInt8(ascii: "z")).contains(byte) || "-_".utf8.contains(byte)
      }
    guard isValid else {
      throw .badMessage("topic: expected 1 to \(Limits.maximumWebPushTopic) characters of base64url")
    }
    return text
  }

  private static func checkEncoding(_ text: String?) throws(MessageRefusal) {
    let encoding = text?.lowercased() ?? ""
    if encoding == "aes128gcm" { return }
    let given =
      encoding == "aesgcm"
      ? "the content encoding aesgcm of an earlier draft is not supported"
      : "the message is not encrypted for the endpoint"
    throw MessageRefusal(
      415, "UnsupportedContentEncoding", "\(given): expected content-encoding: aes128gcm (RFC 8291)")
  }

  /// Returns the response to the accepted message.
  ///
  /// - Parameter id: the `apns-id` of its push.
  func response(id: String) -> Response {
    let place = "\(address)/\(id)"
    var fields: [(name: StaticString, value: String)] = [
      (name: "location", value: place), (name: "ttl", value: String(lifetime)),
    ]
    if wantsReceipt { fields.append((name: "link", value: "<\(place)>; rel=\"urn:ietf:params:push:receipt\"")) }
    return Response(status: wantsReceipt ? 202 : 201, fields: fields)
  }
}
