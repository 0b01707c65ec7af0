import Testing

@testable import PushPolicy

/// The conditions that suppress an interruption (reference §7.4), each with and without its effect.
@Suite struct SuppressionConditionTests {
  static let topic = "com.example.news"
  static let levels = InterruptionLevel.allCases

  /// Noon on Monday.
  let noon = berlin(5, 1, 12)

  static func push(_ level: InterruptionLevel = .active) -> PushNotification {
    var push = PushNotification()
    push.badge = 3
    push.sound = .init(name: "chime.caf")
    push.alert = .init()
    push.alert?.title = "Title"
    push.level = level
    return push
  }

  /// Returns preferences that allow all levels for the app.
  static func preferences(_ change: (inout Preferences, inout AppPreferences) -> Void) -> Preferences {
    var preferences = Preferences()
    var app = AppPreferences()
    (app.timeSensitive, app.critical) = (true, true)
    change(&preferences, &app)
    preferences.apps[topic] = app
    return preferences
  }

  func decide(
    _ push: PushNotification, silent: Bool = false, focus: String? = nil, received: Int64? = nil, recent: Int = 0,
    catchingUp: Bool = false, at moment: ZonedTime? = nil,
    _ change: (inout Preferences, inout AppPreferences) -> Void = { _, _ in }
  ) -> Decision {
    var device = Policy.DeviceState()
    (device.isSilent, device.focus) = (silent, focus)
    return Policy.decide(
      push, topic: Self.topic, preferences: Self.preferences(change), device: device, at: moment ?? noon,
      received: received, recentAlerts: recent, isCatchingUp: catchingUp)
  }

  /// Returns the letters of the presented parts.
  func parts(_ decision: Decision) -> String {
    let presentation = decision.presentation
    return (presentation.badge == nil ? "" : "b") + (presentation.sound == nil ? "" : "s")
      + (presentation.alert == nil ? "" : "a") + (presentation.center == nil ? "" : "c")
  }

