import Foundation
import GatewayProtocol
import PushCore
import PushPolicy
import TerminalUI

/// One line of the phone's journal: a change, or a part of the state at the beginning of a compacted journal.
enum JournalRecord: Sendable, Equatable {
  /// The first line, with the format version.
  case head(version: Int)
  case change(PhoneChange)
  /// Numbers of the state: the last `seq`, the next ordinal, and the number of dropped pushes.
  case numbers(lastSeq: UInt64, nextOrdinal: Int, dropped: Int)
  case app(InstalledApp)
  case entry(PhoneState.Entry)
  case alert(QueuedAlert)

  /// The version that this program writes, which is also the highest that it reads. Version 2 keeps answers until the
  /// gateway has confirmed them.
  static let version = 2
}

extension PhoneState {
  /// The shortest journal that leads to this state.
  var records: [JournalRecord] {
    // Must precede the numbers, because a change of the numbering resets `lastSeq`.
    let numbering: [JournalRecord] = isRenumbered ? [.change(.renumbered(epoch))] : []
    return [.head(version: JournalRecord.version)] + numbering + apps.map { .app($0) } + [
      .numbers(lastSeq: lastSeq, nextOrdinal: nextOrdinal, dropped: droppedCount),
      .change(.preferences(preferences)), .change(.settings(settings)),
    ] + entries.flatMap(\.records) + alerts.map { .alert($0) }
      + snoozed.map { .change(.snoozed(ordinal: $0.alert.ordinal, until: $0.until)) }
      + pendingAnswers.map { .change(.pending($0)) } + [.change(.place(place))]
  }

  /// Applies a line of a journal.
  mutating func apply(_ record: JournalRecord) {
    switch record {
    case .head: break
    case .change(let change): apply(change)
    case .numbers(let lastSeq, let nextOrdinal, let dropped):
      (self.lastSeq, self.nextOrdinal, droppedCount) = (lastSeq, nextOrdinal, dropped)
    case .app(let app): apps.append(app)
    case .entry(let entry): entries.append(entry)
    case .alert(let alert): alerts.append(alert)
    }
  }
}

extension PhoneState.Entry {
  /// The entry, and the answer to it if there is one.
  fileprivate var records: [JournalRecord] {
    [.entry(self)] + (answer.map { [.change(.retracted(id: push.id, answer: $0))] } ?? [])
  }
}

extension JournalRecord {
  /// Appends the record as one JSON object. A push is its last member, exactly as the gateway sent it.
  func appendJSON(to bytes: inout [UInt8]) {
    switch self {
    case .head(let version): Self.append("phone", ["version": .number(version)], to: &bytes)
    case .numbers(let lastSeq, let nextOrdinal, let dropped):
      Self.append(
        "numbers", ["seq": .number(Int(clamping: lastSeq)), "next": .number(nextOrdinal), "dropped": .number(dropped)],
        to: &bytes)
    case .app(let app):
      Self.append("app", ["app": .apps([app.app]), "badge": .number(app.badge)], to: &bytes)
    case .entry(let entry): Self.append(entry, to: &bytes)
    case .alert(let alert):
      Self.append(
        "alert", ["ordinal": .number(alert.ordinal), "presented": .flag(alert.isPresented)], push: alert.push,
        to: &bytes)
    case .change(let change): change.appendJSON(to: &bytes)
    }
  }

  fileprivate static func append(_ entry: PhoneState.Entry, to bytes: inout [UInt8]) {
    append("entry", ["ordinal": .number(entry.ordinal), "read": .flag(entry.isRead)], push: entry.push, to: &bytes)
  }

  fileprivate enum Value {
    case number(Int)
    case numbers([Int])
    case flag(Bool)
    case text(String)
    case apps([DeviceApp])
  }

  fileprivate static func append(
    _ type: String, _ members: KeyValuePairs<String, Value>, push: DevicePush? = nil, to bytes: inout [UInt8]
  ) {
    bytes += #"{"type":""#.utf8
    bytes += type.utf8
    bytes += #"""#.utf8
    for (name, value) in members {
      bytes += #",""#.utf8
      bytes += name.utf8
      bytes += #"":"#.utf8
      append(value, to: &bytes)
    }
    if let push {
      bytes += #","push":"#.utf8
      bytes += push.line
    }
    bytes.append(UInt8(ascii: "}"))
  }

  private static func append(_ value: Value, to bytes: inout [UInt8]) {
    switch value {
    case .number(let number): bytes += String(number).utf8
    case .numbers(let numbers): bytes += "[\(numbers.map { String($0) }.joined(separator: ","))]".utf8
    case .flag(let flag): bytes += (flag ? "true" : "false").utf8
    case .text(let text): appendJSONString(text, to: &bytes)
    case .apps(let apps): DeviceApp.appendJSON(apps, to: &bytes)
    }
  }
}

