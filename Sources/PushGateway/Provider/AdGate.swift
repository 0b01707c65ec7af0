import PushPolicy

/// The advertising detector, at the door and at delivery. One for each loop; not `Sendable`.
///
/// It looks only where it matters: at alerts of apps whose mode is not off, for people who have not allowed it.
final class AdGate {
  private var verdicts = AdVerdicts()

  /// The breach of A9, when the alert is plainly an ad and the person has not allowed the app any.
  ///
  /// - Parameter preferences: asked only of an ad, and so mostly not at all.
  func violation(
    _ notification: PushNotification, of app: App, for preferences: @autoclosure () -> Preferences
  ) -> Violation? {
    // What is held anyway needs no look at the door.
    guard app.ads == .refuse || app.ads == .report, let alert = notification.alert,
      verdicts.outcome(of: alert) == .refuse, preferences().apps[app.topic]?.advertising != true
    else { return nil }
    return verdicts.violation(of: alert)
  }

  /// Whether the alert may be an ad, so that only people who allowed the app advertising see it.
  func holds(_ notification: PushNotification, of app: App, for preferences: Preferences) -> Bool {
    guard app.policyMode == .enforce, app.ads == .hold || app.ads == .refuse, let alert = notification.alert,
      preferences.apps[app.topic]?.advertising != true
    else { return false }
    return verdicts.outcome(of: alert) != .pass
  }
}
