extension AdDetector {
  /// Assesses all texts of an alert that a user may read: title, subtitle, body, button, and arguments that the
  /// strings file of an app may show.
  package func assess(_ alert: PushNotification.Alert) -> AdAssessment {
    begin()
    if !alert.title.isEmpty { add(alert.title) }
    if !alert.subtitle.isEmpty { add(alert.subtitle) }
    if !alert.body.isEmpty { add(alert.body) }
    if case .title(let title) = alert.action { add(title) }
    for argument in alert.arguments { add(argument) }
    return verdict()
  }

  /// Returns the violation of rule A9 by an alert whose outcome is not `pass`, with its evidence, the heaviest first.
  package func violation(of alert: PushNotification.Alert) -> Violation {
    var texts = [alert.title, alert.subtitle, alert.body].filter { !$0.isEmpty }
    if case .title(let title) = alert.action { texts.append(title) }
    texts += alert.arguments
    return Violation(
      rule: .a9, pointer: "/aps/alert",
      message: "advertising, which the user has not allowed for this app: send the requested content without an offer",
      evidence: explain(texts).prefix(Self.maximumShownEvidence).map { "\($0.feature): \($0.quote.evidence)" })
  }

  /// The maximum number of text parts that are quoted in the response to the sender.
  static let maximumShownEvidence = 8
}