extension PhoneChange {
  fileprivate func appendJSON(to bytes: inout [UInt8]) {
    switch self {
    case .received(let push): bytes += push.line
    case .passed(let seq): JournalRecord.append("passed", ["seq": .number(Int(clamping: seq))], to: &bytes)
    case .renumbered(let epoch):
      JournalRecord.append("renumbered", ["epoch": .text(epoch?.description ?? "")], to: &bytes)
    case .presented(let ordinal): JournalRecord.append("presented", ["ordinal": .number(ordinal)], to: &bytes)
    case .answered(let ordinal, let isRead):
      JournalRecord.append("answered", ["ordinal": .number(ordinal), "read": .flag(isRead)], to: &bytes)
    // Earlier versions read these two lines as well: the alert is closed there, and its entry stays unread.
    case .snoozed(let ordinal, let until):
      JournalRecord.append(
        "answered", ["ordinal": .number(ordinal), "read": .flag(false), "until": .number(until)], to: &bytes)
    case .woken(let ordinal):
      JournalRecord.append("presented", ["ordinal": .number(ordinal), "again": .flag(true)], to: &bytes)
    case .pending(let answer):
      JournalRecord.append("kept", ["id": .text(answer.id), "action": .text(answer.action)], to: &bytes)
    case .answersSent: JournalRecord.append("told", [:], to: &bytes)
    case .answerTaken(let id): JournalRecord.append("taken", ["id": .text(id)], to: &bytes)
    case .retracted(let id, nil): JournalRecord.append("retracted", ["id": .text(id)], to: &bytes)
    case .retracted(let id, let answer?):
      JournalRecord.append(
        "retracted",
        [
          "id": .text(id), "action": .text(answer.action), "person": .text(answer.person ?? ""),
          "device": .text(answer.device ?? ""),
        ], to: &bytes)
    case .read(let ordinals): JournalRecord.append("read", ["ordinals": .numbers(ordinals)], to: &bytes)
    case .cleared(let ordinals): JournalRecord.append("cleared", ["ordinals": .numbers(ordinals)], to: &bytes)
    case .restored(let entries):
      // One line for each entry, so that each line ends with its push; ``PhoneJournal/lines(_:)`` splits them.
      for (index, entry) in entries.enumerated() {
        if index > 0 { bytes.append(UInt8(ascii: "\n")) }
        JournalRecord.append(
          "restored", ["ordinal": .number(entry.ordinal), "read": .flag(entry.isRead)], push: entry.push, to: &bytes)
        guard let answer = entry.answer else { continue }
        bytes.append(UInt8(ascii: "\n"))
        PhoneChange.retracted(id: entry.push.id, answer: answer).appendJSON(to: &bytes)
      }
    case .apps(let apps): JournalRecord.append("apps", ["apps": .apps(apps)], to: &bytes)
    case .preferences(let preferences):
      let json = (try? JSONEncoder().encode(preferences)).map { String(decoding: $0, as: UTF8.self) } ?? "{}"
      JournalRecord.append("preferences", ["preferences": .text(json)], to: &bytes)
    case .settings(let settings):
      JournalRecord.append(
        "settings",
        [
          "silent": .flag(settings.isSilent), "volume": .number(settings.volume),
          "notices": .text(settings.notices.rawValue), "focus": .text(settings.focus),
          "appearance": .text(settings.appearance?.rawValue ?? ""), "mouse": .flag(settings.usesMouse),
        ], to: &bytes)
    case .place(let place):
      let (screen, topic, selected): (String, String, Int) =
        switch place.screen {
        case .home: ("home", "", 0)
        case .center: ("center", "", 0)
        case .app(let topic, let selected): ("app", topic, selected ?? 0)
        }
      JournalRecord.append(
        "place",
        [
          "screen": .text(screen), "topic": .text(topic), "selected": .number(selected),
          "app": .text(place.selectedTopic ?? ""),
        ], to: &bytes)
    case .gap(let dropped): JournalRecord.append("gap", ["dropped": .number(dropped)], to: &bytes)
    case .gapNoted: JournalRecord.append("gap-noted", [:], to: &bytes)
    }
  }
}

extension JournalRecord {
  /// Parses one line; nil if this version does not support its type.
  init?(_ line: [UInt8], parser: JSONParser) {
    let record = try? parser.parse(line.span) { root in JournalRecord(root, line: line) }
    guard let record = record ?? nil else { return nil }
    self = record
  }

