/// When a device tells its gateway how far it has come: at once after a quiet moment, and a few times a second while pushes
/// keep coming.
///
/// One acknowledgement says everything up to a number, and costs both sides as much as a push. What is told late is sent
/// once more only if the connection is lost before, and a device drops what it has.
public struct AcknowledgementPace: Sendable {
  /// What to do about pushes that are the device's now.
  public enum Turn: Sendable, Equatable {
    case tell
    /// Ask again then, unless something is told before.
    case wait(until: ContinuousClock.Instant)
    /// Nothing, or what was to be done before.
    case nothing
  }

  /// Between two acknowledgements, unless there are ``maximumPushes`` to acknowledge.
  public static let interval = Duration.milliseconds(200)
  /// So many pushes are acknowledged at once: they count against what the mailbox holds.
  public static let maximumPushes: UInt64 = 64

  private var stored: UInt64 = 0
  private var told: UInt64 = 0
  private var toldAt: ContinuousClock.Instant?
  private var isWaiting = false

  public init() {}

  /// Everything up to `seq` is the device's.
  public mutating func store(_ seq: UInt64, at now: ContinuousClock.Instant) -> Turn {
    stored = max(stored, seq)
    guard stored > told else { return .nothing }
    if let toldAt, now < toldAt + AcknowledgementPace.interval, stored - told < AcknowledgementPace.maximumPushes {
      guard !isWaiting else { return .nothing }
      isWaiting = true
      return .wait(until: toldAt + AcknowledgementPace.interval)
    }
    return .tell
  }

  /// The number to tell now, by ``Turn/tell``, after a ``Turn/wait(until:)``, or because the connection is about to end;
  /// nil when it has been told.
  public mutating func tell(at now: ContinuousClock.Instant) -> UInt64? {
    isWaiting = false
    guard stored > told else { return nil }
    (told, toldAt) = (stored, now)
    return stored
  }
}
