/// One deferred push, as an entry of a summary.
package struct SummaryEntry: Sendable, Equatable {
  package var id: String
  package var topic: String
  /// The name of the app.
  package var app: String
  /// The text for the user, in one line; may be empty.
  package var title: String
  /// The sender's `relevance-score`.
  package var relevance: Double
  package var badge: Int?
  /// The time when the gateway accepted the push, in milliseconds since 1970.
  package var received: Int64
  /// The collapse identifier: a later entry of the same app with the same one replaces this entry; empty for none.
  package var collapseID: String

  package init(
    id: String, topic: String, app: String, title: String, relevance: Double = 0, badge: Int? = nil, received: Int64,
    collapseID: String = ""
  ) {
    (self.id, self.topic, self.app, self.title) = (id, topic, app, title)
    (self.relevance, self.badge, self.received, self.collapseID) = (relevance, badge, received, collapseID)
  }

  /// The maximum length of a text in a summary, in Unicode scalars.
  package static let maximumTitleSize = 80

  /// Returns the line for an alert: its title, or, if it has none, its subtitle or body.
  package static func line(_ alert: AlertPresentation) -> String {
    let text = [alert.title, alert.subtitle, alert.body].first { !$0.isEmpty } ?? ""
    let scalars = text.unicodeScalars.prefix(maximumTitleSize + 1)
    var line = String.UnicodeScalarView()
    for scalar in scalars.prefix(maximumTitleSize) { line.append(scalar.value < 0x20 ? " " : scalar) }
    return String(line) + (scalars.count > maximumTitleSize ? "…" : "")
  }
}

/// The summary of deferred pushes: all entries, the most relevant first, and the newest badge of each app.
package struct PushSummary: Sendable, Equatable {
  package var entries: [SummaryEntry]

  /// The number of entries that the text lists.
  static let namedCount = 5

  /// Makes a summary of deferred pushes, given with the oldest first.
  ///
  /// The entries are ordered by relevance, and equal ones with the newest first. Duplicates occur once; replaced
  /// entries are omitted.
  package init(_ held: some Sequence<SummaryEntry>) {
    var replaced: Set<Slot> = []
    var ids: Set<String> = []
    var kept: [SummaryEntry] = []
    let newestFirst = held.enumerated().sorted {
      ($0.element.received, $0.offset) > ($1.element.received, $1.offset)
    }
    for (_, entry) in newestFirst {
      guard ids.insert(entry.id).inserted else { continue }
      let slot = Slot(topic: entry.topic, collapseID: entry.collapseID)
      if entry.collapseID.isEmpty || replaced.insert(slot).inserted { kept.append(entry) }
    }
    // The sort is stable: among equals the newest stays first.
    entries = kept.sorted { $0.relevance > $1.relevance }
  }

  private struct Slot: Hashable {
    var topic: String
    var collapseID: String
  }

  /// The badge of each topic's newest entry that has one.
  package var badges: [(topic: String, badge: Int)] {
    var newest: [String: (received: Int64, badge: Int)] = [:]
    for entry in entries {
      guard let badge = entry.badge, newest[entry.topic].map({ entry.received > $0.received }) ?? true else { continue }
      newest[entry.topic] = (entry.received, badge)
    }
    return newest.map { ($0.key, $0.value.badge) }.sorted { $0.0 < $1.0 }
  }

  /// The summary as the payload of a push: an alert with one button, which lists the first entries, and all entries
  /// under the key `digest`.
  package var payload: [UInt8] {
    var lines = entries.prefix(PushSummary.namedCount).map { entry in
      entry.title.isEmpty ? entry.app : "\(entry.app): \(entry.title)"
    }
    if entries.count > lines.count { lines.append("and \(entries.count - lines.count) more") }
    var bytes = Array(#"{"aps":{"alert":{"title":"#.utf8)
    appendJSONString(entries.count == 1 ? "1 Notification" : "\(entries.count) Notifications", to: &bytes)
    bytes += #","body":"#.utf8
    appendJSONString(lines.joined(separator: "\n"), to: &bytes)
    bytes += #","action-loc-key":null}},"digest":{"entries":["#.utf8
    for (index, entry) in entries.enumerated() {
      bytes += (index == 0 ? #"{"id":"# : #",{"id":"#).utf8
      appendJSONString(entry.id, to: &bytes)
      bytes += #","topic":"#.utf8
      appendJSONString(entry.topic, to: &bytes)
      bytes += #","title":"#.utf8
      appendJSONString(entry.title, to: &bytes)
      bytes += #","relevance":\#(entry.relevance)}"#.utf8
    }
    bytes += #"],"badges":{"#.utf8
    for (index, (topic, badge)) in badges.enumerated() {
      if index > 0 { bytes += ",".utf8 }
      appendJSONString(topic, to: &bytes)
      bytes += ":\(badge)".utf8
    }
    return bytes + "}}}".utf8
  }
}
