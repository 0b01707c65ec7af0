import PushCore
package import PushPolicy

/// What a gateway says on a device's stream (design §4). Unknown lines are no lines.
package enum GatewayLine: Equatable, Sendable {
  case welcome(Welcome)
  /// A push, of which only the number is read, 0 for one that is never stored: who shows it reads on with
  /// ``DevicePush/init(line:parser:)``.
  case push(seq: UInt64)
  /// A push that can't be read; 0 when its number can't be read either.
  case unreadablePush(seq: UInt64)
  /// Nothing waits after the push of this number.
  case caughtUp(seq: UInt64)
  /// The mailbox's cap drove these out.
  case gap(from: UInt64, to: UInt64, dropped: Int)
  /// The push is not to be shown any longer.
  case retract(id: String)
  /// The same, because it was answered on another screen.
  case answeredElsewhere(id: String, GivenAnswer)
  /// The sender of this push of an app has taken it back: nothing of it is to be shown.
  case takenBack(id: String, topic: String)
  /// This answer to the push counts, and the gateway keeps it; nil: what was answered is not there to be answered.
  case answered(id: String, action: String?)
  /// A stored push of this topic can't be read by the gateway, and is not sent.
  case undeliverable(id: String, topic: String)
  /// The person's choices have changed.
  case preferences(Preferences)
  /// The gateway ends the stream; these take the device now.
  case bye(reason: String, gateways: [GatewayAddress] = [])

  /// The gateway's first line.
  package struct Welcome: Equatable, Sendable {
    /// The version of the protocol that the gateway speaks (``DeviceProtocol``).
    package var version: Int
    /// What the gateway calls itself.
    package var gateway: String
    /// The device's name; empty when the gateway does not say it.
    package var device: String
    /// All apps that the device is registered for, in their order.
    package var apps: [DeviceApp]
    /// The person's choices; nil when they can't be read here.
    package var preferences: Preferences?
    /// The numbering that `seq` of this stream belongs to.
    package var epoch: NumberingEpoch?
    /// The other gateways that serve the device as well as this one.
    package var gateways: [GatewayAddress]

    package init(
      version: Int, gateway: String, device: String, apps: [DeviceApp], preferences: Preferences?,
      epoch: NumberingEpoch? = nil, gateways: [GatewayAddress] = []
    ) {
      (self.version, self.gateway, self.device) = (version, gateway, device)
      (self.apps, self.preferences) = (apps, preferences)
      (self.epoch, self.gateways) = (epoch, gateways)
    }
  }

  /// Reads a line, without its end; nil for one that is unknown or no JSON.
  ///
  /// - Parameter parser: One that takes ``JSONParser/maximumLineDepth`` levels, since a line holds a payload.
  package init?(_ line: Span<UInt8>, parser: JSONParser) {
    let found: GatewayLine?
    do {
      found = try parser.parse(line) { GatewayLine($0, in: line) }
    } catch {
      guard let seq = GatewayLine.numberOfPush(line) else { return nil }
      self = .unreadablePush(seq: seq)
      return
    }
    guard let found else { return nil }
    switch found {
    case .welcome(var welcome):
      welcome.preferences = GatewayLine.choices(in: line)
      self = .welcome(welcome)
    case .preferences:
      guard let preferences = GatewayLine.choices(in: line) else { return nil }
      self = .preferences(preferences)
    default: self = found
    }
  }

  /// Choices are read by their own decoder, which knows what is missing and what is new; they come seldom.
  private static func choices(in line: Span<UInt8>) -> Preferences? {
    struct Choices: Decodable { var preferences: Preferences? }
    let bytes = unsafe line.withUnsafeBufferPointer { unsafe Array($0) }
    return try? decodeJSON(Choices.self, from: bytes, maximumDepth: JSONParser.maximumLineDepth).preferences
  }

  /// Reads everything but choices.
  private init?(_ root: JSONElement, in line: Span<UInt8>) {
    switch root["type"]?.string {
    case "push":
      guard let seq = root["seq"]?.integer, seq <= Limits.maximumCursor, root["id"]?.kind == .string,
        root["topic"]?.kind == .string
      else {
        self = .unreadablePush(seq: GatewayLine.numberOfPush(line) ?? 0)
        return
      }
      self = .push(seq: UInt64(clamping: seq))
    case "welcome":
      var apps: [DeviceApp] = []
      root["apps"]?.forEachElement { apps.append(DeviceApp($0)) }
      self = .welcome(
        Welcome(
          version: DeviceProtocol.version(root["version"]), gateway: root["gateway"]?.string ?? "",
          device: root["device"]?.string ?? "", apps: apps, preferences: nil,
          epoch: NumberingEpoch(root["epoch"]), gateways: GatewayAddress.addresses(root["gateways"])))
    case "caught-up": self = .caughtUp(seq: UInt64(root["seq"]?.count ?? 0))
    case "preferences": self = .preferences(Preferences())
    case "retract":
      guard let id = root["id"]?.string else { return nil }
      if let topic = root["topic"]?.string {
        self = .takenBack(id: id, topic: topic)
      } else {
        self = GivenAnswer(root).map { .answeredElsewhere(id: id, $0) } ?? .retract(id: id)
      }
    case "answered":
      guard let id = root["id"]?.string else { return nil }
      self = .answered(id: id, action: root["action"]?.string)
    case "gap":
      guard let dropped = root["dropped"]?.count else { return nil }
      self = .gap(from: UInt64(root["from"]?.count ?? 0), to: UInt64(root["to"]?.count ?? 0), dropped: dropped)
    case "undeliverable":
      self = .undeliverable(id: root["id"]?.string ?? "", topic: root["topic"]?.string ?? "")
    case "bye":
      self = .bye(reason: root["reason"]?.string ?? "", gateways: GatewayAddress.addresses(root["gateways"]))
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
    return number <= Limits.maximumCursor ? number : 0
  }
}

extension JSONElement {
  /// An integer brought between 0 and 2⁵³: what is counted in it can be added up, and no number ends the process.
  package var count: Int? { integer.map { min(max($0, 0), 1 << 53) } }
}