  @Test(arguments: zip(levels, ["bc", "bsa", "bsa", "bsa"]))
  func `A8: a passive push neither sounds nor alerts, every other does`(
    _ level: InterruptionLevel, _ expected: String
  ) {
    let decision = decide(Self.push(level))
    #expect(parts(decision) == expected)
    #expect(
      decision.removed
        == (level == .passive
          ? [
            .init(part: .sound, rule: .a8, setting: "interruption-level"),
            .init(part: .alert, rule: .a8, setting: "interruption-level"),
          ] : []))
  }

  @Test(arguments: zip(levels, ["bc", "bc", "bsa", "bsa"]))
  func `N7: in quiet hours only what is time-sensitive or critical interrupts`(
    _ level: InterruptionLevel, _ expected: String
  ) {
    let quiet = [QuietWindow(from: 0, to: 60), QuietWindow(from: 11 * 60, to: 13 * 60)]
    let decision = decide(Self.push(level)) { preferences, _ in preferences.quietHours = quiet }
    #expect(parts(decision) == expected)
    if level == .active { #expect(decision.removed.map(\.setting) == ["quiet/1", "quiet/1"]) }
    if level == .active { #expect(decision.removed.map(\.rule) == [.n7, .n7]) }
    #expect(
      parts(
        decide(Self.push(level), at: berlin(5, 1, 14)) {
          $0.quietHours = quiet
          _ = $1
        }) == (level == .passive ? "bc" : "bsa"))
  }

  @Test(arguments: zip(levels, ["bc", "bc", "bsa", "bsa"]))
  func `N7: a Focus holds back what it does not let through`(_ level: InterruptionLevel, _ expected: String) {
    let decision = decide(Self.push(level), focus: "work") { preferences, _ in preferences.focuses["work"] = ["other"] }
    #expect(parts(decision) == expected)
    if level == .active { #expect(decision.removed.map(\.setting) == ["focus/work", "focus/work"]) }
    let allowed = decide(Self.push(level), focus: "work") { preferences, _ in
      preferences.focuses["work"] = [Self.topic]
    }
    #expect(parts(allowed) == (level == .passive ? "bc" : "bsa"))
    #expect(parts(decide(Self.push(), focus: "unknown")) == "bc", "a Focus that is not listed lets none through")
  }

  @Test(arguments: zip(levels, ["bc", "ba", "ba", "bsa"]))
  func `S4: the silent switch silences all but what is critical`(_ level: InterruptionLevel, _ expected: String) {
    #expect(parts(decide(Self.push(level), silent: true)) == expected)
  }

  @Test(arguments: zip(levels, ["bc", "bc", "bsa", "bsa"]))
  func `N7: what is for the summary waits for it`(_ level: InterruptionLevel, _ expected: String) {
    let decision = decide(Self.push(level)) {
      $1.delivery = .summary
      _ = $0
    }
    #expect(parts(decision) == expected)
    let hold = Deferral(by: .summary, until: berlin(5, 1, 18).seconds)
    #expect(decision.presentation.held == (expected == "bc" ? hold : nil))
  }

  @Test func `a push belongs to the summary after it was accepted, whenever it is delivered`() {
    var push = Self.push()
    push.relevanceScore = 0.7
    let decision = decide(push, received: berlin(5, 1, 7).seconds) {
      $1.delivery = .summary
      _ = $0
    }
    #expect(
      decision.presentation.held == Deferral(by: .summary, until: berlin(5, 1, 8).seconds, relevance: 0.7))
  }

  @Test(arguments: zip(levels, ["bc", "bc", "bc", "bsa"]))
  func `N7: an app on probation is quiet until it is kept`(_ level: InterruptionLevel, _ expected: String) {
    #expect(
      parts(
        decide(Self.push(level)) {
          $1.provisional = true
          _ = $0
        }) == expected)
  }

  @Test(arguments: zip(levels, ["bc", "bc", "bc", "bsa"]))
  func `A8: beyond its budget an app reaches badge and center`(_ level: InterruptionLevel, _ expected: String) {
    let decision = decide(Self.push(level), recent: 2) {
      $1.alertBudget = 2
      _ = $0
    }
    #expect(parts(decision) == expected)
    #expect(decision.presentation.held == nil)
    if level == .active {
      #expect(decision.removed.map(\.setting) == Array(repeating: "apps/com.example.news/alert_budget", count: 2))
      #expect(decision.removed.map(\.rule) == [.a8, .a8])
    }
    #expect(
      parts(
        decide(Self.push(level), recent: 1) {
          $1.alertBudget = 2
          _ = $0
        }) == (level == .passive ? "bc" : "bsa"))
  }

  @Test(arguments: levels)
  func `N8: a new app shows twenty alerts an hour, and what is time-sensitive or critical besides`(
    _ level: InterruptionLevel
  ) {
    // No preference is set, neither for the app nor for its levels.
    func decide(_ recent: Int, isQuestion: Bool = false, catchingUp: Bool = false) -> Decision {
      Policy.decide(
        Self.push(level), topic: Self.topic, preferences: Preferences(), device: .init(), at: noon,
        received: noon.seconds - 60, recentAlerts: recent, isCatchingUp: catchingUp, isQuestion: isQuestion)
    }
    #expect(parts(decide(19)) == (level == .passive ? "bc" : "bsa"))
    for recent in [20, 5_000] {
      for catchingUp in [false, true] {
        let decision = decide(recent, catchingUp: catchingUp)
        #expect(parts(decision) == (level <= .active ? "bc" : "bsa"))
        // The alert is in the notification center, and in no summary.
        #expect(decision.presentation.held == nil)
        guard level == .active else { continue }
        #expect(decision.removed.map(\.description) == ["sound A8 budget", "alert A8 budget"])
        #expect(decision.presentation.budget == 20)
      }
      #expect(parts(decide(recent, isQuestion: true)) == (level == .passive ? "bc" : "bsa"))
    }
    #expect(decide(19).presentation.budget == nil)
  }

  @Test func `A8: what the person chooses holds in place of the default, and names itself`() {
    func decide(_ budget: AlertBudget, recent: Int, isQuestion: Bool = false) -> Presentation {
      self.decide(Self.push(isQuestion ? .active : .timeSensitive), recent: recent) {
        $1.alertBudget = budget
        _ = $0
      }
      .presentation
    }
    #expect(decide(.unlimited, recent: 5_000).alert != nil)
    #expect(decide(50, recent: 49).alert != nil)
    #expect((decide(50, recent: 50).alert, decide(50, recent: 50).budget) == (nil, 50))
  }

  @Test func `N8: time-sensitive and critical alerts and questions are not counted by default`() {
    func allowance(_ budget: AlertBudget?, _ level: InterruptionLevel, isQuestion: Bool = false) -> Int? {
      var app = AppPreferences()
      if let budget { app.alertBudget = budget }
      return Policy.alertQuota(
        of: budget == nil ? nil : app, for: Self.push(level), isQuestion: isQuestion, received: 0, at: 0,
        isCatchingUp: false)?.count
    }
    #expect(allowance(nil, .active) == 20 && allowance(.standard, .passive) == 20)
    #expect(allowance(nil, .timeSensitive) == nil && allowance(nil, .critical) == nil)
    #expect(allowance(nil, .active, isQuestion: true) == nil)
    // A number that the user chose applies to all levels and to questions.
    #expect(allowance(3, .critical) == 3 && allowance(3, .active, isQuestion: true) == 3)
    #expect(allowance(.unlimited, .active) == nil)
  }

  @Test func `A8: a budget counts alerts, not sounds and badges`() {
    var push = Self.push()
    push.alert = nil
    #expect(
      parts(
        decide(push, recent: 5) {
          $1.alertBudget = 0
          _ = $0
        }) == "bs")
  }

  @Test func `A8: what waited while the person was away comes as a digest beyond the first`() {
    let received = noon.seconds - 3600
    let first = decide(Self.push(), received: received, recent: 9, catchingUp: true)
    let eleventh = decide(Self.push(), received: received, recent: 10, catchingUp: true)
    #expect(parts(first) == "bsa")
    #expect(parts(eleventh) == "bc")
    #expect(eleventh.presentation.held == Deferral(by: .budget))
    #expect(eleventh.removed.map(\.setting) == ["absence", "absence"])
    #expect(parts(decide(Self.push(), received: noon.seconds - 600, recent: 19, catchingUp: true)) == "bsa")
    #expect(parts(decide(Self.push(), received: received, recent: 19)) == "bsa", "a live push is no flood")
    let budget = decide(Self.push(), recent: 1, catchingUp: true) {
      $1.alertBudget = 1
      _ = $0
    }
    #expect(budget.presentation.held == Deferral(by: .budget))
  }

  @Test func `a level that the person has not allowed the app counts as active`() {
    for level in [InterruptionLevel.timeSensitive, .critical] {
      let decision = decide(Self.push(level), silent: true, focus: "work") {
        ($1.timeSensitive, $1.critical) = (false, false)
        _ = $0
      }
      #expect(parts(decision) == "bc")
    }
  }

  @Test func `a critical alert sounds also when it names no sound, if it may be critical`() {
    var push = Self.push(.critical)
    push.sound = nil
    #expect(decide(push, silent: true).presentation.sound == "default")
    #expect(
      decide(push) {
        $1.critical = false
        _ = $0
      }.presentation.sound == nil)
  }

  @Test func `a critical sound makes a critical push`() {
    var push = Self.push()
    push.sound?.isCritical = true
    #expect(parts(decide(push, silent: true, focus: "work")) == "bsa")
  }

  @Test(arguments: ["notifications", "badge", "sound", "alert"])
  func `N4, N5: what the person turned off stays off, however critical`(_ setting: String) throws {
    for app in [nil, Self.topic] {
      var preferences = Self.preferences { _, _ in }
      try preferences.set(setting + "=off", app: app, category: nil)
      let decision = Policy.decide(
        Self.push(.critical), topic: Self.topic, preferences: preferences, device: .init(), at: noon)
      let off = setting == "notifications" ? Part.allCases : Part.allCases.filter { $0.rawValue == setting }
      #expect(decision.removed.map(\.part) == off)
      #expect(decision.presentation.center == nil, "what is refused is not in the center either")
    }
  }
}
