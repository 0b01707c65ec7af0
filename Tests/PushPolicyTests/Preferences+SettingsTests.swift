import PushPolicy
import Testing

@Suite struct PreferencesSettingsTests {
  @Test func `N4: an assignment alone is for everything`() throws {
    var preferences = Preferences()
    try preferences.set("notifications=off", app: nil, category: nil)
    try preferences.set("sound=off", app: nil, category: nil)
    var expected = Preferences()
    expected.notifications = false
    expected.parts.sound = false
    #expect(preferences == expected)
    try preferences.set("notifications=on", app: nil, category: nil)
    try preferences.set("sound=on", app: nil, category: nil)
    #expect(preferences == Preferences())
  }

  @Test func `N5: an assignment with an app is for that app`() throws {
    var preferences = Preferences()
    try preferences.set("notifications=off", app: "a", category: nil)
    try preferences.set("alert=off", app: "b", category: nil)
    var expected = Preferences()
    expected.apps["a", default: .init()].notifications = false
    expected.apps["b", default: .init()].parts.alert = false
    #expect(preferences == expected)
  }

  @Test func `N6: an assignment with a category is for that category and can be undone`() throws {
    var preferences = Preferences()
    try preferences.set("badge=off", app: "a", category: "c")
    try preferences.set("sound=on", app: "a", category: "c")
    var expected = Preferences()
    expected.apps["a", default: .init()].categories["c", default: .init()].badge = false
    expected.apps["a", default: .init()].categories["c", default: .init()].sound = true
    #expect(preferences == expected)
    try preferences.set("badge=inherit", app: "a", category: "c")
    expected.apps["a", default: .init()].categories["c", default: .init()].badge = nil
    #expect(preferences == expected)
    try preferences.set("sound=inherit", app: "a", category: "c")
    #expect(preferences.apps == ["a": .init()], "a category that inherits all three need not be listed")
  }

  @Test(arguments: [
    ("badge", nil, nil, #""badge" is no assignment: write <setting>=<value>, such as badge=off"#),
    ("vibrate=on", nil, nil, #""vibrate" is no setting: write notifications, badge, sound or alert"#),
    ("Badge=on", nil, nil, #""Badge" is no setting: write notifications, badge, sound or alert"#),
    ("=on", nil, nil, #""" is no setting: write notifications, badge, sound or alert"#),
    ("badge=", nil, nil, #""" is no value of badge: write on or off"#),
    ("badge=no", "a", nil, #""no" is no value of badge: write on or off"#),
    ("badge=on=off", "a", "c", #""on=off" is no value of badge: write on, off or inherit"#),
    ("sound=inherit", nil, nil, "only a category inherits: write sound=on or sound=off"),
    ("notifications=inherit", "a", nil, "only a category inherits: write notifications=on or notifications=off"),
    ("notifications=off", "a", "c", #"the category "c" has no notifications switch: set its badge, sound and alert"#),
    ("badge=off", nil, "c", #"the category "c" needs the app that it belongs to"#),
  ])
  func `an assignment that means nothing changes nothing and says what is allowed`(
    _ assignment: String,
    _ app: String?,
    _ category: String?,
    _ description: String
  ) {
    var preferences = Preferences()
    let error = #expect(throws: SettingError.self) { try preferences.set(assignment, app: app, category: category) }
    #expect(error?.description == description)
    #expect(preferences == Preferences())
  }
}
