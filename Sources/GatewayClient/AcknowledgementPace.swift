/// The pace of a device's acknowledgements: immediate for a few pushes, and a few per second while more arrive.
///
/// One acknowledgement covers everything up to a number, and costs both sides as much as a push. A delay has an effect
/// only if the connection is lost before: the gateway then sends pushes again, and the device drops duplicates.
package struct AcknowledgementPace: Sendable {
  /// The action that stored pushes require.
  package enum Turn: Sendable, Equatable {
    case acknowledge
    /// Call ``acknowledge(at:)`` at this time, unless an acknowledgement was sent before.
    case wait(until: ContinuousClock.Instant)
    /// No action, or the earlier action is still required.
    case nothing
  }

  /// The average interval between two acknowledgements, unless ``maximumPushes`` are unacknowledged.
  package static let interval = Duration.milliseconds(200)
  /// The number of acknowledgements that may follow each other immediately after a pause, so that manual tests
  /// show no delay.
  package static let burst = 5
  /// The number of pushes that are acknowledged immediately: they count against the mailbox's limit.
  package static let maximumPushes: UInt64 = 64

  private var stored: UInt64 = 0
  private var acknowledged: UInt64 = 0
  /// The time at which the intervals of all acknowledgements so far have passed.
  private var spent: ContinuousClock.Instant?
  private var isWaiting = false

  package init() {}

  /// Records that the device has stored everything up to `seq`.
  package mutating func store(_ seq: UInt64, at now: ContinuousClock.Instant) -> Turn {
    defer { checkInvariants() }
    stored = max(stored, seq)
    guard stored > acknowledged else { return .nothing }
    let next = (spent ?? now) + AcknowledgementPace.interval * (1 - AcknowledgementPace.burst)
    guard now < next, stored - acknowledged < AcknowledgementPace.maximumPushes else { return .acknowledge }
    guard !isWaiting else { return .nothing }
    isWaiting = true
    return .wait(until: next)
  }

  /// Returns the number to acknowledge now, after ``Turn/acknowledge`` or ``Turn/wait(until:)``, or before the
  /// connection ends; nil when it was acknowledged already.
  package mutating func acknowledge(at now: ContinuousClock.Instant) -> UInt64? {
    defer { checkInvariants() }
    isWaiting = false
    guard stored > acknowledged else { return nil }
    acknowledged = stored
    // Early acknowledgements of many pushes do not delay later ones beyond this limit.
    let limit = now + AcknowledgementPace.interval * AcknowledgementPace.burst
    spent = min(max(spent ?? now, now) + AcknowledgementPace.interval, limit)
    return stored
  }

  /// Returns a description of the first broken invariant; nil if all are intact.
  package func brokenInvariant() -> String? {
    if acknowledged > stored { return "\(acknowledged) was acknowledged, and \(stored) is stored" }
    if acknowledged > 0, spent == nil { return "\(acknowledged) was acknowledged at no time" }
    return isWaiting && acknowledged == stored ? "something waits to be acknowledged, and all was" : nil
  }

  /// Ends a debug build in which an invariant is broken; a release build contains no trace of this.
  package func checkInvariants() { assert(brokenInvariant() == nil, brokenInvariant() ?? "") }
}
