import Foundation
import PushPolicy

/// The content of a push, from which a payload is made.
struct PayloadContent: Sendable {
  var title, subtitle, body: String?
  var badge: Int?
  var sound, category, thread: String?
  var level: InterruptionLevel?
  var relevance: Double?
  var link, image: String?
  var data: [DataArgument] = []

  /// True if any member is given, even with an empty value.
  var isGiven: Bool {
    [title, subtitle, body, sound, category, thread, link, image].contains { $0 != nil } || badge != nil
      || level != nil || relevance != nil || !data.isEmpty
  }

  /// True if there is content that a device can show or use. A category, a thread and a level are not content.
  var hasContent: Bool {
    [title, subtitle, body, sound, link, image].contains { $0?.isEmpty == false } || badge != nil || !data.isEmpty
  }

  /// Returns the payload, with `body` as the message.
  func payload(body: String?) throws -> [UInt8] {
    struct Alert: Encodable { var title, subtitle, body: String? }
    struct APS: Encodable {
      var alert: Alert?
      var badge: Int?
      var sound, category, thread: String?
      var level: InterruptionLevel?
      var relevance: Double?
      var mutableContent: Int?
      enum CodingKeys: String, CodingKey {
        case alert, badge, sound, category
        case thread = "thread-id"
        case level = "interruption-level"
        case relevance = "relevance-score"
        case mutableContent = "mutable-content"
      }
    }
    enum Member: Encodable {
      case aps(APS)
      case text(String)
      func encode(to encoder: any Encoder) throws {
        switch self {
        case .aps(let aps): try aps.encode(to: encoder)
        case .text(let text): try text.encode(to: encoder)
        }
      }
    }
    let texts = [title, subtitle, body].map { $0?.isEmpty == true ? nil : $0 }
    let hasAlert = texts.contains { $0 != nil }
    let aps = APS(
      alert: hasAlert ? Alert(title: texts[0], subtitle: texts[1], body: texts[2]) : nil, badge: badge, sound: sound,
      category: category, thread: thread, level: level, relevance: relevance,
      // Without it, no device loads an image before it shows the alert.
      mutableContent: image == nil ? nil : 1)
    var members: [String: Member] = ["aps": .aps(aps)]
    for entry in data { members[entry.key] = .text(entry.value) }
    if let link { members["url"] = .text(link) }
    if let image { members["image"] = .text(image) }
    let encoder = JSONEncoder()
    encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
    return Array(try encoder.encode(members))
  }
}
