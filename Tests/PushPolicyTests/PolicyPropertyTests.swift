import PushPolicy
import Testing

/// Properties of the policy for any push, any user and any time.
@Suite struct PolicyPropertyTests {
  struct World {
    var push: PushNotification
    var preferences: Preferences
    var device = Policy.DeviceState()
    var moment: ZonedTime
    var received: Int64
    var recentAlerts: Int
    var isCatchingUp: Bool
    var isMarketing: Bool
    var isNewCategory: Bool
    var isReported: Bool

    func decision(_ change: (inout Preferences) -> Void = { _ in }) -> Decision {
      var preferences = preferences
      change(&preferences)
      return Policy.decide(
        push, topic: "a", preferences: preferences, device: device, at: moment, received: received,
        recentAlerts: recentAlerts, isCatchingUp: isCatchingUp, isMarketing: isMarketing,
        isNewCategory: isNewCategory, isReported: isReported)
    }

    /// The parts that the push requests. A critical push requests a sound through its level.
    var asked: Set<Part> {
      var parts: Set<Part> = []
      if push.badge != nil { parts.insert(.badge) }
      if push.sound != nil || push.level == .critical { parts.insert(.sound) }
      if push.alert != nil { parts.insert(.alert) }
      return parts
    }
  }

  static func parts(_ presentation: Presentation) -> Set<Part> {
    var parts: Set<Part> = []
    if presentation.badge != nil { parts.insert(.badge) }
    if presentation.sound != nil { parts.insert(.sound) }
    if presentation.alert != nil { parts.insert(.alert) }
    return parts
  }

  /// Changes that restrict a user's preferences: each turns a part, an app or a permission off, or a restriction on.
  static let restrictions: [@Sendable (inout Preferences) -> Void] =
    [
      { $0.notifications = false },
      { $0.apps["a", default: .init()].notifications = false },
      { $0.apps["a", default: .init()].timeSensitive = false },
      { $0.apps["a", default: .init()].critical = false },
      { $0.apps["a", default: .init()].advertising = false },
      { $0.marketing = false },
      { $0.apps["a", default: .init()].marketing = false },
      { $0.apps["a", default: .init()].provisional = true },
      { $0.apps["a", default: .init()].delivery = .summary },
      { $0.apps["a", default: .init()].alertBudget = 0 },
      { $0.quietHours.append(QuietWindow(from: 0, to: 0)) },
      { $0.focuses["work"] = nil },
    ]
    + Part.allCases.flatMap { part -> [@Sendable (inout Preferences) -> Void] in
      [
        { $0.parts[part] = false },
        { $0.apps["a", default: .init()].parts[part] = false },
        { $0.apps["a", default: .init()].categories["c", default: .init()][part] = false },
      ]
    }

  @Test(arguments: 0..<8)
  func `a preference adds nothing, turning off lets no more through, and twice is the same`(_ seed: UInt64) {
    var generator = SeededGenerator(state: seed)
    for _ in 0..<2000 {
      let world = World.random(using: &generator)
      let decision = world.decision()
      let shown = Self.parts(decision.presentation)
      #expect(decision == world.decision())
      #expect(shown.isSubset(of: world.asked))
      #expect(shown.isDisjoint(with: decision.removed.map(\.part)))
      #expect(Set(decision.removed.map(\.part)).count == decision.removed.count)
      let explicit = world.push.sound == nil ? world.asked.subtracting([.sound]) : world.asked
      #expect(explicit.isSubset(of: shown.union(decision.removed.map(\.part))), "what is missing has its rule")
      #expect(decision.presentation.alert == nil || decision.presentation.center == nil)
      #expect(decision.presentation.held == nil || decision.presentation.center != nil, "what is held is in the center")
      for restriction in Self.restrictions {
        let stricter = Self.parts(world.decision(restriction).presentation)
        #expect(stricter.isSubset(of: shown), "seed \(seed): \(stricter) of \(shown) in \(world)")
      }
    }
  }

  @Test func `whatever is allowed, the sender gets no more than it asked for`() {
    var generator = SeededGenerator(state: 3)
    for _ in 0..<2000 {
      var world = World.random(using: &generator)
      world.preferences = Preferences()
      world.device = .init()
      #expect(Self.parts(world.decision().presentation).isSubset(of: world.asked))
    }
  }
}

extension PolicyPropertyTests.World {
  static func random(using generator: inout SeededGenerator) -> Self {
    func one<Value>(_ values: [Value]) -> Value { values.randomElement(using: &generator)! }
    var push = PushNotification()
    push.badge = one([nil, 0, 7])
    push.sound = one([nil, .init(name: "x")])
    push.sound?.isCritical = one([false, false, true])
    if one([true, true, false]) {
      push.alert = .init()
      push.alert?.body = "b"
    }
    push.level = one(InterruptionLevel.allCases)
    push.category = one([nil, "c", "d"])
    push.relevanceScore = one([0, 1, -.infinity, .nan])
    var preferences = Preferences()
    preferences.notifications = one([true, true, true, false])
    for part in Part.allCases { preferences.parts[part] = one([true, true, true, false]) }
    preferences.marketing = one([true, false])
    preferences.quietHours = one([[], [], [QuietWindow(from: 600, to: 60)]])
    preferences.focuses = one([[:], ["work": ["a"]], ["work": []]])
    if one([true, true, false]) {
      var app = AppPreferences()
      app.notifications = one([true, true, false])
      for part in Part.allCases { app.parts[part] = one([true, true, false]) }
      for category in ["c", "d"] where one([true, false]) {
        var choices = CategoryPreferences()
        for part in Part.allCases { choices[part] = one([true, false, nil]) }
        choices.permission = one([nil, nil, .show, .quiet, .off])
        app.categories[category] = choices
      }
      app.timeSensitive = one([true, false])
      app.critical = one([true, false])
      app.marketing = one([nil, true, false])
      app.provisional = one([true, false, false])
      app.delivery = one([.now, .now, .summary])
      app.alertBudget = one([.standard, .unlimited, 0, 3])
      preferences.apps["a"] = app
    }
    var device = Policy.DeviceState()
    device.isSilent = one([true, false])
    device.focus = one([nil, nil, "work"])
    let now = Int64.random(in: -4_000_000_000...8_000_000_000, using: &generator)
    return Self(
      push: push, preferences: preferences, device: device, moment: .utc(now),
      received: now - one([0, 60, 7200]), recentAlerts: one([0, 3, 50]), isCatchingUp: one([true, false]),
      isMarketing: one([true, false, false]), isNewCategory: one([true, false, false]),
      isReported: one([true, false, false]))
  }
}
