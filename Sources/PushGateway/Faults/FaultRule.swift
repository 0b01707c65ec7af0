import GatewayProtocol
import PushCore

/// An error: a fault is invalid, described in one line.
package struct FaultError: Error, Sendable, CustomStringConvertible {
  package var description: String
}

/// A validated fault: its targets, its effect and its frequency.
struct Fault: Sendable {
  /// The effect on a matching request or connection.
  enum Effect: Sendable, Equatable {
    /// Only the delay.
    case none
    case answer(status: Int, Reason?)
    /// Resets the stream with an error code of RFC 9113 §7.
    case reset(UInt32)
    case goAway(Reason)
    case drop
    case halfOpen
    case stall
    case streams(Int)
    case throttle(Int)
    case unregister
  }

  /// The validated rule.
  let rule: FaultRule
  let effect: Effect

  /// True if the fault matches new connections instead of requests.
  var appliesToConnections: Bool {
    switch effect {
    case .stall, .streams: rule.app == nil && rule.token == nil && rule.key == nil
    default: false
    }
  }

  /// The names of the error codes of RFC 9113 §7, indexed by code.
  static let resetCodes = [
    "NO_ERROR", "PROTOCOL_ERROR", "INTERNAL_ERROR", "FLOW_CONTROL_ERROR", "SETTINGS_TIMEOUT", "STREAM_CLOSED",
    "FRAME_SIZE_ERROR", "REFUSED_STREAM", "CANCEL", "COMPRESSION_ERROR", "CONNECT_ERROR", "ENHANCE_YOUR_CALM",
    "INADEQUATE_SECURITY", "HTTP_1_1_REQUIRED",
  ]
  /// The maximum delay and lifetime of a fault, in seconds.
  private static let longest = 86_400.0

  init(_ rule: FaultRule) throws(FaultError) {
    self.rule = rule
    func fail(_ words: String) -> FaultError { FaultError(description: "fault \"\(rule.name)\": \(words)") }
    guard (1...64).contains(rule.name.utf8.count),
      rule.name.utf8.allSatisfy({ $0 > 0x20 && $0 < 0x7F && $0 != UInt8(ascii: "/") })
    else {
      throw fail("invalid name: expected 1 to 64 letters, digits and punctuation marks, without spaces and slashes")
    }
    var effects: [Effect] = []
    let reason = try rule.reason.map { text throws(FaultError) in try Fault.reason(text, fail) }
    if let status = rule.status ?? reason?.status {
      guard (200...599).contains(status) else { throw fail("status \(status) is out of range: expected 200 to 599") }
      effects.append(.answer(status: status, reason))
    }
    if let text = rule.reset {
      if let code = Fault.resetCodes.firstIndex(of: text) {
        effects.append(.reset(UInt32(code)))
      } else if let code = UInt32(text) {
        effects.append(.reset(code))
      } else {
        throw fail("invalid reset \"\(text)\": expected an error code of RFC 9113, as REFUSED_STREAM, or a number")
      }
    }
    if let text = rule.goaway { effects.append(.goAway(try Fault.reason(text, fail))) }
    if rule.drop == true { effects.append(.drop) }
    if rule.halfOpen == true { effects.append(.halfOpen) }
    if rule.stall == true { effects.append(.stall) }
    if let streams = rule.streams {
      guard (0...Limits.maximumConcurrentStreams).contains(streams) else {
        throw fail("streams \(streams) is out of range: expected 0 to \(Limits.maximumConcurrentStreams)")
      }
      effects.append(.streams(streams))
    }
    if let throttle = rule.throttle {
      guard (0...1_000_000).contains(throttle) else {
        throw fail("throttle \(throttle) is out of range: expected 0 to 1000000 requests a second")
      }
      effects.append(.throttle(throttle))
    }
    if rule.unregister == true { effects.append(.unregister) }
    guard effects.count + (rule.delay == nil ? 0 : 1) > 0 else {
      throw fail(
        "no effect given: expected reason, status, delay, reset, goaway, drop, half-open, stall, streams, throttle or unregister"
      )
    }
    guard effects.count <= 1 else { throw fail("\(effects.count) effects given: expected one, and optionally delay") }
    effect = effects.first ?? .none
    if let delay = rule.delay, !(0...Fault.longest).contains(delay) {
      throw fail("delay \(delay) is out of range: expected 0 to 86400 seconds")
    }
    if let count = rule.count, count < 1 { throw fail("count \(count) is out of range: expected 1 or more") }
    if let rate = rule.rate, !(0...100).contains(rate) {
      throw fail("rate \(rate) is out of range: expected 0 to 100 percent")
    }
    guard rule.seed == nil || rule.rate != nil else { throw fail("seed needs rate") }
    if let seconds = rule.retryAfter {
      guard rule.reason != nil || rule.throttle != nil else { throw fail("retry-after needs reason or throttle") }
      guard (1...Int(Fault.longest)).contains(seconds) else {
        throw fail("retry-after \(seconds) is out of range: expected 1 to 86400 seconds")
      }
    }
    if let seconds = rule.seconds, !(seconds > 0 && seconds <= Fault.longest) {
      throw fail("for \(seconds) is out of range: expected up to 86400 seconds, as 30s")
    }
    if let token = rule.token, token.isEmpty || !token.utf8.allSatisfy({ hexValue($0) != nil }) {
      throw fail("invalid token \"\(token)\": expected a device token in hex")
    }
  }

