package import PushPolicy
import Synchronization

/// What a payload says, read once for all pushes that carry it: a sender's text mostly goes to many devices.
///
/// Shared between loops. All of it is fixed, save the detector's verdict, which is there from when somebody asked for it.
package final class PushContent: Sendable {
  /// The JSON as sent, without line breaks between its tokens: a line of NDJSON can hold it.
  package let payload: [UInt8]
  /// What the sender asks for, and what of it breaks a rule or the schema.
  package let parsed: ParsedPayload
  /// The place of the verdict among the outcomes; ``unknown`` until there is one.
  private let verdictCode = Atomic<Int8>(PushContent.unknown)

  private static let unknown: Int8 = -1
  private static let outcomes = AdAssessment.Outcome.allCases

  package init(payload: [UInt8], _ parsed: consuming ParsedPayload) {
    self.payload = payload
    self.parsed = parsed
  }

  /// What the sender asks for.
  package var notification: PushNotification { parsed.notification }

  /// What the advertising detector says of the alert; nil until somebody asked it.
  package var verdict: AdAssessment.Outcome? {
    let code = verdictCode.load(ordering: .relaxed)
    return code == PushContent.unknown ? nil : PushContent.outcomes[Int(code)]
  }

  /// Keeps what the advertising detector says of the alert.
  package func keep(verdict: AdAssessment.Outcome) {
    let code = PushContent.outcomes.firstIndex(of: verdict).map(Int8.init(clamping:)) ?? PushContent.unknown
    verdictCode.store(code, ordering: .relaxed)
  }
}
