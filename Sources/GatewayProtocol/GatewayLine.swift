import Foundation
import PushCore
import PushPolicy

/// Lines of the gateway (design §4), as this client understands them.
enum GatewayLine {
  /// What whole lines say; pushes in a row are one event, those up to `cursor` are none.
  ///
  /// Of a push only its number is read here: who shows it reads on with ``DevicePush/init(line:parser:)``.
  static func events(in bytes: [UInt8], after cursor: UInt64, parser: JSONParser) -> [DeviceEvent] {
    var events: [DeviceEvent] = []
    var batch = PushBatch()
    batch.bytes.reserveCapacity(bytes.count)
    var last = cursor
    var start = 0
    while start < bytes.count, let end = bytes[start...].firstIndex(of: UInt8(ascii: "\n")) {
      let line = start..<end
      start = end + 1
      switch meaning(of: bytes.span.extracting(line), parser: parser) {
      case .push(let seq):
        guard seq == 0 || seq > last else { continue }
        last = max(last, seq)
        batch.append(bytes[line], seq: seq)
      case .others(let others):
        if !batch.lines.isEmpty { events.append(.pushes(batch)) }
        batch = PushBatch()
        if case .unreadable(let seq)? = others.first {
          guard seq == 0 || seq > last else { continue }
          last = max(last, seq)
        }
        events += others
      case nil: break
      }
    }
    if !batch.lines.isEmpty { events.append(.pushes(batch)) }
    return events
  }

  /// The highest number of a push that a gateway gives out: what every JSON library reads exactly.
  private static let maximumSeq = 1 << 53

  private enum Meaning {
    case push(seq: UInt64)
    case others([DeviceEvent])
  }

  private static func meaning(of line: Span<UInt8>, parser: JSONParser) -> Meaning? {
    let meaning: Meaning?
    do {
      meaning = try parser.parse(line) { GatewayLine.meaning(of: $0, in: line) }
    } catch {
      return numberOfPush(line).map { .others([.unreadable(seq: $0)]) }
    }
    guard case .others(let others)? = meaning, others.isEmpty || others.contains(where: \.isWelcome) else {
      return meaning
    }
    // Choices are read by their own decoder, which knows what is missing and what is new; they come seldom.
    struct Choices: Decodable { var preferences: Preferences? }
    let bytes = unsafe line.withUnsafeBufferPointer { unsafe Array($0) }
    let choices = try? decodeJSON(Choices.self, from: bytes, maximumDepth: JSONParser.maximumLineDepth)
    guard let preferences = choices?.preferences else { return meaning }
    return .others(others + [.preferences(preferences)])
  }

  private static func meaning(of root: JSONElement, in line: Span<UInt8>) -> Meaning? {
    switch root["type"]?.string {
    case "push":
      guard let seq = root["seq"]?.integer, seq <= maximumSeq, root["id"]?.kind == .string,
        root["topic"]?.kind == .string
      else {
        return .others([.unreadable(seq: numberOfPush(line) ?? 0)])
      }
      return .push(seq: UInt64(clamping: seq))
    case "welcome":
      var apps: [DeviceApp] = []
      root["apps"]?.forEachElement { apps.append(DeviceApp($0)) }
      return .others([.connected(gateway: root["gateway"]?.string ?? ""), .apps(apps)])
    case "preferences": return .others([])
    case "retract": return root["id"]?.string.map { .others([.retract(id: $0)]) }
    case "gap": return root["dropped"]?.count.map { .others([.gap(dropped: $0)]) }
    case "undeliverable": return .others([.undeliverable(topic: root["topic"]?.string ?? "")])
    default: return nil
    }
  }

