extension AdDetector {
  /// Judges all that a person may read of an alert: title, subtitle, body, button, and arguments that an app's strings
  /// file may show.
  package func assess(_ alert: PushNotification.Alert) -> AdAssessment {
    begin()
    if !alert.title.isEmpty { add(alert.title) }
    if !alert.subtitle.isEmpty { add(alert.subtitle) }
    if !alert.body.isEmpty { add(alert.body) }
    if case .title(let title) = alert.action { add(title) }
    for argument in alert.arguments { add(argument) }
    return verdict()
  }

  /// The breach of A9 by an alert that is no pass, with what speaks for it, the heaviest first.
  package func violation(of alert: PushNotification.Alert) -> Violation {
    var texts = [alert.title, alert.subtitle, alert.body].filter { !$0.isEmpty }
    if case .title(let title) = alert.action { texts.append(title) }
    texts += alert.arguments
    return Violation(
      rule: .a9, pointer: "/aps/alert",
      message: "advertising, which the user has not allowed for this app: send the requested content without an offer",
      evidence: explain(texts).prefix(Self.maximumShownEvidence).map { "\($0.feature): \($0.quote.evidence)" })
  }

  /// How many places an answer to the sender names.
  static let maximumShownEvidence = 8
}
