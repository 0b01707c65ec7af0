/// The details of a row of the delivery log in addition to its event: facts, from which ``words`` makes a text for
/// display.
///
/// The details of nearly every push are one byte in the log, a ``code``; all others are JSON, as ``appendJSON(to:)``
/// writes it.
package enum DeliveryDetail: Sendable, Equatable {
  case nothing
  case fact(Fact)
  /// The parts that the push requested from the device (`transmitted`).
  case asked(RequestedPresentation)
  /// The parts that the user's preferences removed (`suppressed`).
  case removed([Decision.Removal])
  /// A violation of a rule by the sender (`reported`, `ignored`; `refused` for one device of a group).
  indirect case finding(Finding)
  /// The error response to a push (`refused`).
  indirect case refusal(Refusal)
  /// The answer of the upstream to a push (`forwarded`).
  indirect case forwarding(Forwarding)
  case channel(String)
  /// The number of deferred pushes in a summary.
  case held(Int)
  /// The scheduled delivery time, RFC 3339, UTC (`accepted`).
  case scheduled(String)
  /// The number of equal messages of a sender that the push stands for (`accepted`).
  case repeated(Int)
  /// The parts that the device reports as shown and played (`presented`).
  case presented([String])
  /// The action that the user chose (`action`, `closed`).
  case answered(String)
  /// The name of an injected fault, and its effect.
  case fault(name: String, effect: String)
  /// The `traceparent` of the sender (`traced`): 55 characters, of which 32 are the id of the trace.
  case trace(String)
  /// The client that retracted the push (`retracted`).
  case takenBack(by: String)
  /// The number of events that were not logged, and the time of the first one, RFC 3339, UTC (`lost`).
  case lost(Int, since: String)
  /// A text without facts: a row of an older version that this version can't parse.
  case words(String)

  /// A detail without parameters.
  package enum Fact: String, Sendable, Codable, CaseIterable {
    /// The push was pending in storage before.
    case fromStorage = "from_storage"
    /// The device had no open stream.
    case deviceOffline = "device_offline"
    /// The device had no open stream, and the push is never stored.
    case notConnected = "not_connected"
    /// The device ended its registration.
    case unregistered
    /// The device does not read its stream, and the push is never stored.
    case deviceLags = "device_lags"
    case mailboxFull = "mailbox_full"
    /// The payload can't be read.
    case unreadable
    /// The push was scheduled, and canceled before its time.
    case cancelled
    /// The sender retracted the push, or another member of its group answered it.
    case retracted
    /// No device of the group is registered for the app.
    case nobodyRegistered = "nobody_registered"

    /// The byte of the fact in the log; these values never change.
    package var code: UInt8 {
      switch self {
      case .fromStorage: 1
      case .deviceOffline: 2
      case .notConnected: 3
      case .unregistered: 4
      case .deviceLags: 5
      case .mailboxFull: 6
      case .unreadable: 7
      case .cancelled: 8
      case .retracted: 9
      case .nobodyRegistered: 10
      }
    }

    var words: String {
      switch self {
      case .fromStorage: "from storage"
      case .deviceOffline: "device offline"
      case .notConnected: "not connected"
      case .unregistered: "unregistered"
      case .deviceLags: "device lags"
      case .mailboxFull: "the mailbox is full"
      case .unreadable: "the payload can't be read"
      case .cancelled: "canceled before its scheduled time"
      case .retracted: "retracted or answered"
      case .nobodyRegistered: "no member of the group is registered"
      }
    }
  }
}

// MARK: In the log

extension DeliveryDetail {
  /// The byte for the whole detail; nil for details that need JSON.
  package var code: UInt8? {
    switch self {
    case .fact(let fact): fact.code
    case .asked(let asked): asked.usualParts.map { DeliveryDetail.askedMark | $0 }
    default: nil
    }
  }

  /// Reads a ``code``; nil for a code of a newer version.
  package init?(code: UInt8) {
    if code & DeliveryDetail.askedMark != 0 {
      guard let asked = RequestedPresentation(usualParts: code & ~DeliveryDetail.askedMark) else { return nil }
      self = .asked(asked)
    } else {
      guard let fact = Fact.allCases.first(where: { $0.code == code }) else { return nil }
      self = .fact(fact)
    }
  }

  private static let askedMark: UInt8 = 0x80
}

// MARK: JSON, in the log and in messages

