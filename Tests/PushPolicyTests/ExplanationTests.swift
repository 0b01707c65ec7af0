import PushPolicy
import Testing

@Suite struct ExplanationTests {
  let preferences: Preferences = {
    var preferences = Preferences()
    preferences.quietHours = [QuietWindow("22:00-07:00")!, QuietWindow("13:00-14:00 sat")!]
    preferences.focuses["work"] = ["b.c"]
    preferences.apps["a.b", default: .init()].alertBudget = 3
    return preferences
  }()

  @Test(arguments: [
    ("notifications", "notifications are off", "for everything", "notifications=on"),
    ("sound", "sound is off", "for everything", "sound=on"),
    ("apps/a.b/notifications", "notifications are off", "for a.b", "--app a.b notifications=on"),
    ("apps/a.b/alert", "alert is off", "for a.b", "--app a.b alert=on"),
    (
      "apps/a.b/categories/x/y z/badge", "badge is off", "for the category x/y z of a.b",
      "--app a.b --category 'x/y z' badge=on"
    ),
    ("apps/a.b/provisional", "the app is on probation", "for a.b", "--app a.b provisional=keep"),
    ("apps/a.b/delivery", "the app's pushes come in the summary", "for a.b", "--app a.b delivery=now"),
    ("apps/a.b/alert_budget", "the app has shown its 3 alerts of this hour", "for a.b", "--app a.b budget=unlimited"),
    ("apps/a.b/advertising", "the app may not advertise", "for a.b", "--app a.b advertising=allow"),
    ("quiet/0", "quiet hours 22:00-07:00", "for everything", "'quiet=13:00-14:00 sat'"),
    ("quiet/1", "quiet hours 13:00-14:00 sat", "for everything", "quiet=22:00-07:00"),
    (
      "focus/work", "the Focus work is on and does not let the app through", "on the device",
      "focus.work=b.c,a.b"
    ),
    (
      "absence", "more pushes were pending while the device was away than alerts are shown for", "by default",
      "--app a.b budget=unlimited"
    ),
  ])
  func `a removal names its place and the command that changes it`(
    _ setting: String, _ reason: String, _ place: String, _ assignment: String
  ) throws {
    let removal = Decision.Removal(part: .alert, rule: .n7, setting: setting)
    let words = Explanation(removal, preferences: preferences, device: "me", topic: "a.b")
    #expect(words.reason == reason)
    #expect(words.place == place)
    #expect(words.remedy == "pushcli prefs set --device me " + assignment)
  }

  @Test func `what no command changes says what to do`() {
    for (setting, remedy) in [
      ("silent", "turn the switch off on me"), ("interruption-level", "only the sender can change it"),
    ] {
      let removal = Decision.Removal(part: .sound, rule: .s4, setting: setting)
      #expect(Explanation(removal, preferences: preferences, device: "me", topic: "a.b").remedy == remedy)
    }
  }
}
