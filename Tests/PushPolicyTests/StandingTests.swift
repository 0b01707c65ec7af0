import PushPolicy
import Testing

/// Rule N11: alerts of an app that recipients reported go to the summary.
struct StandingTests {
  private static let now: Int64 = 1_800_000_000
  private static let topic = "com.example.shop"

  private static func standing(_ presented: Int, _ reported: Int, _ reporters: Int) -> Standing {
    var standing = Standing()
    (standing.presented, standing.reported, standing.reporters) = (presented, reported, reporters)
    return standing
  }

  @Test(
    arguments: [
      (1_000, 3, 3, true),
      (1_001, 3, 3, false),
      (100, 3, 3, true),
      (99, 3, 3, false),
      (1_000, 500, 2, false),
      (10, 10, 1, false),
      (0, 0, 0, false),
      (1_000_000, 2_999, 900, false),
      (1_000_000, 3_000, 900, true),
      (100, .max, .max, true),
      (.max, .max, .max, false),
    ] as [(Int, Int, Int, Bool)])
  func `N11: the rule applies from so many alerts, reports and users on`(
    _ alerts: Int, _ reports: Int, _ reporters: Int, _ begins: Bool
  ) {
    let measure = Self.standing(alerts, reports, reporters).measure(after: .never, at: Self.now)
    let expected = SummaryMeasure(summaryFrom: Self.now, countedFrom: Self.now + 28 * 86_400)
    #expect(measure == (begins ? expected : nil))
  }

  @Test func `N11: during a measure or an exemption no other measure begins`() {
    let standing = Self.standing(1_000, 10, 5)
    for from in [nil, Self.now - 1] {
      let measure = SummaryMeasure(summaryFrom: from, countedFrom: Self.now)
      #expect(standing.measure(after: measure, at: Self.now - 1) == nil)
      #expect(standing.measure(after: measure, at: Self.now)?.summaryFrom == Self.now)
    }
  }

  @Test func `N11: a measure is active from its beginning until its end, an exemption never`() {
    let measure = SummaryMeasure(summaryFrom: 10, countedFrom: 20)
    #expect([9, 10, 19, 20].map { measure.isActive(at: $0) } == [false, true, true, false])
    #expect(!SummaryMeasure(summaryFrom: nil, countedFrom: 20).isActive(at: 10))
    #expect(!SummaryMeasure.never.isActive(at: 0))
  }

  private func decide(
    _ preferences: Preferences = Preferences(), level: InterruptionLevel = .active, isReported: Bool = true
  ) -> Decision {
    var push = PushNotification()
    push.badge = 1
    push.sound = .init(name: "default")
    push.alert = .init()
    push.alert?.body = "B"
    push.level = level
    return Policy.decide(
      push, topic: Self.topic, preferences: preferences, device: .init(), at: .utc(Self.now), isReported: isReported)
  }

  @Test func `N11: the alert goes to the summary, and the explanation names the way out`() {
    let decision = decide()
    let setting = "apps/\(Self.topic)/standing"
    #expect(decision.removed == [Part.sound, .alert].map { .init(part: $0, rule: .n11, setting: setting) })
    #expect(decision.presentation.badge == 1 && decision.presentation.center != nil)
    #expect(decision.presentation.held?.by == .summary)
    #expect(decision.removed.allSatisfy { !$0.isRefusal })
    let words = Explanation(decision.removed[1], preferences: Preferences(), device: "me", topic: Self.topic)
    #expect(words.reason == "recipients reported the app's alerts as advertising")
    #expect(words.remedy == "pushcli prefs set --device me --app \(Self.topic) advertising=allow")
    #expect(decide(isReported: false).removed.isEmpty)
  }

  @Test func `N11: the recipient's own choice is above the reports of others`() throws {
    var preferences = Preferences()
    try preferences.set("advertising=allow", app: Self.topic, category: nil)
    #expect(decide(preferences).removed.isEmpty)
    preferences = Preferences()
    try preferences.set("delivery=summary", app: Self.topic, category: nil)
    #expect(decide(preferences).removed.map(\.rule) == [.n7, .n7])
  }

  @Test func `N11: time-sensitive and critical pushes that the user allows come through`() throws {
    var preferences = Preferences()
    for choice in ["time-sensitive=on", "critical=on"] {
      try preferences.set(choice, app: Self.topic, category: nil)
    }
    for level in [InterruptionLevel.timeSensitive, .critical] {
      #expect(decide(preferences, level: level).removed.isEmpty)
    }
  }
}
