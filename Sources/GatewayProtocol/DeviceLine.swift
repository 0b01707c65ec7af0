package import PushCore
package import PushPolicy

/// A line that a device sends on its stream (design §4). Lines of unknown types are ignored.
package enum DeviceLine: Equatable {
  /// The version of the device's protocol, and the last number that it has, in the numbering of this epoch.
  case hello(
    version: Int = DeviceProtocol.unversioned, cursor: UInt64, epoch: NumberingEpoch? = nil, isSilent: Bool,
    focus: String? = nil)
  case acknowledge(seq: UInt64)
  /// The device has the message of a channel with this number.
  case acknowledgeBroadcast(ChannelID, number: UInt64)
  /// The device can't read the push with this number.
  case undeliverable(seq: UInt64)
  /// The presented parts of a push, each once, in the order of ``PushPolicy/Part``.
  case presented(id: APNSID, parts: [Part])
  case answer(id: APNSID, action: String)
  /// Changes of the silent switch and the Focus; nil for an unchanged one.
  case state(isSilent: Bool?, focus: FocusReport? = nil)

  /// A device's Focus, or none.
  package enum FocusReport: Equatable {
    case off
    case on(String)
  }

  /// Reads a line; nil for an unknown type or invalid JSON.
  package init?(_ line: Span<UInt8>, parser: JSONParser) {
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
        return .hello(
          version: DeviceProtocol.version(root["version"]), cursor: UInt64(clamping: number ?? 0),
          epoch: NumberingEpoch(root["epoch"]), isSilent: isSilent ?? false, focus: focus?.name)
      case "ack":
        if let channel = root["channel"]?.string {
          guard let channel = ChannelID(channel.utf8), let number = root["number"]?.integer else { return nil }
          return .acknowledgeBroadcast(channel, number: UInt64(clamping: number))
        }
        return number.map { .acknowledge(seq: UInt64(clamping: $0)) }
      case "undeliverable": return number.map { .undeliverable(seq: UInt64(clamping: $0)) }
      case "state": return .state(isSilent: isSilent, focus: focus)
      case "answer":
        guard let id, let action = root["action"]?.string, (1...Limits.maximumActionSize).contains(action.utf8.count),
          action.utf8.allSatisfy({ (0x21..<0x7F).contains($0) })
        else { return nil }
        return .answer(id: id, action: action)
      case "presented":
        guard let id else { return nil }
        var parts: Set<Part> = []
        root["parts"]?.forEachElement { if let part = $0.string.flatMap(Part.init) { parts.insert(part) } }
        return .presented(id: id, parts: Part.allCases.filter(parts.contains))
      default: return nil
      }
    }
    guard let parsed = parsed ?? nil else { return nil }
    self = parsed
  }

  /// The beginning of an acknowledgement line; its number and `}` follow.
  package static let acknowledgementHead: StaticString = #"{"type":"ack","seq":"#

  /// Returns the number of an acknowledgement line in the form that `pushcli` writes. Nearly every line is one, so this
  /// avoids the parser.
  private static func acknowledged(_ line: Span<UInt8>) -> UInt64? {
    let head = acknowledgementHead
    let start = head.utf8CodeUnitCount
    // 18 digits can't overflow; only the number 0 begins with 0.
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

  /// The line as a device writes it, without its end.
  package var text: String {
    switch self {
    case .hello(let version, let cursor, let epoch, let isSilent, let focus):
      object(
        "hello",
        [("version", "\(version)"), ("cursor", "\(cursor)")] + (epoch.map { [("epoch", quoted("\($0)"))] } ?? [])
          + [("silent", "\(isSilent)")], focus)
    case .acknowledge(let seq): "\(DeviceLine.acknowledgementHead)\(seq)}"
    case .acknowledgeBroadcast(let channel, let number):
      object("ack", [("channel", quoted("\(channel)")), ("number", "\(number)")])
    case .undeliverable(let seq): object("undeliverable", [("seq", "\(seq)")])
    case .presented(let id, let parts):
      object(
        "presented",
        [("id", quoted("\(id)")), ("parts", "[" + parts.map { quoted($0.rawValue) }.joined(separator: ",") + "]")])
    case .answer(let id, let action): object("answer", [("id", quoted("\(id)")), ("action", quoted(action))])
    case .state(let isSilent, let focus):
      object("state", isSilent.map { [("silent", "\($0)")] } ?? [], focus.map { $0.name ?? "" })
    }
  }

  /// Returns a line of this type; the values of its members are JSON already. An empty Focus means none.
  private func object(_ type: String, _ members: [(name: String, value: String)], _ focus: String? = nil) -> String {
    let all = [("type", quoted(type))] + members + (focus.map { [("focus", quoted($0))] } ?? [])
    return "{" + all.map { "\"\($0)\":\($1)" }.joined(separator: ",") + "}"
  }

  private func quoted(_ text: String) -> String {
    var bytes: [UInt8] = []
    appendJSONString(text, to: &bytes)
    return String(decoding: bytes, as: UTF8.self)
  }
}

extension DeviceLine.FocusReport {
  /// Reads the name of a Focus; null and the empty name mean none; nil for any other value.
  fileprivate init?(_ element: JSONElement) {
    if let name = element.string {
      self = name.isEmpty ? .off : .on(name)
    } else if element.kind == .null {
      self = .off
    } else {
      return nil
    }
  }

  /// The name of the Focus that is on; nil for none.
  package var name: String? {
    switch self {
    case .off: nil
    case .on(let name): name
    }
  }
}
