/// When a device tells its gateway how far it has come: at once for a few pushes, and a few times a second while more
/// keep coming.
///
/// One acknowledgement says everything up to a number, and costs both sides as much as a push. What is told late is sent
/// once more only if the connection is lost before, and a device drops what it has.
package struct AcknowledgementPace: Sendable {
  /// What to do about pushes that are the device's now.
  package enum Turn: Sendable, Equatable {
    case tell
    /// Ask again then, unless something is told before.
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
  private var told: UInt64 = 0
  /// When the intervals of all that was told are over.
  private var spent: ContinuousClock.Instant?
  private var isWaiting = false

  package init() {}

  /// Everything up to `seq` is the device's.
  package mutating func store(_ seq: UInt64, at now: ContinuousClock.Instant) -> Turn {
    defer { checkInvariants() }
    stored = max(stored, seq)
    guard stored > told else { return .nothing }
    let next = (spent ?? now) + AcknowledgementPace.interval * (1 - AcknowledgementPace.burst)
    guard now < next, stored - told < AcknowledgementPace.maximumPushes else { return .tell }
    guard !isWaiting else { return .nothing }
    isWaiting = true
    return .wait(until: next)
  }

  /// The number to tell now, by ``Turn/tell``, after a ``Turn/wait(until:)``, or because the connection is about to end;
  /// nil when it has been told.
  package mutating func tell(at now: ContinuousClock.Instant) -> UInt64? {
    defer { checkInvariants() }
    isWaiting = false
    guard stored > told else { return nil }
    told = stored
    // What was told before its time, because it was much, makes nobody wait longer.
    let limit = now + AcknowledgementPace.interval * AcknowledgementPace.burst
    spent = min(max(spent ?? now, now) + AcknowledgementPace.interval, limit)
    return stored
  }

  /// What does not fit; nil when all does.
  package func brokenInvariant() -> String? {
    if told > stored { return "\(told) was told, and \(stored) is stored" }
    if told > 0, spent == nil { return "\(told) was told at no time" }
    return isWaiting && told == stored ? "something waits to be told, and all was" : nil
  }

  /// Ends a debug build in which something does not fit; a release build has no trace of this.
  package func checkInvariants() { assert(brokenInvariant() == nil, brokenInvariant() ?? "") }
}
