/// Decides again what was delivered, with other choices: what would have been different.
///
/// Deliveries come in the order in which they were, because budgets count.
package struct Replay {
  /// One push as the delivery log tells of it.
  package struct Delivery: Sendable, Equatable {
    package var id: String
    package var topic: String
    /// When it was sent to the device, and when it was accepted, in seconds since 1970.
    package var at: Int64
    package var received: Int64
    package var asked: RequestedPresentation
    /// What was removed, as the log says.
    package var removed: [Decision.Removal]

    package init(
      id: String, topic: String, at: Int64, received: Int64, asked: RequestedPresentation,
      removed: [Decision.Removal] = []
    ) {
      self.id = id
      self.topic = topic
      self.at = at
      self.received = received
      self.asked = asked
      self.removed = removed
    }

    /// The parts that were presented.
    package var presented: [Part] { asked.parts.filter { part in !removed.contains { $0.part == part } } }

    /// Whether it was taken for advertising: the log has no texts to judge again.
    ///
    /// Of what another choice removed, or the person had allowed to advertise, it is not known.
    var isAdvertisement: Bool { removed.contains { $0.rule == .a9 } }
  }

  /// What one push would have become.
  package struct Outcome: Sendable, Equatable {
    package var delivery: Delivery
    package var presented: [Part]
    package var removed: [Decision.Removal]
    /// Whether it would have waited for a digest.
    package var isHeld: Bool

    /// Parts that would have been presented and were not.
    package var gained: [Part] { presented.filter { !delivery.presented.contains($0) } }
    /// Parts that were presented and would not have been.
    package var lost: [Part] { delivery.presented.filter { !presented.contains($0) } }
  }

  private let preferences: Preferences
  private let offset: @Sendable (String?, Int64) -> Int
  private var histories: [String: AlertHistory<String>] = [:]

  /// A push that reached the device this much later than the gateway had waited for it, in seconds.
  private static let wait: Int64 = 60
  /// How the categories of questions begin, which are gone when the log is read (`pushcli ask`).
  package static let questions = "ASK-"

  package init(_ preferences: Preferences, offset: @escaping @Sendable (_ zone: String?, _ seconds: Int64) -> Int) {
    self.preferences = preferences
    self.offset = offset
  }

  /// What the next push would have become.
  package mutating func decide(_ delivery: Delivery) -> Outcome {
    let isCatchingUp = delivery.at - delivery.received > Replay.wait
    let recent = histories[delivery.topic]?.count(at: delivery.at, without: delivery.id) ?? 0
    let push = delivery.asked.notification
    let isQuestion = push.category?.hasPrefix(Replay.questions) == true
    let decision = Policy.decide(
      push, topic: delivery.topic, preferences: preferences, device: delivery.asked.device,
      at: ZonedTime(seconds: delivery.at, offset: offset), received: delivery.received, recentAlerts: recent,
      isCatchingUp: isCatchingUp, isAdvertisement: delivery.isAdvertisement, isQuestion: isQuestion)
    let presented = delivery.asked.parts.filter { part in !decision.removed.contains { $0.part == part } }
    if decision.isAlertCounted {
      histories[delivery.topic, default: AlertHistory()].note(delivery.id, at: delivery.at)
    }
    return Outcome(
      delivery: delivery, presented: presented, removed: decision.removed, isHeld: decision.presentation.held != nil)
  }
}

extension Decision.Removal: CustomStringConvertible {
  /// `part RULE setting`, as the delivery log has it.
  package var description: String { "\(part.rawValue) \(rule.rawValue) \(setting)" }

  /// Reads what ``description`` has written; `nil` for anything else.
  package init?(_ text: Substring) {
    let fields = text.split(separator: Character(" "), maxSplits: 2, omittingEmptySubsequences: false).map(String.init)
    guard fields.count == 3, let part = Part(rawValue: fields[0]), let rule = Rule(rawValue: fields[1]) else {
      return nil
    }
    self.init(part: part, rule: rule, setting: fields[2])
  }

  /// Reads removals with `; ` between them.
  package static func list(_ text: String) -> [Decision.Removal] {
    var removals: [Decision.Removal] = []
    for piece in text.split(separator: ";", omittingEmptySubsequences: false) {
      let trimmed = piece.drop { $0 == " " }
      if let removal = Decision.Removal(trimmed) {
        removals.append(removal)
      } else if !removals.isEmpty {
        // A setting may hold a semicolon: a category's name.
        removals[removals.count - 1].setting += ";" + piece
      }
    }
    return removals
  }
}
