import PushPolicy
import Testing

/// The handling of an advertising alert at delivery.
struct AdPolicyTests {
  let topic = "com.example.shop"

  private func decide(isAdvertisement: Bool, _ settings: (inout Preferences) -> Void = { _ in }) -> Decision {
    var notification = PushNotification()
    notification.badge = 1
    notification.sound = .init(name: "default")
    notification.alert = .init()
    notification.alert?.body = "Sale"
    var preferences = Preferences()
    settings(&preferences)
    return Policy.decide(
      notification, topic: topic, preferences: preferences, device: .init(), at: .utc(0),
      isAdvertisement: isAdvertisement)
  }

  @Test func `A9: an ad has no alert and no sound, and the setting that would allow it is named`() {
    let decision = decide(isAdvertisement: true)
    #expect(decision.presentation == Presentation(badge: 1))
    #expect(
      decision.removed == [Part.sound, .alert].map { .init(part: $0, rule: .a9, setting: "apps/\(topic)/advertising") })
  }

  @Test func `A9: what is no ad, and what the person allowed, is presented`() {
    #expect(decide(isAdvertisement: false).removed.isEmpty)
    let allowed = decide(isAdvertisement: true) { [topic] preferences in
      do { try preferences.set("advertising=allow", app: topic, category: nil) } catch { Issue.record(error) }
    }
    #expect(allowed.removed.isEmpty)
    let other = decide(isAdvertisement: true) { $0.apps["com.example.other", default: .init()].advertising = true }
    #expect(other.removed.count == 2)
  }

  @Test func `advertising is allowed to an app and refused again`() throws {
    var preferences = Preferences()
    try preferences.set("advertising=allow", app: topic, category: nil)
    #expect(preferences.apps[topic]?.advertising == true)
    try preferences.set("advertising=refuse", app: topic, category: nil)
    #expect(preferences.apps[topic]?.advertising == false)
    for (assignment, app, category) in [
      ("advertising=maybe", topic, nil), ("advertising=allow", nil, nil), ("advertising=allow", topic, "c"),
    ] as [(String, String?, String?)] {
      #expect(throws: SettingError.self) { try preferences.set(assignment, app: app, category: category) }
    }
  }
}
