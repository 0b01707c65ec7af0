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
  /// The channel of a broadcast.
  case channel(String)
  /// The number of deferred pushes in a summary.
  case held(Int)
  /// The scheduled delivery time, RFC 3339, UTC (`accepted`).
  case scheduled(String)
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

  /// Appends the detail as one JSON object, which ``init(from:)`` decodes to the same value.
  package func appendJSON(to bytes: inout [UInt8]) { Form(self).append(to: &bytes) }
}

/// A JSON object that is appended to existing bytes. Members without a value are left out.
private struct JSONObjectText {
  private var bytes: [UInt8]
  private var separator = UInt8(ascii: "{")

  init(_ bytes: [UInt8]) { self.bytes = bytes }

  mutating func member(_ key: StaticString, _ value: String?) {
    guard let value else { return }
    begin(key)
    appendJSONString(value, to: &bytes)
  }

  mutating func literal(_ key: StaticString, _ value: String?) {
    guard let value else { return }
    begin(key)
    bytes += value.utf8
  }

  mutating func list<Element>(_ key: StaticString, _ elements: [Element]?, _ append: (Element, inout [UInt8]) -> Void) {
    guard let elements else { return }
    begin(key)
    bytes.append(UInt8(ascii: "["))
    for (place, element) in elements.enumerated() {
      if place > 0 { bytes.append(UInt8(ascii: ",")) }
      append(element, &bytes)
    }
    bytes.append(UInt8(ascii: "]"))
  }

  mutating func end() -> [UInt8] {
    if separator != UInt8(ascii: ",") { bytes.append(separator) }
    bytes.append(UInt8(ascii: "}"))
    return bytes
  }

  private mutating func begin(_ key: StaticString) {
    bytes.append(separator)
    separator = UInt8(ascii: ",")
    bytes.append(UInt8(ascii: "\""))
    append(key, to: &bytes)
    bytes.append(UInt8(ascii: "\""))
    bytes.append(UInt8(ascii: ":"))
  }
}

// MARK: In messages

extension DeliveryDetail: Codable {
  /// All keys of all cases; a value has those of its case.
  private struct Form: Codable {
    var fact: Fact?
    var asked: [Part]?
    var level: InterruptionLevel?
    var silent: Bool?
    var focus: String?
    var category: String?
    var removed: [Decision.Removal]?
    var rule: String?
    var pointer: String?
    var message: String?
    var evidence: [String]?
    var isReportOnly: Bool?
    var status: Int?
    var reason: String?
    var topic: String?
    var keyID: String?
    var team: String?
    var channel: String?
    var held: Int?
    var scheduled: String?
    var presented: [String]?
    var action: String?
    var fault: String?
    var effect: String?
    var traceparent: String?
    var by: String?
    var words: String?

    enum CodingKeys: String, CodingKey {
      case fact, asked, level, silent, focus, category, removed, rule, pointer, message, evidence
      case status, reason, topic
      case channel, held, scheduled, presented, action, fault, effect, traceparent, by, words
      case isReportOnly = "report_only"
      case keyID = "key_id"
      case team = "team_id"
    }

    init(_ detail: DeliveryDetail) {
      switch detail {
      case .nothing: break
      case .fact(let fact): self.fact = fact
      case .asked(let request):
        asked = request.parts
        if request.level != .active { level = request.level }
        if request.device.isSilent { silent = true }
        (focus, category) = (request.device.focus, request.category)
      case .removed(let removals): removed = removals
      case .finding(let finding): self.finding = finding
      case .refusal(let refusal):
        (status, reason, topic) = (refusal.status, refusal.reason, refusal.topic)
        (keyID, team, finding) = (refusal.keyID, refusal.team, refusal.finding)
      case .channel(let channel): self.channel = channel
      case .held(let count): held = count
      case .scheduled(let time): scheduled = time
      case .presented(let parts): presented = parts
      case .answered(let action): self.action = action
      case .fault(let name, let effect): (fault, self.effect) = (name, effect)
      case .trace(let parent): traceparent = parent
      case .takenBack(let sender): by = sender
      case .words(let words): self.words = words
      }
    }

    /// Appends the same object as ``encode(to:)``, at a fraction of the cost.
    func append(to bytes: inout [UInt8]) {
      var object = JSONObjectText(bytes)
      bytes = []
      object.member("fact", fact?.rawValue)
      object.list("asked", asked) { appendJSONString($0.rawValue, to: &$1) }
      object.member("level", level?.rawValue)
      object.literal("silent", silent.map { "\($0)" })
      object.member("focus", focus)
      object.member("category", category)
      object.list("removed", removed) { removal, bytes in
        var object = JSONObjectText(bytes)
        bytes = []
        object.member("part", removal.part.rawValue)
        object.member("rule", removal.rule.rawValue)
        object.member("setting", removal.setting)
        bytes = object.end()
      }
      object.literal("status", status.map { "\($0)" })
      object.member("reason", reason)
      object.member("topic", topic)
      object.member("key_id", keyID)
      object.member("team_id", team)
      object.member("rule", rule)
      object.member("pointer", pointer)
      object.member("message", message)
      object.list("evidence", evidence) { appendJSONString($0, to: &$1) }
      object.literal("report_only", isReportOnly.map { "\($0)" })
      object.member("channel", channel)
      object.literal("held", held.map { "\($0)" })
      object.member("scheduled", scheduled)
      object.list("presented", presented) { appendJSONString($0, to: &$1) }
      object.member("action", action)
      object.member("fault", fault)
      object.member("effect", effect)
      object.member("traceparent", traceparent)
      object.member("by", by)
      object.member("words", words)
      bytes = object.end()
    }

    /// The violated rule; nil if there is none.
    var finding: Finding? {
      get {
        rule.map {
          Finding(
            rule: $0, pointer: pointer ?? "", message: message ?? "", evidence: evidence,
            isReportOnly: isReportOnly ?? false)
        }
      }
      set {
        (rule, pointer, message) = (newValue?.rule, newValue?.pointer, newValue?.message)
        evidence = newValue?.evidence
        isReportOnly = newValue?.isReportOnly == true ? true : nil
      }
    }
  }

  /// Decodes the output of ``appendJSON(to:)`` and ``encode(to:)``; a detail of a newer version becomes ``nothing``.
  package init(from decoder: any Decoder) throws {
    let form = try Form(from: decoder)
    if let fact = form.fact {
      self = .fact(fact)
    } else if let parts = form.asked {
      self = .asked(
        RequestedPresentation(
          parts, level: form.level ?? .active, category: form.category, isSilent: form.silent ?? false,
          focus: form.focus))
    } else if let removed = form.removed {
      self = .removed(removed)
    } else if let reason = form.reason {
      self = .refusal(
        Refusal(
          status: form.status ?? 0, reason: reason, topic: form.topic, keyID: form.keyID, team: form.team,
          finding: form.finding))
    } else if let finding = form.finding {
      self = .finding(finding)
    } else if let channel = form.channel {
      self = .channel(channel)
    } else if let held = form.held {
      self = .held(held)
    } else if let time = form.scheduled {
      self = .scheduled(time)
    } else if let presented = form.presented {
      self = .presented(presented)
    } else if let action = form.action {
      self = .answered(action)
    } else if let fault = form.fault {
      self = .fault(name: fault, effect: form.effect ?? "")
    } else if let parent = form.traceparent {
      self = .trace(parent)
    } else if let sender = form.by {
      self = .takenBack(by: sender)
    } else {
      self = form.words.map { .words($0) } ?? .nothing
    }
  }

  package func encode(to encoder: any Encoder) throws { try Form(self).encode(to: encoder) }
}
