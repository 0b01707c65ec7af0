import PushCore
package import PushPolicy

/// A line that a gateway sends on a device's stream (design §4). Lines of unknown types are ignored.
package enum GatewayLine: Equatable, Sendable {
  case welcome(Welcome)
  /// A push, of which only the number is read; 0 for one that is never stored. ``DevicePush/init(line:parser:)``
  /// reads the rest.
  case push(seq: UInt64)
  /// A push that can't be read; `seq` is 0 when its number can't be read either.
  case unreadablePush(seq: UInt64)
  /// No push is pending after the push with this number.
  case caughtUp(seq: UInt64)
  /// These pushes were evicted by the mailbox's limit.
  case gap(from: UInt64, to: UInt64, dropped: Int)
  /// The push has to be removed from the screen.
  case retract(id: String)
  /// The push has to be removed from the screen, because it was answered on another one.
  case answeredElsewhere(id: String, GivenAnswer)
  /// The app's sender has retracted this push: nothing of it may be shown.
  case takenBack(id: String, topic: String)
  /// The gateway has stored this answer to the push; nil: the push can't be answered.
  case answered(id: String, action: String?)
  /// The gateway can't read a stored push of this topic, and does not send it.
  case undeliverable(id: String, topic: String)
  /// The user's preferences have changed.
  case preferences(Preferences)
  /// The gateway ends the stream; the device can use these other gateways.
  case bye(reason: String, gateways: [GatewayAddress] = [])

  /// The gateway's first line.
  package struct Welcome: Equatable, Sendable {
    /// The version of the protocol that the gateway supports (``DeviceProtocol``).
    package var version: Int
    /// The gateway's name.
    package var gateway: String
    /// The device's name; empty when the gateway does not send it.
    package var device: String
    /// All apps for which the device is registered, in their order.
    package var apps: [DeviceApp]
    /// The user's preferences; nil when they can't be read.
    package var preferences: Preferences?
    /// The numbering of `seq` in this stream.
    package var epoch: NumberingEpoch?
    /// The other gateways that also serve the device.
    package var gateways: [GatewayAddress] = []
  }

  /// Reads a line without its end; nil for an unknown type or invalid JSON.
  ///
  /// - Parameter parser: a parser that accepts ``JSONParser/maximumLineDepth`` levels, since a line contains a payload.
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

  /// Reads preferences with their own decoder, which handles missing and unknown members; they are rarely sent.
  private static func choices(in line: Span<UInt8>) -> Preferences? {
    struct Choices: Decodable { var preferences: Preferences? }
    let bytes = unsafe line.withUnsafeBufferPointer { unsafe Array($0) }
    return try? decodeJSON(Choices.self, from: bytes, maximumDepth: JSONParser.maximumLineDepth).preferences
  }

  /// Reads everything except preferences.
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

  /// The first bytes of the line of a push, before its number: the gateway writes these members first.
  package static let pushOpening = Array(#"{"type":"push","seq":"#.utf8)
  /// The number of bytes of ``pushOpening`` that contain the type.
  private static let typeSize = #"{"type":"push""#.utf8.count

  /// Returns the number of a push from the first bytes of its line, without a parser; 0 if they contain none.
  ///
  /// - Returns: nil when the line does not begin like a push.
  package static func numberOfPush(_ line: Span<UInt8>) -> UInt64? {
    let opening = pushOpening
    var start = 0
    while start < opening.count, start < line.count, line[start] == opening[start] { start += 1 }
    guard start >= typeSize else { return nil }
    guard start == opening.count else { return 0 }
    var number: UInt64 = 0
    for place in start..<min(line.count, start + 18) {
      let digit = line[place] &- UInt8(ascii: "0")
      guard digit < 10 else { break }
      number = number * 10 + UInt64(digit)
    }
    return number <= Limits.maximumCursor ? number : 0
  }
}
