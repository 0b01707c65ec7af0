/// Other preferences that are applied to the past pushes of a device.
package struct ReplayRequest: Codable, Sendable {
  /// The time before now whose pushes are decided again, in seconds.
  package var seconds: Int
  /// Changes of the preferences, such as `badge=off`.
  package var settings: [String]
  /// The topic of the app that the changes are for; nil: everything.
  package var app: String?
  /// The category of that app; nil: the whole app.
  package var category: String?

  package init(seconds: Int, settings: [String], app: String? = nil, category: String? = nil) {
    (self.seconds, self.settings, self.app, self.category) = (seconds, settings, app, category)
  }
}

/// The effect of other preferences on the past pushes of a device.
package struct ReplayRecord: Codable, Sendable {
  /// The numbers of a part of the pushes.
  package struct Tally: Codable, Sendable, Equatable {
    /// The beginning of the period, RFC 3339, UTC; nil for an app.
    package var at: String?
    /// The topic of the app; nil for a period.
    package var topic: String?
    package var pushes = 0
    /// The alerts that were shown.
    package var before = 0
    /// The alerts that the other preferences show.
    package var after = 0
    /// The pushes that the other preferences defer to a summary.
    package var held = 0

    package init(at: String? = nil, topic: String? = nil) { (self.at, self.topic) = (at, topic) }
  }

  /// A push with another result.
  package struct Change: Codable, Sendable {
    package var at: String
    package var topic: String
    /// The `apns-id`.
    package var id: String
    /// The parts that were presented.
    package var was: [String]
    /// The parts that the other preferences present.
    package var wouldBe: [String]
    /// True if the other preferences defer the push to a summary.
    package var isHeld: Bool
    /// The reasons for which the other preferences remove parts.
    package var reasons: [String]

    package init(
      at: String, topic: String, id: String, was: [String], wouldBe: [String], isHeld: Bool, reasons: [String]
    ) {
      (self.at, self.topic, self.id, self.was) = (at, topic, id, was)
      (self.wouldBe, self.isHeld, self.reasons) = (wouldBe, isHeld, reasons)
    }

    package enum CodingKeys: String, CodingKey {
      case at, topic, id, was, reasons
      case wouldBe = "would_be"
      case isHeld = "held"
    }
  }

  package var pushes: Int
  /// The number of pushes of which less is presented, and of which more is.
  package var less: Int
  package var more: Int
  package var held: Int
  /// True if the log has more rows than were read: the oldest pushes are missing.
  package var isCut: Bool
  /// The periods of the time, the earliest first.
  package var times: [Tally]
  /// The apps, in the order of their topics.
  package var apps: [Tally]
  /// The last pushes with another result, the newest first.
  package var changes: [Change]

  package init(
    pushes: Int, less: Int, more: Int, held: Int, isCut: Bool, times: [Tally], apps: [Tally], changes: [Change]
  ) {
    (self.pushes, self.less, self.more, self.held, self.isCut) = (pushes, less, more, held, isCut)
    (self.times, self.apps, self.changes) = (times, apps, changes)
  }

  package enum CodingKeys: String, CodingKey {
    case pushes, less, more, held, times, apps, changes
    case isCut = "cut"
  }
}