extension DeliveryDetail: Codable {
  /// The members of all cases; a detail has those of its case.
  fileprivate enum Key: String, CodingKey {
    case fact, asked, level, silent, marketing, focus, category, removed, rule, pointer, message, evidence
    case status, reason, topic, upstream, unanswered
    case channel, held, scheduled, repeated, presented, action, fault, effect, traceparent, by, lost, since, words
    case isReportOnly = "report_only"
    case keyID = "key_id"
    case team = "team_id"
  }

  /// Appends the detail as one JSON object, which ``init(from:)`` decodes to the same value.
  package func appendJSON(to bytes: inout [UInt8]) {
    var object = DetailText(bytes)
    bytes = []
    write(to: &object)
    bytes = object.end()
  }

  package func encode(to encoder: any Encoder) throws {
    var object = EncodedDetail(container: encoder.container(keyedBy: Key.self))
    write(to: &object)
    if let error = object.error { throw error }
  }

  private func write(to object: inout some DetailObject) {
    switch self {
    case .nothing: break
    case .fact(let fact): object.write(.fact, fact.rawValue)
    case .asked(let asked):
      object.write(.asked, asked.parts)
      if asked.level != .active { object.write(.level, asked.level.rawValue) }
      if asked.device.isSilent { object.write(.silent, true) }
      if asked.isMarketing { object.write(.marketing, true) }
      if let focus = asked.device.focus { object.write(.focus, focus) }
      if let category = asked.category { object.write(.category, category) }
    case .removed(let removals): object.write(.removed, removals)
    case .finding(let finding): finding.write(to: &object)
    case .refusal(let refusal):
      object.write(.status, refusal.status)
      object.write(.reason, refusal.reason)
      if let topic = refusal.topic { object.write(.topic, topic) }
      if let keyID = refusal.keyID { object.write(.keyID, keyID) }
      if let team = refusal.team { object.write(.team, team) }
      refusal.finding?.write(to: &object)
    case .forwarding(let forwarding):
      object.write(.upstream, forwarding.upstream)
      object.write(.status, forwarding.status)
      if let reason = forwarding.reason { object.write(.reason, reason) }
      if let topic = forwarding.topic { object.write(.topic, topic) }
      if let keyID = forwarding.keyID { object.write(.keyID, keyID) }
      if let team = forwarding.team { object.write(.team, team) }
      if forwarding.isUnanswered { object.write(.unanswered, true) }
    case .channel(let channel): object.write(.channel, channel)
    case .held(let count): object.write(.held, count)
    case .scheduled(let time): object.write(.scheduled, time)
    case .repeated(let count): object.write(.repeated, count)
    case .presented(let parts): object.write(.presented, parts)
    case .answered(let action): object.write(.action, action)
    case .fault(let name, let effect):
      object.write(.fault, name)
      object.write(.effect, effect)
    case .trace(let parent): object.write(.traceparent, parent)
    case .takenBack(let sender): object.write(.by, sender)
    case .lost(let count, let time):
      object.write(.lost, count)
      object.write(.since, time)
    case .words(let words): object.write(.words, words)
    }
  }

  /// Decodes the output of ``appendJSON(to:)`` and ``encode(to:)``; a detail of a newer version becomes ``nothing``.
  package init(from decoder: any Decoder) throws {
    let object = try decoder.container(keyedBy: Key.self)
    func read<Value: Decodable>(_ key: Key) throws -> Value? { try object.decodeIfPresent(Value.self, forKey: key) }
    func readFinding() throws -> Finding? {
      guard let rule: String = try read(.rule) else { return nil }
      return Finding(
        rule: rule, pointer: try read(.pointer) ?? "", message: try read(.message) ?? "",
        evidence: try read(.evidence), isReportOnly: try read(.isReportOnly) ?? false)
    }
    if let fact: Fact = try read(.fact) {
      self = .fact(fact)
    } else if let parts: [Part] = try read(.asked) {
      self = .asked(
        RequestedPresentation(
          parts, level: try read(.level) ?? .active, category: try read(.category),
          isSilent: try read(.silent) ?? false, focus: try read(.focus), isMarketing: try read(.marketing) ?? false))
    } else if let removed: [Decision.Removal] = try read(.removed) {
      self = .removed(removed)
    } else if let upstream: String = try read(.upstream) {
      self = .forwarding(
        Forwarding(
          upstream: upstream, status: try read(.status) ?? 0, reason: try read(.reason), topic: try read(.topic),
          keyID: try read(.keyID), team: try read(.team), isUnanswered: try read(.unanswered) ?? false))
    } else if let reason: String = try read(.reason) {
      self = .refusal(
        Refusal(
          status: try read(.status) ?? 0, reason: reason, topic: try read(.topic), keyID: try read(.keyID),
          team: try read(.team), finding: try readFinding()))
    } else if let finding = try readFinding() {
      self = .finding(finding)
    } else if let channel: String = try read(.channel) {
      self = .channel(channel)
    } else if let held: Int = try read(.held) {
      self = .held(held)
    } else if let time: String = try read(.scheduled) {
      self = .scheduled(time)
    } else if let count: Int = try read(.repeated) {
      self = .repeated(count)
    } else if let presented: [String] = try read(.presented) {
      self = .presented(presented)
    } else if let action: String = try read(.action) {
      self = .answered(action)
    } else if let fault: String = try read(.fault) {
      self = .fault(name: fault, effect: try read(.effect) ?? "")
    } else if let parent: String = try read(.traceparent) {
      self = .trace(parent)
    } else if let sender: String = try read(.by) {
      self = .takenBack(by: sender)
    } else if let count: Int = try read(.lost) {
      self = .lost(count, since: try read(.since) ?? "")
    } else if let words: String = try read(.words) {
      self = .words(words)
    } else {
      self = .nothing
    }
  }
}

