import PushPolicy

/// What the detector said of the texts it saw lately.
///
/// A push is judged at the door and again when it is delivered, and senders send one text to many devices: nearly always
/// the verdict is here. It is about the texts alone; modes and consent are asked each time. Belongs to one loop.
struct AdVerdicts {
  /// Made with the first alert: its tables take some milliseconds.
  private lazy var detector = AdDetector()
  private var places = [Place?](repeating: nil, count: 256)

  private struct Place {
    var alert: PushNotification.Alert
    var outcome: AdAssessment.Outcome
  }

  mutating func outcome(of alert: PushNotification.Alert) -> AdAssessment.Outcome {
    var hasher = Hasher()
    hasher.combine(alert.title)
    hasher.combine(alert.body)
    let place = hasher.finalize() & 255
    if let known = places[place], known.alert == alert { return known.outcome }
    let outcome = detector.assess(alert).outcome
    places[place] = Place(alert: alert, outcome: outcome)
    return outcome
  }

  /// The breach of A9, with what speaks for it.
  mutating func violation(of alert: PushNotification.Alert) -> Violation { detector.violation(of: alert) }
}
