/// The interruption level that the sender requests for a push (reference §7.4).
package enum InterruptionLevel: String, Sendable, Codable, CaseIterable, Comparable {
  case passive, active
  case timeSensitive = "time-sensitive"
  case critical

  private var rank: Int {
    switch self {
    case .passive: 0
    case .active: 1
    case .timeSensitive: 2
    case .critical: 3
    }
  }

  package static func < (left: Self, right: Self) -> Bool { left.rank < right.rank }
}

/// The conditions that may prevent a push from interrupting, in the order in which they are checked.
package enum SuppressionCondition: String, Sendable, CaseIterable {
  /// Always true.
  case always
  /// The app is on probation.
  case provisional
  /// The category is new and starts quiet, or the user keeps it quiet.
  case category
  /// The app's pushes are deferred to the summary, by the user or because recipients reported them (N11).
  case summary
  case quietHours = "quiet hours"
  /// A Focus is active that does not let the app through.
  case focus
  /// The app has used up its alert budget. Only pushes that request an alert are affected.
  case budget
  /// The ring/silent switch is on silent.
  case silent

  static let inOrder = allCases
}

/// A set of the three parts of a push.
struct PartSet: OptionSet, Sendable {
  let rawValue: UInt8

  static let badge = PartSet(rawValue: 1)
  static let sound = PartSet(rawValue: 2)
  static let alert = PartSet(rawValue: 4)
  static let all: PartSet = [.badge, .sound, .alert]

  init(rawValue: UInt8) { self.rawValue = rawValue }

  init(_ part: Part) {
    switch part {
    case .badge: self = .badge
    case .sound: self = .sound
    case .alert: self = .alert
    }
  }
}

extension SuppressionCondition {
  /// Returns true if `part` of a push of this level gets through, if the user allows the app this level.
  ///
  /// All combinations outside of the table are removed; for a removed alert the notification center gets an entry.
  package func lets(_ part: Part, of level: InterruptionLevel) -> Bool {
    parts(of: level).contains(PartSet(part))
  }

  /// Returns the parts that a push of each level may use under this condition: the only table of them.
  func parts(of level: InterruptionLevel) -> PartSet {
    switch (self, level) {
    case (_, .passive): .badge
    case (.always, .active), (.always, .timeSensitive), (_, .critical): .all
    case (.provisional, .active), (.provisional, .timeSensitive): .badge
    case (.category, .active): .badge
    case (.category, .timeSensitive): .all
    case (.summary, .active): .badge
    case (.quietHours, .active): .badge
    case (.focus, .active): .badge
    case (.summary, .timeSensitive), (.quietHours, .timeSensitive), (.focus, .timeSensitive): .all
    case (.budget, .active), (.budget, .timeSensitive): .badge
    case (.silent, .active), (.silent, .timeSensitive): [.badge, .alert]
    }
  }
}
