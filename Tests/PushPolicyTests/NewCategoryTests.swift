import Foundation
import PushPolicy
import Testing

/// Rule N10: a new category starts quiet until the user has chosen.
struct NewCategoryTests {
  private let topic = "com.example.shop"
  private var setting: String { "apps/\(topic)/categories/OFFERS/permission" }

  private func decide(
    _ preferences: Preferences = Preferences(), level: InterruptionLevel = .active, isNew: Bool = true,
    isQuestion: Bool = false
  ) -> Decision {
    var push = PushNotification()
    push.badge = 1
    push.sound = .init(name: "default")
    push.alert = .init()
    push.alert?.body = "B"
    (push.category, push.level) = ("OFFERS", level)
    return Policy.decide(
      push, topic: topic, preferences: preferences, device: .init(), at: .utc(0), isNewCategory: isNew,
      isQuestion: isQuestion)
  }

  private func chosen(_ choice: String) throws -> Preferences {
    var preferences = Preferences()
    try preferences.set("permission=" + choice, app: topic, category: "OFFERS")
    return preferences
  }

  @Test func `N10: a new category has no alert and no sound, and the center offers the choice`() {
    let decision = decide()
    #expect(decision.removed == [Part.sound, .alert].map { .init(part: $0, rule: .n10, setting: setting) })
    #expect(decision.presentation.badge == 1)
    #expect(decision.presentation.center != nil)
    #expect(decision.presentation.newCategory == "OFFERS")
    #expect(decision.removed.allSatisfy { !$0.isRefusal })
    let words = Explanation(decision.removed[1], preferences: Preferences(), device: "me", topic: topic)
    #expect(words.reason == "the category is new")
    #expect(words.remedy == "pushcli prefs set --device me --app \(topic) --category OFFERS permission=show")
  }

  @Test func `N10: a category that is known, and a question, are as before`() {
    #expect(decide(isNew: false).removed.isEmpty)
    #expect(decide(isQuestion: true).removed.isEmpty)
  }

  @Test func `N10: the choice decides, for new categories and for others`() throws {
    for isNew in [true, false] {
      #expect(try decide(chosen("show"), isNew: isNew).removed.isEmpty)
      let quiet = try decide(chosen("quiet"), isNew: isNew)
      #expect(quiet.removed.map(\.rule) == [.n10, .n10])
      #expect(quiet.presentation.newCategory == nil, "the choice is made")
      let off = try decide(chosen("off"), isNew: isNew)
      #expect(off.removed == Part.allCases.map { .init(part: $0, rule: .n6, setting: setting) })
      #expect(off.presentation.isEmpty)
    }
    #expect(try chosen("new") == Preferences.withApp(topic))
  }

  @Test func `N10: an alert that is allowed is a choice, a part that is turned off is none`() throws {
    var preferences = Preferences()
    try preferences.set("badge=off", app: topic, category: "OFFERS")
    #expect(decide(preferences).removed.map(\.rule) == [.n6, .n10, .n10])
    try preferences.set("alert=on", app: topic, category: "OFFERS")
    #expect(decide(preferences).removed.map(\.rule) == [.n6])
  }

  @Test func `N10: time-sensitive and critical pushes that the user allows come through`() {
    var preferences = Preferences()
    preferences.apps[topic, default: .init()].timeSensitive = true
    preferences.apps[topic]?.critical = true
    #expect(decide(preferences, level: .timeSensitive).removed.isEmpty)
    #expect(decide(preferences, level: .critical).removed.isEmpty)
    #expect(decide(level: .timeSensitive).removed.count == 2)
  }

  @Test func `the choice and the presentation are read as they are written`() throws {
    let preferences = try chosen("quiet")
    let json = try JSONEncoder().encode(preferences)
    #expect(String(decoding: json, as: UTF8.self).contains(#""permission":"quiet""#))
    #expect(try JSONDecoder().decode(Preferences.self, from: json) == preferences)
    var bytes: [UInt8] = []
    decide().presentation.appendJSON(to: &bytes)
    #expect(try JSONDecoder().decode(Presentation.self, from: Data(bytes)) == decide().presentation)
    #expect(throws: SettingError.self) { try chosen("loud") }
  }
}

extension Preferences {
  /// Preferences with an entry of the app, in which all have their defaults.
  fileprivate static func withApp(_ topic: String) -> Preferences {
    var preferences = Preferences()
    preferences.apps[topic] = AppPreferences()
    return preferences
  }
}
