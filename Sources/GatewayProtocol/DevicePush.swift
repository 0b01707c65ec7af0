package import Foundation
package import PushCore
package import PushPolicy

package struct DeviceApp: Sendable, Equatable {
  package var topic: String
  package var name: String
  /// One emoji or two letters.
  package var icon: String
  /// True if the app sends marketing: its alerts offer to unsubscribe.
  package var sendsMarketing: Bool
  /// The use of the app's alerts by its recipients; nil without any, and in pushes.
  package var standing: DeviceStanding?

  package init(
    topic: String, name: String, icon: String, sendsMarketing: Bool = false, standing: DeviceStanding? = nil
  ) {
    (self.topic, self.name, self.icon) = (topic, name, icon)
    (self.sendsMarketing, self.standing) = (sendsMarketing, standing)
  }
}

/// One push as the gateway delivered it.
package struct DevicePush: Sendable, Equatable {
  /// Its number in this device's mailbox; 0 for a push that was never stored.
  package var seq: UInt64
  package var id: String
  package var app: DeviceApp
  package var received: Date
  /// The `apns-collapse-id`; empty for none. A later push of the app with the same id replaces this one.
  package var collapseID: String
  /// The thread id that groups pushes of one conversation; empty for none.
  package var threadID: String
  /// The presentation that the policy allows.
  package var presentation: Presentation
  /// The parts that the sender requested.
  package var asked: [Part]
  /// The volume of the sound that the sender requests, from 0 to 1: a fraction of the user's own volume (S5).
  package var soundVolume = 1.0
  /// The interruption level that the sender requests.
  package var level: InterruptionLevel
  /// The line of JSON as the gateway sent it.
  package var line: [UInt8]

  package var topic: String { app.topic }

  /// The topic of summaries, which the gateway itself sends: not an app of the home screen.
  package static let digestTopic = "summary"

  /// The sender's payload as JSON: the gateway writes it last, and the marker before it can't occur within a string.
  package var payload: String {
    let mark = Array(#","payload":"#.utf8)
    guard let place = line.firstRange(of: mark) else { return "{}" }
    return String(decoding: line[place.upperBound...].dropLast(), as: UTF8.self)
  }

  /// The first link of the payload outside its texts: under `url` or `link`, else the first one by name.
  package var link: String? {
    let links = links
    return links["url"] ?? links["link"] ?? links.min { $0.key < $1.key }?.value
  }

  /// The address of its image, which `send --image` sets.
  package var image: String? { links["image"] }

  /// The attachment of its message; nil without one.
  package var attachment: AttachmentReference? { AttachmentReference(payload: Array(payload.utf8)) }

  /// The links of the payload outside its texts, by name.
  private var links: [String: String] {
    var links: [String: String] = [:]
    try? JSONParser().parse(Array(payload.utf8).span) { root in
      root.forEachMember { name, value in
        if name != "aps", let text = value.string, DevicePush.isLink(text) { links[name] = text }
      }
    }
    return links
  }

  /// Returns true if `text` is an HTTP address without bytes that a terminal could interpret as a command.
  private static func isLink(_ text: String) -> Bool {
    (text.hasPrefix("https://") || text.hasPrefix("http://")) && text.utf8.count <= 2_000
      && text.utf8.allSatisfy { $0 > 0x20 && $0 < 0x7F }
  }
}

extension DeviceApp {
  /// Reads an app from an element of `welcome`.
  package init(_ element: JSONElement) {
    topic = element["topic"]?.string ?? ""
    name = element["name"]?.string ?? topic
    icon = element["icon"]?.string ?? ""
    sendsMarketing = element["marketing"]?.boolean == true
    if let given = element["standing"] { standing = DeviceStanding(given) }
  }

  /// Appends apps as a JSON list, whose elements ``init(_:)`` reads.
  package static func appendJSON(_ apps: [DeviceApp], to bytes: inout [UInt8]) {
    append("[", to: &bytes)
    for (index, app) in apps.enumerated() {
      append(index == 0 ? #"{"topic":"# : #",{"topic":"#, to: &bytes)
      appendJSONString(app.topic, to: &bytes)
      append(#","name":"#, to: &bytes)
      appendJSONString(app.name, to: &bytes)
      append(#","icon":"#, to: &bytes)
      appendJSONString(app.icon, to: &bytes)
      if app.sendsMarketing { append(#","marketing":true"#, to: &bytes) }
      if let standing = app.standing {
        append(#","standing":"#, to: &bytes)
        standing.appendJSON(to: &bytes)
      }
      append("}", to: &bytes)
    }
    append("]", to: &bytes)
  }
}

extension DevicePush {
  /// Reads a `push` line; nil for any other line.
  package init?(line: some Collection<UInt8>, parser: JSONParser) {
    let bytes = Array(line)
    let parsed = try? parser.parse(bytes.span) { DevicePush($0, line: bytes) }
    guard let push = parsed ?? nil else { return nil }
    self = push
  }

  /// Reads a `push` object, whose complete line is `line`.
  package init?(_ root: JSONElement, line bytes: [UInt8]) {
    guard let header = PushHeader(root) else { return nil }
    let aps = root["payload"]?["aps"]
    (seq, id, line) = (header.seq, header.id, bytes)
    app = DeviceApp(
      topic: header.topic, name: root["app"]?["name"]?.string ?? header.topic,
      icon: root["app"]?["icon"]?.string ?? "", sendsMarketing: root["app"]?["marketing"]?.boolean == true)
    received = Date(timeIntervalSince1970: Double(Timestamp.read(header.received.utf8) ?? 0) / 1000)
    (collapseID, threadID) = (root["collapse"]?.string ?? "", aps?["thread-id"]?.string ?? "")
    (presentation, asked) = (Presentation(root["presentation"]), DevicePush.parts(askedIn: aps))
    soundVolume = aps?["sound"]?["volume"]?.double.map { min(max($0, 0), 1) } ?? 1
    level = aps?["interruption-level"]?.string.flatMap(InterruptionLevel.init) ?? .active
  }

  /// Returns the parts that a payload's `aps` requests.
  private static func parts(askedIn aps: JSONElement?) -> [Part] {
    func isThere(_ element: JSONElement?) -> Bool {
      if let element { element.kind != .null } else { false }
    }
    let asked: [(Part, Bool)] = [
      (.badge, isThere(aps?["badge"])), (.sound, isThere(aps?["sound"])), (.alert, isThere(aps?["alert"])),
    ]
    return asked.filter(\.1).map(\.0)
  }
}

extension Presentation {
  /// The parts that a device shows, plays and counts.
  package var parts: [Part] {
    Part.allCases.filter { part in
      switch part {
      case .badge: badge != nil
      case .sound: sound != nil
      case .alert: alert != nil
      }
    }
  }

  /// Reads the `presentation` of a push.
  fileprivate init(_ element: JSONElement?) {
    self.init(
      badge: element?["badge"]?.integer, sound: element?["sound"]?.string)
    if let alert = element?["alert"] { self.alert = AlertPresentation(alert) }
    // Earlier gateways send the British spelling.
    if let center = element?["center"] { self.center = AlertPresentation(center) }
    if let center = element?["centre"] { self.center = AlertPresentation(center) }
    budget = element?["budget"]?.count
    newCategory = element?["new_category"]?.string
    guard let held = element?["held"], let by = held["by"]?.string.flatMap(Deferral.Reason.init) else { return }
    self.held = Deferral(
      by: by, until: held["until"]?.integer.map { Int64($0) }, relevance: held["relevance"]?.double ?? 0)
  }
}

extension AlertPresentation {
  fileprivate init(_ element: JSONElement) {
    var buttons: [String] = []
    element["buttons"]?.forEachElement { if let title = $0.string { buttons.append(title) } }
    self.init(
      title: element["title"]?.string ?? "", subtitle: element["subtitle"]?.string ?? "",
      body: element["body"]?.string ?? "", buttons: buttons)
    guard let offered = element["actions"] else { return }
    var actions: [AlertAction] = []
    offered.forEachElement { action in
      guard let id = action["id"]?.string, let title = action["title"]?.string else { return }
      actions.append(AlertAction(id: id, title: title, isDestructive: action["destructive"]?.boolean ?? false))
    }
    self.actions = actions
  }
}