  private init?(_ root: JSONElement, line: [UInt8]) {
    let ordinal = root["ordinal"]?.count ?? 0
    switch root["type"]?.string {
    case "push":
      guard let push = DevicePush(root, line: line) else { return nil }
      self = .change(.received(push))
    case "phone": self = .head(version: root["version"]?.integer ?? 0)
    case "numbers":
      self = .numbers(
        lastSeq: UInt64(root["seq"]?.count ?? 0), nextOrdinal: root["next"]?.count ?? 1,
        dropped: root["dropped"]?.count ?? 0)
    case "app":
      guard let app = Self.apps(root["app"]).first else { return nil }
      self = .app(InstalledApp(app: app, badge: root["badge"]?.integer ?? 0))
    case "entry", "restored":
      guard let push = Self.push(root, line: line) else { return nil }
      let entry = PhoneState.Entry(ordinal: ordinal, push: push, isRead: root["read"]?.boolean ?? false)
      self = root["type"]?.string == "entry" ? .entry(entry) : .change(.restored([entry]))
    case "alert":
      guard let push = Self.push(root, line: line) else { return nil }
      self = .alert(QueuedAlert(ordinal: ordinal, push: push, isPresented: root["presented"]?.boolean ?? false))
    case "passed": self = .change(.passed(seq: UInt64(root["seq"]?.count ?? 0)))
    case "renumbered": self = .change(.renumbered(root["epoch"]?.string.flatMap(NumberingEpoch.init)))
    case "presented":
      self = .change(root["again"]?.boolean == true ? .woken(ordinal: ordinal) : .presented(ordinal: ordinal))
    case "answered" where root["until"]?.count != nil:
      self = .change(.snoozed(ordinal: ordinal, until: root["until"]?.count ?? 0))
    case "answered": self = .change(.answered(ordinal: ordinal, isRead: root["read"]?.boolean ?? true))
    case "kept":
      let answer = PhoneState.PendingAnswer(id: root["id"]?.string ?? "", action: root["action"]?.string ?? "")
      self = .change(.pending(answer))
    case "told": self = .change(.answersSent)
    case "taken": self = .change(.answerTaken(id: root["id"]?.string ?? ""))
    case "retracted":
      let (person, device) = (root["person"]?.string ?? "", root["device"]?.string ?? "")
      let answer = root["action"]?.string.map {
        GivenAnswer(action: $0, person: person.isEmpty ? nil : person, device: device.isEmpty ? nil : device)
      }
      self = .change(.retracted(id: root["id"]?.string ?? "", answer: answer))
    case "read": self = .change(.read(Self.numbers(root["ordinals"])))
    case "cleared": self = .change(.cleared(Self.numbers(root["ordinals"])))
    case "apps": self = .change(.apps(Self.apps(root["apps"])))
    case "preferences":
      let json = (root["preferences"]?.string ?? "{}").utf8
      self = .change(.preferences((try? decodeJSON(Preferences.self, from: json)) ?? Preferences()))
    case "settings":
      self = .change(
        .settings(
          DeviceSettings(
            isSilent: root["silent"]?.boolean ?? false, volume: min(max(root["volume"]?.integer ?? 100, 0), 100),
            notices: root["notices"]?.string.flatMap(DeviceSettings.Notices.init) ?? .unfocused,
            focus: root["focus"]?.string ?? "",
            appearance: root["appearance"]?.string.flatMap(Appearance.init), usesMouse: root["mouse"]?.boolean ?? true))
      )
    case "place":
      let selected = root["selected"]?.count ?? 0
      let screen: PhoneState.Screen =
        switch root["screen"]?.string {
        // Version 0.1 wrote the spelling `centre`.
        case "center", "centre": .center
        case "app": .app(topic: root["topic"]?.string ?? "", selected: selected == 0 ? nil : selected)
        default: .home
        }
      let topic = root["app"]?.string ?? ""
      self = .change(.place(PhoneState.Place(screen: screen, selectedTopic: topic.isEmpty ? nil : topic)))
    case "gap": self = .change(.gap(dropped: root["dropped"]?.count ?? 0))
    case "gap-noted": self = .change(.gapNoted)
    default: return nil
    }
  }

  private static func numbers(_ element: JSONElement?) -> [Int] {
    var numbers: [Int] = []
    element?.forEachElement { if let number = $0.count { numbers.append(number) } }
    return numbers
  }

  private static func apps(_ element: JSONElement?) -> [DeviceApp] {
    var apps: [DeviceApp] = []
    element?.forEachElement { apps.append(DeviceApp($0)) }
    return apps
  }

  /// Returns the push at the end of a line.
  private static func push(_ root: JSONElement, line: [UInt8]) -> DevicePush? {
    guard let element = root["push"] else { return nil }
    // The members before the push are short and do not contain this mark.
    let mark = Array(#","push":"#.utf8)
    let place = line.indices.prefix(200).first { line[$0...].starts(with: mark) }
    return place.flatMap { DevicePush(element, line: Array(line[($0 + mark.count)...].dropLast())) }
  }
}
