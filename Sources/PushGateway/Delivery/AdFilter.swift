import PushPolicy
import PushStorage

/// Applies the advertising detector when a push is accepted and when it is delivered. One for each event loop; not
/// `Sendable`.
///
/// The detector assesses only alerts of apps whose mode is not `off`, and the result matters only for recipients who
/// have not allowed advertising.
final class AdFilter {
  private var verdicts = AdVerdicts()

  /// Returns the violation of rule A9 if the detector refuses the alert and the recipient has not allowed advertising of
  /// the app. A push that its sender declares as marketing can violate rule N9 instead.
  ///
  /// - Parameter preferences: evaluated only for an alert that is advertising, and for marketing, thus for few pushes.
  func violation(
    _ content: PushContent, of app: App, for preferences: @autoclosure () -> Preferences
  ) -> Violation? {
    // A mode that only defers ads (`hold`) needs no assessment when the push is accepted.
    guard app.ads == .refuse || app.ads == .report else { return nil }
    if content.parsed.isMarketing {
      return preferences().marketingViolation(by: content.notification, topic: app.topic)
    }
    guard verdict(on: content) == .refuse, preferences().apps[app.topic]?.advertising != true else { return nil }
    return content.notification.alert.map { verdicts.violation(of: $0) }
  }

  /// Returns true if the alert may be advertising and the recipient has not allowed advertising of the app. A push that
  /// its sender declares as marketing needs no assessment.
  func holds(_ content: PushContent, of app: App, for preferences: Preferences) -> Bool {
    guard app.policyMode == .enforce, app.ads == .hold || app.ads == .refuse, !content.parsed.isMarketing,
      verdict(on: content) != .pass
    else { return false }
    return preferences.apps[app.topic]?.advertising != true
  }

  /// Returns the detector's outcome for a payload; `pass` for a payload without an alert.
  private func verdict(on content: PushContent) -> AdAssessment.Outcome {
    if let known = content.verdict { return known }
    let verdict = content.notification.alert.map { verdicts.outcome(of: $0) } ?? .pass
    content.keep(verdict: verdict)
    return verdict
  }
}
