import PushPolicy
import Testing

@Suite struct PolicyTests {
  let topic = "com.example.news"

  /// A push that asks for all three parts.
  let everything: PushNotification = {
    var notification = PushNotification()
    notification.badge = 0
    notification.sound = .init(name: "chime.caf")
    notification.alert = .init()
    notification.alert?.title = "Title"
    notification.alert?.subtitle = "Subtitle"
    notification.alert?.body = "Body"
    notification.category = "BREAKING"
    return notification
  }()

  func decide(
    _ notification: PushNotification? = nil,
    silent: Bool = false,
    _ settings: (inout Preferences) -> Void
  ) -> Decision {
    var preferences = Preferences()
    settings(&preferences)
    var device = Policy.DeviceState()
    device.isSilent = silent
    return Policy.decide(notification ?? everything, topic: topic, preferences: preferences, device: device)
  }

  @Test func `N1, N8: by default a push presents all that it asks for`() {
    let decision = decide { _ in }
    #expect(
      decision.presentation
        == Presentation(
          badge: 0,
          sound: .init(name: "chime.caf"),
          alert: .init(title: "Title", subtitle: "Subtitle", body: "Body", buttons: ["Close", "View"])
        )
    )
    #expect(decision.removed.isEmpty)
  }

  @Test(arguments: Part.allCases)
  func `N1: a push that asks for one part presents that one`(_ part: Part) {
    var notification = everything
    if part != .badge { notification.badge = nil }
    if part != .sound { notification.sound = nil }
    if part != .alert { notification.alert = nil }
    #expect(parts(of: decide(notification) { _ in }.presentation) == [part])
  }

  @Test func `N4: the one switch removes everything`() {
    let decision = decide { $0.notifications = false }
    #expect(decision.presentation.isEmpty)
    #expect(decision.removed == Part.allCases.map { .init(part: $0, rule: .n4, setting: "notifications") })
  }

  @Test(arguments: Part.allCases)
  func `N4: a part that is off for every app is removed, whatever an app may`(_ part: Part) {
    let decision = decide {
      $0.parts[part] = false
      $0.apps[topic, default: .init()].categories["BREAKING", default: .init()][part] = true
    }
    #expect(parts(of: decision.presentation) == Part.allCases.filter { $0 != part })
    #expect(decision.removed == [.init(part: part, rule: .n4, setting: part.rawValue)])
  }

  @Test func `N5: an app that may not notify presents nothing, whatever a category may`() {
    let decision = decide {
      $0.apps[topic, default: .init()].notifications = false
      $0.apps[topic, default: .init()].categories["BREAKING", default: .init()].badge = true
    }
    #expect(decision.presentation.isEmpty)
    #expect(
      decision.removed
        == Part.allCases.map { .init(part: $0, rule: .n5, setting: "apps/com.example.news/notifications") }
    )
  }

  @Test(arguments: Part.allCases)
  func `N5: a part that an app may not use is removed`(_ part: Part) {
    let decision = decide { $0.apps[topic, default: .init()].parts[part] = false }
    #expect(parts(of: decision.presentation) == Part.allCases.filter { $0 != part })
    #expect(decision.removed == [.init(part: part, rule: .n5, setting: "apps/com.example.news/\(part.rawValue)")])
  }

  @Test func `N5: the choices for one app leave others alone`() {
    #expect(decide { $0.apps["com.example.mail", default: .init()].notifications = false }.removed.isEmpty)
  }

  @Test(arguments: Part.allCases)
  func `N6: a part that a category may not use is removed`(_ part: Part) {
    let decision = decide { $0.apps[topic, default: .init()].categories["BREAKING", default: .init()][part] = false }
    #expect(parts(of: decision.presentation) == Part.allCases.filter { $0 != part })
    let setting = "apps/com.example.news/categories/BREAKING/\(part.rawValue)"
    #expect(decision.removed == [.init(part: part, rule: .n6, setting: setting)])
  }

  @Test(arguments: Part.allCases)
  func `N6: a category that may use a part does, and an unset one inherits from the app`(_ part: Part) {
    let allowed = decide {
      $0.apps[topic, default: .init()].parts[part] = false
      $0.apps[topic, default: .init()].categories["BREAKING", default: .init()][part] = true
    }
    #expect(allowed.removed.isEmpty)
    let inherited = decide {
      $0.apps[topic, default: .init()].parts[part] = false
      $0.apps[topic, default: .init()].categories["BREAKING"] = .init()
    }
    #expect(inherited.removed.map(\.rule) == [.n5])
  }

  @Test func `N6: the choices for one category leave others alone, and a push without one`() {
    for category in ["SPORT", nil] {
      var notification = everything
      notification.category = category
      let decision = decide(notification) {
        $0.apps[topic, default: .init()].categories["BREAKING", default: .init()].alert = false
      }
      #expect(decision.removed.isEmpty)
    }
  }

  @Test func `N7: what was not asked for is not listed as removed`() {
    var notification = everything
    notification.sound = nil
    #expect(decide(notification, silent: true) { $0.notifications = false }.removed.map(\.part) == [.badge, .alert])
  }

  @Test func `N7: each part names the first rule that removed it`() {
    let decision = decide(silent: true) {
      $0.parts.badge = false
      $0.apps[topic, default: .init()].parts = .init()
      $0.apps[topic, default: .init()].parts.badge = false
      $0.apps[topic, default: .init()].parts.sound = false
      $0.apps[topic, default: .init()].categories["BREAKING", default: .init()].alert = false
    }
    #expect(decision.removed.map(\.part) == [.badge, .sound, .alert])
    #expect(decision.removed.map(\.rule) == [.n4, .n5, .n6])
  }

  @Test func `S4: a silent device plays no sound and shows the rest`() {
    let decision = decide(silent: true) { _ in }
    #expect(parts(of: decision.presentation) == [.badge, .alert])
    #expect(decision.removed == [.init(part: .sound, rule: .s4, setting: "silent")])
  }

  @Test(arguments: [
    (PushNotification.ActionKey.absent, ["Close", "View"]), (.title("Read"), ["Close", "Read"]), (.null, ["OK"]),
  ])
  func `A3, A4, A5: the action key decides the buttons`(_ action: PushNotification.ActionKey, _ buttons: [String]) {
    var notification = everything
    notification.alert?.action = action
    #expect(decide(notification) { _ in }.presentation.alert?.buttons == buttons)
  }

  @Test func `N7: turning a switch off never lets more through, and a decision is the same twice`() {
    var generator = SeededGenerator(state: 1984)
    for _ in 0..<2000 {
      let notification = randomNotification(using: &generator)
      var device = Policy.DeviceState()
      device.isSilent = .random(using: &generator)
      let open = randomPreferences(using: &generator)
      var closed = open
      turnOneSwitchOff(&closed, using: &generator)

      let decision = Policy.decide(notification, topic: topic, preferences: open, device: device)
      let stricter = Policy.decide(notification, topic: topic, preferences: closed, device: device)
      #expect(decision == Policy.decide(notification, topic: topic, preferences: open, device: device))
      #expect(Set(parts(of: stricter.presentation)).isSubset(of: parts(of: decision.presentation)))

      let asked = parts(of: notification)
      let decided = parts(of: decision.presentation) + decision.removed.map(\.part)
      #expect(decided.count == asked.count && Set(decided) == Set(asked), "every part is presented or removed, once")
    }
  }

  func parts(of presentation: Presentation) -> [Part] {
    Part.allCases.filter {
      switch $0 {
      case .badge: presentation.badge != nil
      case .sound: presentation.sound != nil
      case .alert: presentation.alert != nil
      }
    }
  }

  func parts(of notification: PushNotification) -> [Part] {
    Part.allCases.filter {
      switch $0 {
      case .badge: notification.badge != nil
      case .sound: notification.sound != nil
      case .alert: notification.alert != nil
      }
    }
  }

  func randomNotification(using generator: inout SeededGenerator) -> PushNotification {
    var notification = everything
    if Bool.random(using: &generator) { notification.badge = nil }
    if Bool.random(using: &generator) { notification.sound = nil }
    if Bool.random(using: &generator) { notification.alert = nil }
    notification.category = ["BREAKING", "SPORT", nil].randomElement(using: &generator) ?? nil
    return notification
  }

  func randomPreferences(using generator: inout SeededGenerator) -> Preferences {
    var preferences = Preferences()
    preferences.notifications = Int.random(in: 0..<8, using: &generator) > 0
    for part in Part.allCases { preferences.parts[part] = Int.random(in: 0..<4, using: &generator) > 0 }
    for topic in [topic, "com.example.mail"] where Bool.random(using: &generator) {
      var app = AppPreferences()
      app.notifications = Int.random(in: 0..<8, using: &generator) > 0
      for part in Part.allCases { app.parts[part] = Bool.random(using: &generator) }
      for category in ["BREAKING", "SPORT"] where Bool.random(using: &generator) {
        var choices = CategoryPreferences()
        for part in Part.allCases { choices[part] = [true, false, nil].randomElement(using: &generator) ?? nil }
        app.categories[category] = choices
      }
      preferences.apps[topic] = app
    }
    return preferences
  }

  func turnOneSwitchOff(_ preferences: inout Preferences, using generator: inout SeededGenerator) {
    let part = Part.allCases.randomElement(using: &generator) ?? .badge
    let category = Bool.random(using: &generator) ? "BREAKING" : "SPORT"
    switch Int.random(in: 0..<5, using: &generator) {
    case 0: preferences.notifications = false
    case 1: preferences.parts[part] = false
    case 2: preferences.apps[topic, default: .init()].notifications = false
    case 3: preferences.apps[topic, default: .init()].parts[part] = false
    default: preferences.apps[topic, default: .init()].categories[category, default: .init()][part] = false
    }
  }
}
