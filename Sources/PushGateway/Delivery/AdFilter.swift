import PushPolicy
import PushStorage

/// The advertising detector, at the door and at delivery. One for each loop; not `Sendable`.
///
/// It looks only where it matters: at alerts of apps whose mode is not off, for people who have not allowed it.
final class AdFilter {
  private var verdicts = AdVerdicts()

  /// The breach of A9, when the alert is plainly an ad and the person has not allowed the app any.
  ///
  /// - Parameter preferences: asked only of an ad, and so mostly not at all.
  func violation(
    _ content: PushContent, of app: App, for preferences: @autoclosure () -> Preferences
  ) -> Violation? {
    // What is held anyway needs no look at the door.
    guard app.ads == .refuse || app.ads == .report, verdict(on: content) == .refuse,
      preferences().apps[app.topic]?.advertising != true
    else { return nil }
    return content.notification.alert.map { verdicts.violation(of: $0) }
  }

  /// Whether the alert may be an ad, so that only people who allowed the app advertising see it.
  func holds(_ content: PushContent, of app: App, for preferences: Preferences) -> Bool {
    guard app.policyMode == .enforce, app.ads == .hold || app.ads == .refuse, verdict(on: content) != .pass else {
      return false
    }
    return preferences.apps[app.topic]?.advertising != true
  }

  /// What is no alert is no ad.
  private func verdict(on content: PushContent) -> AdAssessment.Outcome {
    if let known = content.verdict { return known }
    let verdict = content.notification.alert.map { verdicts.outcome(of: $0) } ?? .pass
    content.keep(verdict: verdict)
    return verdict
  }
}
