import PushCore
import PushPolicy

/// What the detector said of the texts it saw lately.
///
/// A push is judged at the door and again when it is delivered, and senders send one text to many devices: nearly always
/// the verdict is here. It is about the texts alone; modes and consent are asked each time. Belongs to one loop.
struct AdVerdicts {
  /// Made with the first alert: its tables take some milliseconds.
  private lazy var detector = AdDetector()
  private var indexes = [Place?](repeating: nil, count: 256)

  private struct Place {
    var alert: PushNotification.Alert
    var outcome: AdAssessment.Outcome
  }

  mutating func outcome(of alert: PushNotification.Alert) -> AdAssessment.Outcome {
    let index = AdVerdicts.index(of: alert)
    if let known = indexes[index], known.alert == alert { return known.outcome }
    let outcome = detector.assess(alert).outcome
    indexes[index] = Place(alert: alert, outcome: outcome)
    return outcome
  }

  /// A number from a few bytes of the texts: which place it is matters to speed only.
  private static func index(of alert: PushNotification.Alert) -> Int {
    Int((alert.title.utf8.span.sample &* 31 ^ alert.body.utf8.span.sample) & 255)
  }

  /// The breach of A9, with what speaks for it.
  mutating func violation(of alert: PushNotification.Alert) -> Violation { detector.violation(of: alert) }
}