  /// The number of a push whose line can't be read, as its first bytes say it; 0 for one that says none.
  ///
  /// - Returns: nil when the line does not begin as a push does.
  private static func numberOfPush(_ line: Span<UInt8>) -> UInt64? {
    let head = Array(#"{"type":"push""#.utf8)
    let mark = Array(#","seq":"#.utf8)
    let start = head.count + mark.count
    guard line.count >= head.count, head.indices.allSatisfy({ line[$0] == head[$0] }) else { return nil }
    guard line.count > start, mark.indices.allSatisfy({ line[head.count + $0] == mark[$0] }) else { return 0 }
    var number: UInt64 = 0
    for place in start..<min(line.count, start + 18) {
      let digit = line[place] &- UInt8(ascii: "0")
      guard digit < 10 else { break }
      number = number * 10 + UInt64(digit)
    }
    return number <= UInt64(maximumSeq) ? number : 0
  }
}

extension JSONElement {
  /// An integer brought between 0 and 2⁵³: what is counted in it can be added up, and no number ends the process.
  var count: Int? { integer.map { min(max($0, 0), 1 << 53) } }
}

extension DeviceApp {
  /// From an element of `welcome`.
  init(_ element: JSONElement) {
    topic = element["topic"]?.string ?? ""
    name = element["name"]?.string ?? topic
    icon = element["icon"]?.string ?? ""
  }
}

extension DevicePush {
  /// Reads a `push` line; nil for anything else.
  init?(line: some Collection<UInt8>, parser: JSONParser) {
    let bytes = Array(line)
    let parsed = try? parser.parse(bytes.span) { DevicePush($0, line: bytes) }
    guard let push = parsed ?? nil else { return nil }
    self = push
  }

  /// Reads a `push` object, which stands in `line`.
  init?(_ root: JSONElement, line bytes: [UInt8]) {
    guard root["type"]?.string == "push", let seq = root["seq"]?.integer, let id = root["id"]?.string,
      let topic = root["topic"]?.string
    else { return nil }
    let aps = root["payload"]?["aps"]
    self.init(
      seq: UInt64(clamping: seq), id: id,
      app: DeviceApp(
        topic: topic, name: root["app"]?["name"]?.string ?? topic, icon: root["app"]?["icon"]?.string ?? ""),
      received: root["received"]?.string.flatMap { Timestamp.date($0.utf8) } ?? Date(timeIntervalSince1970: 0),
      collapseID: root["collapse"]?.string ?? "", threadID: aps?["thread-id"]?.string ?? "",
      presentation: Presentation(root["presentation"]), asked: DevicePush.parts(askedIn: aps),
      level: aps?["interruption-level"]?.string.flatMap(InterruptionLevel.init) ?? .active, line: bytes)
  }

  /// The parts that a payload's `aps` asks for.
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
  /// From the `presentation` of a push.
  fileprivate init(_ element: JSONElement?) {
    self.init(
      badge: element?["badge"]?.integer, sound: element?["sound"]?.string.map { SoundPresentation(name: $0) })
    if let alert = element?["alert"] { self.alert = AlertPresentation(alert) }
    // The wire has the old spelling.
    if let center = element?["center"] { centre = AlertPresentation(center) }
    if let center = element?["centre"] { centre = AlertPresentation(center) }
    guard let held = element?["held"], let by = held["by"]?.string.flatMap(Hold.Reason.init) else { return }
    self.held = Hold(
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

/// Times as the gateway writes them: RFC 3339 in UTC, with milliseconds.
enum Timestamp {
  /// Reads `2026-11-21T14:03:09.123Z`; nil for another form.
  static func date(_ text: some Collection<UInt8>) -> Date? {
    let bytes = Array(text)
    func number(_ range: Range<Int>) -> Int? {
      bytes[range].reduce(0 as Int?) { value, byte in
        guard let value, (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(byte) else { return nil }
        return value * 10 + Int(byte - UInt8(ascii: "0"))
      }
    }
    guard bytes.count == 24, bytes[23] == UInt8(ascii: "Z"), let year = number(0..<4), let month = number(5..<7),
      let day = number(8..<10), let hour = number(11..<13), let minute = number(14..<16), let second = number(17..<19),
      let millisecond = number(20..<23), (1...12).contains(month)
    else { return nil }
    // Days since 1970 of a civil date, with years that begin in March so that leap days come last.
    let (y, m) = month > 2 ? (year, month - 3) : (year - 1, month + 9)
    let days = 365 * y + y / 4 - y / 100 + y / 400 + (153 * m + 2) / 5 + day - 1 - 719_468
    let seconds = ((days * 24 + hour) * 60 + minute) * 60 + second
    return Date(timeIntervalSince1970: Double(seconds) + Double(millisecond) / 1000)
  }
}
