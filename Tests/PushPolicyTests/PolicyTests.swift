import PushPolicy
import Testing

@Suite struct PolicyTests {
  let topic = "com.example.news"

  /// A push that requests all three parts.
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
    return Policy.decide(
      notification ?? everything, topic: topic, preferences: preferences, device: device, at: .utc(0))
  }

  @Test func `N1, N8: by default a push presents all that it asks for`() {
    let decision = decide { _ in }
    #expect(
      decision.presentation
        == Presentation(
          badge: 0,
          sound: "chime.caf",
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

  func parts(of presentation: Presentation) -> [Part] {
    Part.allCases.filter {
      switch $0 {
      case .badge: presentation.badge != nil
      case .sound: presentation.sound != nil
      case .alert: presentation.alert != nil
      }
    }
  }
}
