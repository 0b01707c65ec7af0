/// Repeats the decisions about past deliveries with other preferences, to show the differences.
///
/// The deliveries have to be given in their original order, because of the budgets.
package struct Replay {
  /// One push from the delivery log.
  package struct Delivery: Sendable, Equatable {
    package var id: String
    package var topic: String
    /// The times when it was sent to the device and when it was accepted, in seconds since 1970.
    package var at: Int64
    package var received: Int64
    package var asked: RequestedPresentation
    /// The removed parts, according to the log.
    package var removed: [Decision.Removal]

    package init(
      id: String, topic: String, at: Int64, received: Int64, asked: RequestedPresentation,
      removed: [Decision.Removal] = []
    ) {
      (self.id, self.topic, self.at) = (id, topic, at)
      (self.received, self.asked, self.removed) = (received, asked, removed)
    }

    package var presented: [Part] { asked.parts.filter { part in !removed.contains { $0.part == part } } }

    /// True if the push was treated as advertising; the log has no texts to assess again.
    ///
    /// This is unknown, and so false, for a push that another preference removed, or whose app was allowed to
    /// advertise.
    var isAdvertisement: Bool { removed.contains { $0.rule == .a9 } }

    /// True if the push was treated as one of a new category.
    var isNewCategory: Bool { removed.contains { $0.rule == .n10 } }

    /// True if the push was deferred because recipients reported the app's alerts.
    var isReported: Bool { removed.contains { $0.rule == .n11 } }

    /// True if the sender declared the push as marketing.
    var isMarketing: Bool { asked.isMarketing || removed.contains { $0.rule == .n9 } }
  }

  /// The result for one push with the other preferences.
  package struct Outcome: Sendable, Equatable {
    package var delivery: Delivery
    package var presented: [Part]
    package var removed: [Decision.Removal]
    /// True if the push would have been deferred to a summary.
    package var isHeld: Bool

    /// The parts that were not presented, but would have been.
    package var gained: [Part] { presented.filter { !delivery.presented.contains($0) } }
    /// The parts that were presented, but would not have been.
    package var lost: [Part] { delivery.presented.filter { !presented.contains($0) } }
  }

  private let preferences: Preferences
  private let offset: @Sendable (String?, Int64) -> Int
  private var histories: [String: AlertHistory<String>] = [:]

  /// The delay in seconds after which a push counts as pending while the device was away.
  private static let wait: Int64 = 60
  /// The prefix of the categories of questions (`pushcli ask`), which are deleted when the log is read.
  package static let questions = "ASK-"

  package init(_ preferences: Preferences, offset: @escaping @Sendable (_ zone: String?, _ seconds: Int64) -> Int) {
    self.preferences = preferences
    self.offset = offset
  }

  /// Returns the result for the next push.
  package mutating func decide(_ delivery: Delivery) -> Outcome {
    let isCatchingUp = delivery.at - delivery.received > Replay.wait
    let recent = histories[delivery.topic]?.count(at: delivery.at, without: delivery.id) ?? 0
    let push = delivery.asked.notification
    let isQuestion = push.category?.hasPrefix(Replay.questions) == true
    let decision = Policy.decide(
      push, topic: delivery.topic, preferences: preferences, device: delivery.asked.device,
      at: ZonedTime(seconds: delivery.at, offset: offset), received: delivery.received, recentAlerts: recent,
      isCatchingUp: isCatchingUp, isAdvertisement: delivery.isAdvertisement, isMarketing: delivery.isMarketing,
      isNewCategory: delivery.isNewCategory, isReported: delivery.isReported, isQuestion: isQuestion)
    let presented = delivery.asked.parts.filter { part in !decision.removed.contains { $0.part == part } }
    if decision.isAlertCounted {
      histories[delivery.topic, default: AlertHistory()].note(delivery.id, at: delivery.at)
    }
    return Outcome(
      delivery: delivery, presented: presented, removed: decision.removed, isHeld: decision.presentation.held != nil)
  }
}

extension Decision.Removal: CustomStringConvertible {
  /// The text form in the delivery log: `part RULE setting`.
  package var description: String { "\(part.rawValue) \(rule.rawValue) \(setting)" }

  /// Reads the output of ``description``; `nil` for any other text.
  package init?(_ text: Substring) {
    let fields = text.split(separator: Character(" "), maxSplits: 2, omittingEmptySubsequences: false).map(String.init)
    guard fields.count == 3, let part = Part(rawValue: fields[0]), let rule = Rule(rawValue: fields[1]) else {
      return nil
    }
    self.init(part: part, rule: rule, setting: fields[2])
  }

  /// Reads removals that are separated by `; `.
  package static func list(_ text: String) -> [Decision.Removal] {
    var removals: [Decision.Removal] = []
    for piece in text.split(separator: ";", omittingEmptySubsequences: false) {
      let trimmed = piece.drop { $0 == " " }
      if let removal = Decision.Removal(trimmed) {
        removals.append(removal)
      } else if !removals.isEmpty {
        // A setting may contain a semicolon in the name of a category.
        removals[removals.count - 1].setting += ";" + piece
      }
    }
    return removals
  }
}
