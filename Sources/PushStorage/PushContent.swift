package import PushPolicy
import Synchronization

/// A parsed payload, shared by all pushes that carry it: a sender's text mostly goes to many devices.
///
/// Shared between event loops. All of it is immutable except the verdict of the advertising detector, which is set
/// after the first request for it.
package final class PushContent: Sendable {
  /// The JSON as sent, without line breaks between its tokens: a line of NDJSON can contain it.
  package let payload: [UInt8]
  /// The sender's notification, and its violations of rules and of the schema.
  package let parsed: ParsedPayload
  /// The index of the verdict in ``outcomes``; ``unknown`` until there is one.
  private let verdictCode = Atomic<Int8>(PushContent.unknown)

  private static let unknown: Int8 = -1
  private static let outcomes = AdAssessment.Outcome.allCases

  package init(payload: [UInt8], _ parsed: consuming ParsedPayload) {
    self.payload = payload
    self.parsed = parsed
  }

  /// The notification that the sender requested.
  package var notification: PushNotification { parsed.notification }

  /// The verdict of the advertising detector on the alert; nil until it was computed.
  package var verdict: AdAssessment.Outcome? {
    let code = verdictCode.load(ordering: .relaxed)
    return code == PushContent.unknown ? nil : PushContent.outcomes[Int(code)]
  }

  /// Stores the verdict of the advertising detector on the alert.
  package func keep(verdict: AdAssessment.Outcome) {
    let code = PushContent.outcomes.firstIndex(of: verdict).map(Int8.init(clamping:)) ?? PushContent.unknown
    verdictCode.store(code, ordering: .relaxed)
  }
}