extension DeliveryDetail.Finding {
  fileprivate func write(to object: inout some DetailObject) {
    object.write(.rule, rule)
    object.write(.pointer, pointer)
    object.write(.message, message)
    if let evidence { object.write(.evidence, evidence) }
    if isReportOnly { object.write(.isReportOnly, true) }
  }
}

/// The destination of the members of a detail.
private protocol DetailObject {
  mutating func write(_ key: DeliveryDetail.Key, _ value: some DetailValue)
}

/// A JSON object that is appended to existing bytes: each push can have a row with a detail, so it makes no
/// intermediate values.
private struct DetailText: DetailObject {
  private var bytes: [UInt8]
  private var separator = UInt8(ascii: "{")

  init(_ bytes: [UInt8]) { self.bytes = bytes }

  mutating func write(_ key: DeliveryDetail.Key, _ value: some DetailValue) {
    bytes.append(separator)
    separator = UInt8(ascii: ",")
    bytes.append(UInt8(ascii: "\""))
    bytes += key.rawValue.utf8
    bytes.append(UInt8(ascii: "\""))
    bytes.append(UInt8(ascii: ":"))
    value.appendJSON(to: &bytes)
  }

  mutating func end() -> [UInt8] {
    if separator != UInt8(ascii: ",") { bytes.append(separator) }
    bytes.append(UInt8(ascii: "}"))
    return bytes
  }
}

private struct EncodedDetail: DetailObject {
  var container: KeyedEncodingContainer<DeliveryDetail.Key>
  /// The first error; the members after it are not encoded.
  var error: (any Error)?

  mutating func write(_ key: DeliveryDetail.Key, _ value: some DetailValue) {
    guard error == nil else { return }
    do { try container.encode(value, forKey: key) } catch { self.error = error }
  }
}

/// The value of a member, which appends the same JSON as its encoder writes.
private protocol DetailValue: Encodable {
  func appendJSON(to bytes: inout [UInt8])
}

extension String: DetailValue {
  fileprivate func appendJSON(to bytes: inout [UInt8]) { appendJSONString(self, to: &bytes) }
}

extension Int: DetailValue {
  fileprivate func appendJSON(to bytes: inout [UInt8]) { bytes += String(self).utf8 }
}

extension Bool: DetailValue {
  fileprivate func appendJSON(to bytes: inout [UInt8]) { bytes += (self ? "true" : "false").utf8 }
}

extension Part: DetailValue {
  fileprivate func appendJSON(to bytes: inout [UInt8]) { appendJSONString(rawValue, to: &bytes) }
}

extension Decision.Removal: DetailValue {
  fileprivate func appendJSON(to bytes: inout [UInt8]) {
    append(#"{"part":"#, to: &bytes)
    appendJSONString(part.rawValue, to: &bytes)
    append(#","rule":"#, to: &bytes)
    appendJSONString(rule.rawValue, to: &bytes)
    append(#","setting":"#, to: &bytes)
    appendJSONString(setting, to: &bytes)
    append("}", to: &bytes)
  }
}

extension Array: DetailValue where Element: DetailValue {
  fileprivate func appendJSON(to bytes: inout [UInt8]) {
    bytes.append(UInt8(ascii: "["))
    for (index, element) in enumerated() {
      if index > 0 { bytes.append(UInt8(ascii: ",")) }
      element.appendJSON(to: &bytes)
    }
    bytes.append(UInt8(ascii: "]"))
  }
}
