extension AdDetector {
  /// Assesses all texts of an alert that a user may read: title, subtitle, body, button, and arguments that the
  /// strings file of an app may show.
  ///
  /// An alert that announces a transaction and makes an offer is an ad, although most of its text is ordinary: a
  /// sentence that would be refused alone decides. Without a phrase of advertising, no sentence makes an offer.
  package func assess(_ alert: PushNotification.Alert) -> AdAssessment.Outcome {
    let whole = assess(whole: alert)
    if whole == .refuse || concepts & AdConcept.advertising == 0 { return whole }
    return refusedSentence(of: alert) == nil ? whole : .refuse
  }

  private func assess(whole alert: PushNotification.Alert) -> AdAssessment.Outcome {
    begin()
    if !alert.title.isEmpty { add(alert.title) }
    if !alert.subtitle.isEmpty { add(alert.subtitle) }
    if !alert.body.isEmpty { add(alert.body) }
    if case .title(let title) = alert.action { add(title) }
    for argument in alert.arguments { add(argument) }
    return outcome(from: .hold)
  }

  /// Returns the first sentence that would be refused alone: of the body, else of the subtitle, else of the title.
  private func refusedSentence(of alert: PushNotification.Alert) -> String? {
    if let range = refusedSentence(of: alert.body) { return alert.body.part(range) }
    if let range = refusedSentence(of: alert.subtitle) { return alert.subtitle.part(range) }
    return refusedSentence(of: alert.title).map { alert.title.part($0) }
  }

  /// Returns the violation of rule A9 by an alert whose outcome is not `pass`, with the sentence that makes the offer,
  /// and with its evidence, the heaviest first.
  package func violation(of alert: PushNotification.Alert) -> Violation {
    var texts = [alert.title, alert.subtitle, alert.body].filter { !$0.isEmpty }
    if case .title(let title) = alert.action { texts.append(title) }
    texts += alert.arguments
    let refused = refusedSentence(of: alert)
    var evidence = explain(texts)
    if evidence.isEmpty, let refused { evidence = explain([refused]) }
    let heaviest = evidence.first.map { AdSentences.sentence(at: $0.range.lowerBound, of: texts[$0.text]) }
    let sentence = refused ?? heaviest ?? ""
    return Violation(
      rule: .a9, pointer: "/aps/alert",
      message: "advertising (\(sentence.evidence(upTo: Self.maximumSentenceSize))), which the user has not allowed for "
        + "this app: send the requested content without an offer, or declare it with \"marketing\": true beside aps",
      evidence: evidence.prefix(Self.maximumShownEvidence).map { "\($0.feature): \($0.quote.evidence)" })
  }

  /// The maximum number of text parts that are quoted in the response to the sender.
  static let maximumShownEvidence = 8
  /// The maximum length of the quoted sentence, in Unicode scalars: the response to the sender is small.
  private static let maximumSentenceSize = 80
}
