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

  @Test func `quiet hours, summary and Focus are chosen for everything`() throws {
    var preferences = Preferences()
    try preferences.set("quiet=22:00-07:00 mon-fri Europe/Berlin; 13:00-14:00", app: nil, category: nil)
    try preferences.set("summary=18:30,7:00", app: nil, category: nil)
    try preferences.set("focus.work=com.example.mail, com.example.chat", app: nil, category: nil)
    try preferences.set("focus.sleep=none", app: nil, category: nil)
    var expected = Preferences()
    let weekdays = [true, true, true, true, true, false, false]
    expected.quietHours = [
      QuietWindow(from: 22 * 60, to: 7 * 60, days: weekdays, zone: "Europe/Berlin"),
      QuietWindow(from: 13 * 60, to: 14 * 60),
    ]
    expected.summary = SummaryTimes(minutes: [7 * 60, 18 * 60 + 30])
    expected.focuses = ["work": ["com.example.mail", "com.example.chat"], "sleep": []]
    #expect(preferences == expected)
    #expect(preferences.zones == ["Europe/Berlin"])
    for reset in ["quiet=off", "summary=default", "focus.work=off", "focus.sleep=off"] {
      try preferences.set(reset, app: nil, category: nil)
    }
    #expect(preferences == Preferences())
  }

  @Test func `commas and blanks alone name no app that a Focus lets through`() throws {
    var preferences = Preferences()
    try preferences.set("focus.work=a, ,b,", app: nil, category: nil)
    #expect(preferences.focuses == ["work": ["a", "b"]])
    try preferences.set("focus.work= ,", app: nil, category: nil)
    #expect(preferences.focuses == ["work": []])
  }

  @Test func `an app's further choices can be made and undone`() throws {
    var preferences = Preferences()
    for assignment in [
      "advertising=allow", "time-sensitive=on", "critical=on", "provisional=on", "budget=5", "delivery=summary",
    ] {
      try preferences.set(assignment, app: "a", category: nil)
    }
    var expected = AppPreferences()
    (expected.advertising, expected.timeSensitive, expected.critical, expected.provisional) = (true, true, true, true)
    (expected.alertBudget, expected.delivery) = (5, .summary)
    #expect(preferences.apps == ["a": expected])
    for assignment in [
      "advertising=refuse", "time_sensitive=off", "critical=off", "provisional=keep", "alert_budget=default",
      "delivery=now",
    ] {
      try preferences.set(assignment, app: "a", category: nil)
    }
    #expect(preferences.apps == ["a": AppPreferences()])
  }

  @Test func `an app on probation is turned off or kept`() throws {
    var preferences = Preferences()
    try preferences.set("provisional=on", app: "a", category: nil)
    try preferences.set("notifications=off", app: "a", category: nil)
    #expect(preferences.apps["a"]?.provisional == false)
  }

  @Test(arguments: [
    ("badge", nil, nil, #"invalid assignment "badge": write <setting>=<value>, such as badge=off"#),
    (
      "vibrate=on", nil, nil,
      #"unknown setting "vibrate": write notifications, badge, sound, alert, quiet, summary, focus.NAME, log-text "#
        + "or marketing"
    ),
    ("Badge=on", "a", "c", #"unknown setting "Badge": write badge, sound, alert or permission"#),
    (
      "=on", "a", nil,
      #"unknown setting "": write notifications, badge, sound, alert, delivery, time-sensitive, critical, "#
        + "advertising, marketing, budget or provisional"
    ),
    ("badge=", nil, nil, #"invalid value "" of badge: write on or off"#),
    ("badge=no", "a", nil, #"invalid value "no" of badge: write on or off"#),
    ("badge=on=off", "a", "c", #"invalid value "on=off" of badge: write on, off or inherit"#),
    ("sound=inherit", nil, nil, "only a category inherits: write sound=on or sound=off"),
    ("notifications=inherit", "a", nil, "only a category inherits: write notifications=on or notifications=off"),
    (
      "notifications=off", "a", "c",
      #"the category "c" has no preference notifications: write badge, sound, alert or permission"#
    ),
    ("badge=off", nil, "c", #"the category "c" needs the app that it belongs to"#),
    ("advertising=yes", "a", nil, #"invalid value "yes" of advertising: write allow or refuse"#),
    ("provisional=no", "a", nil, #"invalid value "no" of provisional: write on or keep"#),
    ("critical=on", nil, nil, "critical is a preference for each app: name one"),
    ("quiet=off", "a", nil, "quiet is a preference for all apps: omit the app"),
    ("focus.work=none", "a", nil, "focus is a preference for all apps: omit the app"),
    (
      "focus.work=none", "a", "c",
      #"the category "c" has no preference focus: write badge, sound, alert or permission"#
    ),
    (
      "focus=none", nil, nil,
      #"unknown setting "focus": write notifications, badge, sound, alert, quiet, summary, focus.NAME, log-text "#
        + "or marketing"
    ),
    ("delivery=later", "a", nil, #"invalid value "later" of delivery: write now or summary"#),
    (
      "budget=-1", "a", nil,
      #"invalid value "-1" of budget: write the alerts an hour, such as budget=5, unlimited or default"#
    ),
    (
      "quiet=22:00", nil, nil,
      #"invalid value "22:00" of quiet: write "22:00-07:00 mon-fri Europe/Berlin", several separated by semicolons, or off"#
    ),
    (
      "summary=25:00", nil, nil,
      #"invalid value "25:00" of summary: write times such as "08:00,18:00 Europe/Berlin""#
    ),
    (
      "focus.work=a.b,25:00-99:00", nil, nil,
      #"invalid topic "25:00-99:00": write topics such as com.example.mail,com.example.chat, or none, or off"#
    ),
    ("focus.=none", nil, nil, #"invalid name "" of a Focus: expected letters, digits, hyphens and spaces, at most 64"#),
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