  private static func reason(_ text: String, _ fail: (String) -> FaultError) throws(FaultError) -> Reason {
    guard let reason = Reason(rawValue: text) else {
      throw fail(
        "unknown reason \"\(text)\": expected one of \(Reason.allCases.map(\.rawValue).joined(separator: ", "))")
    }
    return reason
  }

  /// Returns true if the rule matches a target.
  func fits(_ target: FaultTarget) -> Bool {
    (rule.app.map { $0 == target.app } ?? true)
      && (rule.token.map { $0.lowercased() == target.token } ?? true)
      && (rule.key.map { $0 == target.key } ?? true)
      && (rule.connection.map { $0 == target.address || $0 == String(target.connection) } ?? true)
  }

  /// A short description of the effect, for lists and logs.
  var words: String {
    let late =
      (rule.retryAfter.map { ["retry-after \($0)"] } ?? []) + (rule.delay.map { ["\($0.formattedSeconds) late"] } ?? [])
    let words: [String] =
      switch effect {
      case .none: []
      case .answer(let status, let reason):
        [[String(status), reason?.rawValue].compactMap(\.self).joined(separator: " ")]
      case .reset(let code):
        ["RST_STREAM " + (Int(code) < Fault.resetCodes.count ? Fault.resetCodes[Int(code)] : String(code))]
      case .goAway(let reason): ["GOAWAY \(reason.rawValue)"]
      case .drop: ["TCP reset"]
      case .halfOpen: ["half-open"]
      case .stall: ["no flow control credit"]
      case .streams(let count): ["\(count) streams"]
      case .throttle(let count): ["\(count) a second"]
      case .unregister: ["410 Unregistered, and the token is"]
      }
    return (words + late).joined(separator: ", ")
  }
}

/// The target of a fault: one request, or one connection.
struct FaultTarget: Sendable {
  /// The bundle ID; nil for a connection.
  var app: String?
  /// The device token in lower-case hex.
  var token: String?
  /// The key ID in the provider token, not validated.
  var key: String?
  /// The peer's address; nil on a Unix socket.
  var address: String?
  /// The connection's number.
  var connection: Int
}

extension Double {
  /// The seconds in readable form: `2s`, `0.25s`.
  fileprivate var formattedSeconds: String { self == rounded() ? "\(Int(self))s" : "\(self)s" }
}
