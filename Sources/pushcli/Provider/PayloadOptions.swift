import ArgumentParser
import Foundation
import PushPolicy

/// The options of a push's content, from which a payload is made.
struct PayloadOptions: ParsableArguments {
  @Option(name: .shortAndLong, help: "The alert's title.") var title: String?
  @Option(help: "The alert's subtitle.") var subtitle: String?
  @Option(name: .shortAndLong, help: "The alert's message, as the words after the options; - reads standard input.")
  var body: String?
  @Option(help: "The count on the app's icon; 0 clears it.") var badge: Int?
  @Option(help: "The sound's name, or default.", completion: CompletionCandidates.sounds) var sound: String?
  @Option(
    help: "The app's category; its actions are buttons of the alert.", completion: CompletionCandidates.categories)
  var category: String?
  @Option(help: "Its thread: alerts of a thread are shown together.") var thread: String?
  @Option(help: "How much it may interrupt: passive, active, time-sensitive or critical. (active)")
  var level: InterruptionLevel?
  @Option(help: "Where it stands in a summary: 0 to 1, the highest first. (0)") var relevance: Double?
  @Option(help: "What View opens: an http or https address, sent as url.") var link: String?
  @Option(help: "The address of a picture, sent as image, for devices that show pictures.") var image: String?
  @Option(help: "A member of the payload beside aps, as KEY=VALUE, whose value is a text; repeatable.")
  var data: [DataArgument] = []

  func validate() throws {
    if let relevance, !(0...1).contains(relevance) { throw ValidationError("--relevance is a number from 0 to 1") }
    if let badge, badge < 0 { throw ValidationError("--badge is a whole number of at least 0, not \(badge)") }
    for (option, address) in [("--link", link), ("--image", image)] {
      guard let address, !PayloadOptions.isAddress(address) else { continue }
      throw ValidationError("\(option) is an address that begins with https:// or http://, not \"\(address)\"")
    }
    let keys = data.map(\.key) + (link == nil ? [] : ["url"]) + (image == nil ? [] : ["image"])
    if let key = keys.first(where: { key in keys.count { $0 == key } > 1 }) {
      throw ValidationError("the payload's \(key) is given more than once: --link is sent as url, --image as image")
    }
  }

  private static func isAddress(_ text: String) -> Bool {
    (text.hasPrefix("https://") || text.hasPrefix("http://")) && text.utf8.allSatisfy { $0 > 0x20 && $0 < 0x7F }
  }

  /// True if any option of the payload is given, even with an empty value.
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

/// A member of the payload, such as `order=4711`.
struct DataArgument: ExpressibleByArgument {
  var key, value: String

  /// Parses `key=value`; nil without a key, and for `aps`, which the other options make.
  init?(argument: String) {
    guard let place = argument.firstIndex(of: "="), place != argument.startIndex else { return nil }
    key = String(argument[..<place])
    value = String(argument[argument.index(after: place)...])
    if key == "aps" { return nil }
  }
}

extension InterruptionLevel: ExpressibleByArgument {}
