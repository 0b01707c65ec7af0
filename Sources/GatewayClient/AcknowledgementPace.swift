/// When a device tells its gateway how far it has come: at once for a few pushes, and a few times a second while more
/// keep coming.
///
/// One acknowledgement says everything up to a number, and costs both sides as much as a push. What is acknowledged late is sent
/// once more only if the connection is lost before, and a device drops what it has.
package struct AcknowledgementPace: Sendable {
  /// What to do about pushes that are the device's now.
  package enum Turn: Sendable, Equatable {
    case acknowledge
    /// Ask again then, unless something is acknowledged before.
    case wait(until: ContinuousClock.Instant)
    /// Nothing, or what was to be done before.
    case nothing
  }

  /// Between two acknowledgements in the long run, unless there are ``maximumPushes`` to acknowledge.
  package static let interval = Duration.milliseconds(200)
  /// So many may go one right after another, when none went for a while: nobody who tries things out waits.
  package static let burst = 5
  /// So many pushes are acknowledged at once: they count against what the mailbox holds.
  package static let maximumPushes: UInt64 = 64

  private var stored: UInt64 = 0
  private var acknowledged: UInt64 = 0
  /// When the intervals of all acknowledgements are over.
  private var spent: ContinuousClock.Instant?
  private var isWaiting = false

  package init() {}

  /// Everything up to `seq` is the device's.
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

  /// The number to acknowledge now, by ``Turn/acknowledge``, after a ``Turn/wait(until:)``, or because the connection is about to end;
  /// nil when it has been acknowledged.
  package mutating func acknowledge(at now: ContinuousClock.Instant) -> UInt64? {
    defer { checkInvariants() }
    isWaiting = false
    guard stored > acknowledged else { return nil }
    acknowledged = stored
    // What was acknowledged before its time, because it was much, makes nobody wait longer.
    let limit = now + AcknowledgementPace.interval * AcknowledgementPace.burst
    spent = min(max(spent ?? now, now) + AcknowledgementPace.interval, limit)
    return stored
  }

  /// What does not fit; nil when all does.
  package func brokenInvariant() -> String? {
    if acknowledged > stored { return "\(acknowledged) was acknowledged, and \(stored) is stored" }
    if acknowledged > 0, spent == nil { return "\(acknowledged) was acknowledged at no time" }
    return isWaiting && acknowledged == stored ? "something waits to be acknowledged, and all was" : nil
  }

  /// Ends a debug build in which something does not fit; a release build has no trace of this.
  package func checkInvariants() { assert(brokenInvariant() == nil, brokenInvariant() ?? "") }
}
