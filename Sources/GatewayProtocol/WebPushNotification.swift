package import PushPolicy

/// The content of a decrypted Web Push message.
///
/// A message has one of three forms: a declarative message, which is a JSON object with `"web_push": 8030`; another JSON
/// object with members that service workers usually read; or a text.
package struct WebPushNotification: Sendable, Equatable {
  package var title: String?
  package var body: String?
  /// The address that a click opens.
  package var link: String?
  /// The count on the app's icon.
  package var badge: Int?
  /// True if the message requests no sound.
  package var isSilent = false

  /// The type of a declarative message: the number of RFC 8030.
  private static let declarative = 8030

  /// The text of the alert for a message without content.
  package static let emptyText = "New message"

  /// Reads a decrypted message: JSON without a known member counts as a text; nil if the message is not valid UTF-8.
  package static func read(_ message: [UInt8], parser: JSONParser) -> WebPushNotification? {
    guard let text = String(validating: message, as: UTF8.self) else { return nil }
    if message.first(where: { $0 > 0x20 }) == UInt8(ascii: "{") {
      let read = try? parser.parse(message.span) { root in WebPushNotification(root) }
      if let found = read ?? nil { return found }
    }
    var plain = WebPushNotification()
    plain.body = text.isEmpty ? emptyText : text
    return plain
  }

  private init() {}

  /// Reads the members of a JSON object; nil if it has neither title, body nor badge.
  private init?(_ root: JSONElement) {
    let isDeclarative = root["web_push"]?.integer == WebPushNotification.declarative
    if root["notification"]?.kind == .object, let notification = root["notification"] {
      read(notification)
    } else if !isDeclarative {
      read(root)
    }
    badge = badge ?? root["app_badge"]?.integer
    guard title != nil || body != nil || badge != nil else { return nil }
  }

  private mutating func read(_ source: JSONElement) {
    title = WebPushNotification.text(source["title"]?.string)
    body = WebPushNotification.text(
      source["body"]?.string ?? source["options"]?["body"]?.string ?? source["message"]?.string)
    let links = [
      source["navigate"]?.string, source["url"]?.string, source["link"]?.string, source["data"]?["url"]?.string,
      source["options"]?["data"]?["url"]?.string,
    ]
    link = links.compactMap(\.self).first(where: WebPushNotification.isLink)
    badge = source["app_badge"]?.integer
    isSilent = source["silent"]?.boolean ?? false
  }

  private static func text(_ text: String?) -> String? { text?.isEmpty == false ? text : nil }

  /// Returns true for an address that the action View opens.
  private static func isLink(_ text: String) -> Bool {
    (text.hasPrefix("https://") || text.hasPrefix("http://")) && text.utf8.allSatisfy { $0 > 0x20 && $0 < 0x7F }
  }

  /// Returns the payload of a push with this content.
  ///
  /// - Parameters:
  ///   - level: the interruption level, which the sender's urgency determines.
  ///   - hasSound: true if a push with this urgency has a sound.
  package func payload(level: InterruptionLevel, hasSound: Bool) -> [UInt8] {
    var json = Array(#"{"aps":{"interruption-level":""#.utf8) + level.rawValue.utf8 + [UInt8(ascii: "\"")]
    if title != nil || body != nil {
      append(#","alert":{"#, to: &json)
      if let title {
        append(#""title":"#, to: &json)
        appendJSONString(title, to: &json)
      }
      if let body {
        append(title == nil ? #""body":"# : #","body":"#, to: &json)
        appendJSONString(body, to: &json)
      }
      append("}", to: &json)
    }
    if let badge { json += #","badge":\#(badge)"#.utf8 }
    if hasSound, !isSilent, title != nil || body != nil { append(#","sound":"default""#, to: &json) }
    append("}", to: &json)
    if let link {
      append(#","url":"#, to: &json)
      appendJSONString(link, to: &json)
    }
    append("}", to: &json)
    return json
  }
}
