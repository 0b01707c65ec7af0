import FoundationEssentials
import Testing

@testable import PushPolicy

@Suite struct PreferenceTests {
  /// Every preference of every scope, with the values that a settings screen offers.
  static let offered: [(name: String, app: String?, category: String?, values: [String])] =
    Preferences().choices.map { ($0.name, nil, nil, $0.values) }
    + AppPreferences().choices.map { ($0.name, "a", nil, $0.values) }
    + CategoryPreferences().choices.map { ($0.name, "a", "c", $0.values) }

  func choice(_ preferences: Preferences, _ name: String, _ app: String?, _ category: String?) throws
    -> EffectivePreference
  {
    let choices =
      if let app, let category {
        (preferences.apps[app]?.categories[category] ?? .init()).choices
      } else if let app {
        (preferences.apps[app] ?? .init()).choices
      } else {
        preferences.choices
      }
    return try #require(choices.first { $0.name == name })
  }

  @Test func `names, keys and titles stand for one choice each`() {
    for values in [Preference.all.map(\.name), Preference.all.map(\.key), Preference.all.map(\.title)] {
      #expect(Set(values).count == Preference.all.count)
    }
  }

  @Test(arguments: offered.indices)
  func `a value that is offered is taken, shown as it was written, and survives JSON`(_ place: Int) throws {
    let (name, app, category, values) = Self.offered[place]
    for value in values {
      var preferences = Preferences()
      try preferences.set("\(name)=\(value)", app: app, category: category)
      #expect(try choice(preferences, name, app, category).value == value)
      let json = try JSONEncoder().encode(preferences)
      #expect(try JSONDecoder().decode(Preferences.self, from: json) == preferences)
      let error = try JSONParser().parse(Array(json).span) { Preference.Scope.everything.error(in: $0) }
      #expect(error == nil)
    }
  }

  @Test(arguments: Preference.all.map(\.name))
  func `what refuses names the assignment that would not`(_ name: String) throws {
    let choice = try #require(Preference.all.first { $0.name == name })
    guard let slot = choice.app, slot.refusal(.init()) != nil else { return }
    let removal = Decision.Removal(part: .alert, rule: .n5, setting: "apps/a/\(choice.key)")
    let words = Explanation(removal, preferences: .init(), device: "me")
    #expect(words.remedy == "pushcli prefs set --device me --app a \(name)=\(slot.remedy)")
    var preferences = Preferences()
    try preferences.set("\(name)=\(slot.remedy)", app: "a", category: nil)
  }

  @Test func `a list says what is not as usual`() throws {
    var app = AppPreferences()
    #expect(app.choices.compactMap(\.remark).isEmpty)
    (app.delivery, app.alertBudget, app.critical, app.provisional) = (.summary, 5, true, true)
    #expect(app.choices.compactMap(\.remark) == ["in the summary", "critical", "5 alerts an hour", "provisional"])
    var preferences = Preferences()
    try preferences.set("budget=none", app: "a", category: nil)
    #expect(preferences.apps["a"]?.choices.compactMap(\.remark) == ["unlimited alerts an hour"])
  }

  /// Preferences in the format of the previous version.
  @Test func `stored choices of the version before read as they were`() throws {
    let stored = """
      {"apps":{"a.b":{"notifications":true,"alert_budget":3,"sound":false,"delivery":"summary","badge":true,"alert":true,
      "categories":{"c":{"alert":false}},"time_sensitive":true,"critical":true,"advertising":true,"provisional":true}},
      "notifications":true,"focus":{"work":["a.b"]},"badge":false,"sound":true,"alert":true,
      "quiet":["22:00-07:00 sat,sun Europe/Berlin"],"summary":"09:00"}
      """
    var expected = Preferences()
    for (assignment, app, category) in [
      ("badge=off", nil, nil), ("focus.work=a.b", nil, nil), ("quiet=22:00-07:00 sat,sun Europe/Berlin", nil, nil),
      ("summary=9:00", nil, nil), ("sound=off", "a.b", nil), ("alert-budget=3", "a.b", nil),
      ("delivery=summary", "a.b", nil), ("time_sensitive=on", "a.b", nil), ("critical=on", "a.b", nil),
      ("advertising=on", "a.b", nil), ("provisional=on", "a.b", nil), ("alert=off", "a.b", "c"),
    ] as [(String, String?, String?)] {
      try expected.set(assignment, app: app, category: category)
    }
    let preferences = try JSONDecoder().decode(Preferences.self, from: Data(stored.utf8))
    #expect(preferences == expected)
    let encoder = JSONEncoder()
    encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
    #expect(
      String(decoding: try encoder.encode(preferences), as: UTF8.self) == """
        {"alert":true,"apps":{"a.b":{"advertising":true,"alert":true,"alert_budget":3,"badge":true,"categories":\
        {"c":{"alert":false}},"critical":true,"delivery":"summary","notifications":true,"provisional":true,\
        "sound":false,"time_sensitive":true}},"badge":false,"focus":{"work":["a.b"]},"notifications":true,\
        "quiet":["22:00-07:00 sat,sun Europe/Berlin"],"sound":true,"summary":"09:00"}
        """)
  }
}
