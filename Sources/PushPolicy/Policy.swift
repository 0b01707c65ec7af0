/// Decides what of a push reaches a person: a pure function of the push, the person's choices and the device's state.
public enum Policy {
  /// The device's state at the moment of delivery.
  public struct DeviceState: Sendable, Equatable {
    /// Whether the ring/silent switch is on silent (S4).
    public var isSilent = false

    public init() {}
  }

  /// Returns what of `notification` is presented, and for each part that is not, the first rule that removed it.
  ///
  /// The rules are asked in the order N4, N5 and N6, S4. What a person chose for a category holds before what they chose
  /// for that part of the app; the app's `notifications` and the choices for every app hold before both.
  public static func decide(
    _ notification: PushNotification,
    topic: String,
    preferences: Preferences,
    device: DeviceState
  ) -> Decision {
    let app = preferences.apps[topic]
    let category = notification.category.flatMap { app?.categories[$0] }
    var decision = Decision()

    func refusal(of part: Part) -> (rule: Rule, setting: String)? {
      if !preferences.notifications { return (.n4, "notifications") }
      if !preferences.parts[part] { return (.n4, part.rawValue) }
      if let app {
        if !app.notifications { return (.n5, "apps/\(topic)/notifications") }
        switch category?[part] {
        case true?: break
        case false?: return (.n6, "apps/\(topic)/categories/\(notification.category ?? "")/\(part.rawValue)")
        case nil: if !app.parts[part] { return (.n5, "apps/\(topic)/\(part.rawValue)") }
        }
      }
      if part == .sound, device.isSilent { return (.s4, "silent") }
      return nil
    }

    func allows(_ part: Part) -> Bool {
      guard let (rule, setting) = refusal(of: part) else { return true }
      decision.removed.append(.init(part: part, rule: rule, setting: setting))
      return false
    }

    if let badge = notification.badge, allows(.badge) {
      decision.presentation.badge = badge
    }
    if let sound = notification.sound, allows(.sound) {
      decision.presentation.sound = SoundPresentation(name: sound.name)
    }
    if let alert = notification.alert, allows(.alert) {
      decision.presentation.alert = AlertPresentation(
        title: alert.title,
        subtitle: alert.subtitle,
        body: alert.body,
        buttons: alert.action.buttons
      )
    }
    return decision
  }
}

extension PushNotification.ActionKey {
  private static let closeAndView = ["Close", "View"]
  private static let ok = ["OK"]

  /// The titles of the alert's buttons, the one that only dismisses first (A3, A4, A5).
  fileprivate var buttons: [String] {
    switch self {
    case .absent: Self.closeAndView
    case .title(let title): ["Close", title]
    case .null: Self.ok
    }
  }
}
