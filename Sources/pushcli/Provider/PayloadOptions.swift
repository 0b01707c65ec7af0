import ArgumentParser
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
  @Option(help: "The interruption level: passive, active, time-sensitive or critical. (active)")
  var level: InterruptionLevel?
  @Option(help: "The order in a summary: 0 to 1, the highest first. (0)") var relevance: Double?
  @Option(help: "The http or https address that View opens, sent as url.") var link: String?
  @Option(help: "The address of a picture, sent as image, for devices that show pictures.") var image: String?
  @Option(help: "A custom member of the payload, outside aps, as KEY=VALUE with a text as value; repeatable.")
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

  /// The options as a value.
  var content: PayloadContent {
    PayloadContent(
      title: title, subtitle: subtitle, body: body, badge: badge, sound: sound, category: category, thread: thread,
      level: level, relevance: relevance, link: link, image: image, data: data)
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
