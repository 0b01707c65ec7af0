import PushCore
import PushPolicy

/// A cache of the detector's outcomes for recent alert texts.
///
/// A push is assessed when it is accepted and again when it is delivered, and senders send one text to many devices:
/// nearly all lookups hit. The outcome depends on the texts alone; the app's mode and the recipient's consent are
/// checked each time. Belongs to one event loop.
struct AdVerdicts {
  /// Created with the first alert: building its tables takes some milliseconds.
  private lazy var detector = AdDetector()
  private var indexes = [Entry?](repeating: nil, count: 256)

  private struct Entry {
    var alert: PushNotification.Alert
    var outcome: AdAssessment.Outcome
  }

  mutating func outcome(of alert: PushNotification.Alert) -> AdAssessment.Outcome {
    let index = AdVerdicts.index(of: alert)
    if let known = indexes[index], known.alert == alert { return known.outcome }
    let outcome = detector.assess(alert)
    indexes[index] = Entry(alert: alert, outcome: outcome)
    return outcome
  }

  /// Returns a cache index computed from a few bytes of the texts; a collision costs time only.
  private static func index(of alert: PushNotification.Alert) -> Int {
    Int((alert.title.utf8.span.sample &* 31 ^ alert.body.utf8.span.sample) & 255)
  }

  /// Returns the violation of rule A9, with the evidence for it.
  mutating func violation(of alert: PushNotification.Alert) -> Violation { detector.violation(of: alert) }
}
