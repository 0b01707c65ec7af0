import PushPolicy

/// Lines of a device's stream, gateway to device (design §4): one JSON object each, without the line's end.
enum PushLine {
  /// `push`: the payload comes last and as it was sent, so that a client can cut it out without parsing it.
  ///
  /// - Parameter message: the broadcast that it is, if it is one.
  static func push(
    _ entry: MailboxEntry, app: App, presentation: Presentation, of message: BroadcastMessage? = nil
  ) -> [UInt8] {
    let push = entry.push
    var line: [UInt8] = []
    line.reserveCapacity(2 * push.payload.count + 512)
    append(#"{"type":"push","seq":"#, to: &line)
    appendDecimal(entry.seq, to: &line)
    if let message {
      line += #","channel":"\#(message.channel)","number":\#(message.number)"#.utf8
    }
    append(#","id":""#, to: &line)
    push.id.append(to: &line)
    append("\",", to: &line)
    line += app.lineMembers
    append(#","received":""#, to: &line)
    appendTimestamp(push.received, to: &line)
    append("\"", to: &line)
    if entry.seq > 0 {
      append(#","expires":""#, to: &line)
      appendTimestamp(push.expires * 1000, to: &line)
      append("\"", to: &line)
    }
    if !push.collapseID.isEmpty {
      append(#","collapse":"#, to: &line)
      appendJSONString(push.collapseID, to: &line)
    }
    append(#","presentation":"#, to: &line)
    presentation.appendJSON(to: &line)
    append(#","payload":"#, to: &line)
    line += push.payload
    append("}", to: &line)
    return line
  }

  /// `welcome`: who serves whom, the apps the device is registered for, and the person's choices.
  static func welcome(device: Device, apps: [App], preferences: [UInt8]) -> [UInt8] {
    var line = Array(#"{"type":"welcome","gateway":"pushgateway","device":"#.utf8)
    appendJSONString(device.name, to: &line)
    line += #","apps":["#.utf8
    for (index, app) in apps.enumerated() {
      if index > 0 { line += ",".utf8 }
      line += #"{"topic":"#.utf8
      appendJSONString(app.topic, to: &line)
      line += #","name":"#.utf8
      appendJSONString(app.name, to: &line)
      line += #","icon":"#.utf8
      appendJSONString(app.icon, to: &line)
      line += "}".utf8
    }
    line += #"],"preferences":"#.utf8
    line += preferences
    line += "}".utf8
    return line
  }

  /// `caught-up`: nothing waits after `seq`.
  static func caughtUp(_ seq: UInt64) -> [UInt8] { Array(#"{"type":"caught-up","seq":\#(seq)}"#.utf8) }

  /// `gap`: the mailbox's cap drove these out.
  static func gap(_ gap: MailboxGap) -> [UInt8] {
    Array(#"{"type":"gap","from":\#(gap.from),"to":\#(gap.to),"dropped":\#(gap.dropped)}"#.utf8)
  }

  /// `retract`: the push is not to be shown any longer.
  static func retract(_ id: APNSID) -> [UInt8] { Array(#"{"type":"retract","id":"\#(id)"}"#.utf8) }

  /// `undeliverable`: a push of an app was stored and can't be read, and is not sent.
  static func undeliverable(_ id: APNSID, app: App) -> [UInt8] {
    Array(#"{"type":"undeliverable","id":"\#(id)","#.utf8) + app.lineMembers + Array("}".utf8)
  }

  /// `preferences`: they have changed.
  static func preferences(_ json: [UInt8]) -> [UInt8] {
    Array(#"{"type":"preferences","preferences":"#.utf8) + json + Array("}".utf8)
  }

  /// `bye`: the gateway ends the stream.
  static func bye(_ reason: String) -> [UInt8] { Array(#"{"type":"bye","reason":"\#(reason)"}"#.utf8) }
}

/// What a device says on its stream (design §4). Unknown lines are no lines.
enum DeviceLine: Equatable {
  case hello(cursor: UInt64, isSilent: Bool, focus: String? = nil)
  case acknowledge(seq: UInt64)
  /// The device has a channel's message of this number.
  case acknowledgeBroadcast(ChannelID, number: UInt64)
  /// The device can't read the push of this number.
  case undeliverable(seq: UInt64)
  case presented(id: APNSID, parts: String)
  case answer(id: APNSID, action: String)
  /// What has changed; nil leaves it as it is.
  case state(isSilent: Bool?, focus: FocusReport? = nil)

  /// A device's Focus, or none.
  enum FocusReport: Equatable {
    case off
    case on(String)
  }

  /// Reads a line; nil for one that is unknown or no JSON.
  init?(_ line: Span<UInt8>, parser: JSONParser) {
    if let seq = DeviceLine.acknowledged(line) {
      self = .acknowledge(seq: seq)
      return
    }
    let parsed = try? parser.parse(line) { root -> DeviceLine? in
      let number = root["seq"]?.integer ?? root["cursor"]?.integer
      let isSilent = root["silent"]?.boolean
      var focus: FocusReport?
      if let element = root["focus"] { focus = FocusReport(element) }
      let id = root["id"]?.string.flatMap { APNSID($0) }
      switch root["type"]?.string {
      case "hello":
        return .hello(cursor: UInt64(clamping: number ?? 0), isSilent: isSilent ?? false, focus: focus?.name)
      case "ack":
        if let channel = root["channel"]?.string {
          guard let channel = ChannelID(channel.utf8), let number = root["number"]?.integer else { return nil }
          return .acknowledgeBroadcast(channel, number: UInt64(clamping: number))
        }
        return number.map { .acknowledge(seq: UInt64(clamping: $0)) }
      case "undeliverable": return number.map { .undeliverable(seq: UInt64(clamping: $0)) }
      case "state": return .state(isSilent: isSilent, focus: focus)
      case "answer":
        guard let id, let action = root["action"]?.string else { return nil }
        return .answer(id: id, action: action)
      case "presented":
        guard let id else { return nil }
        var parts: [String] = []
        root["parts"]?.forEachElement { if let part = $0.string { parts.append(part) } }
        return .presented(id: id, parts: parts.joined(separator: " "))
      default: return nil
      }
    }
    guard let parsed = parsed ?? nil else { return nil }
    self = parsed
  }

  /// The number in a line that acknowledges, as `pushcli` writes it: nearly every line is one, and needs no parser.
  private static func acknowledged(_ line: Span<UInt8>) -> UInt64? {
    let head: StaticString = #"{"type":"ack","seq":"#
    let start = head.utf8CodeUnitCount
    // 18 digits are no overflow; a number does not begin with 0 unless it is 0.
    guard line.count > start + 1, line.count <= start + 19, line[line.count - 1] == UInt8(ascii: "}"),
      line[start] != UInt8(ascii: "0"),
      unsafe line.withUnsafeBytes({ unsafe $0.starts(with: UnsafeBufferPointer(start: head.utf8Start, count: start)) })
    else { return nil }
    var number: UInt64 = 0
    for place in start..<line.count - 1 {
      let digit = line[place] &- UInt8(ascii: "0")
      guard digit < 10 else { return nil }
      number = number * 10 + UInt64(digit)
    }
    return number
  }
}

extension DeviceLine.FocusReport {
  /// Reads the name of a Focus; null and the empty name are none, and any other value says nothing.
  fileprivate init?(_ element: JSONElement) {
    if let name = element.string {
      self = name.isEmpty ? .off : .on(name)
    } else if element.kind == .null {
      self = .off
    } else {
      return nil
    }
  }

  /// The Focus that is on.
  var name: String? {
    switch self {
    case .off: nil
    case .on(let name): name
    }
  }
}
