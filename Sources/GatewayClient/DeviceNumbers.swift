import GatewayProtocol

/// Up to where a device has pushes, in the numbering of its gateway. A value, without I/O.
///
/// The receiver works off what it was handed in order, so it may store numbers of the numbering before while the stream
/// has those of the next: these are never told to a gateway, to which they would mean other pushes.
struct DeviceNumbers {
  /// Where what the receiver was handed ends, or its own record of pushes, which may be ahead of the cursor after a crash.
  private(set) var received: NumberedPlace
  /// The numbering of what the receiver stores.
  private(set) var epoch: NumberingEpoch?
  /// Whether the open stream has said its numbering, which is that of ``received`` from then on.
  private var isWelcome = false
  /// What the device has said to have when the stream began.
  private var said: UInt64 = 0
  private var pace = AcknowledgementPace()

  /// - Parameter place: what is stored.
  init(after place: NumberedPlace) {
    received = place
    epoch = place.epoch
  }

  // MARK: The stream

  /// The device says what it has.
  mutating func streamBegins(after place: NumberedPlace) { (isWelcome, said) = (false, place.seq) }

  mutating func streamEnded() { isWelcome = false }

  /// The gateway says which numbering it uses.
  ///
  /// - Returns: whether it is a new one: nothing of it was received.
  mutating func welcome(_ epoch: NumberingEpoch?) -> Bool {
    isWelcome = true
    guard received.epoch != epoch else { return false }
    received = NumberedPlace(epoch: epoch, seq: 0)
    return true
  }

  /// A push of the stream goes to the receiver.
  mutating func receive(_ seq: UInt64) { received.seq = max(received.seq, seq) }

  /// What was stored after the device had said what it has, and before acknowledgements were possible.
  func unacknowledged(of stored: NumberedPlace) -> UInt64? {
    stored.epoch == received.epoch && stored.seq > said ? stored.seq : nil
  }

  // MARK: The receiver

  /// The receiver has its own record, up to this number.
  mutating func resume(after place: NumberedPlace) {
    if place.epoch != received.epoch { received = place }
    received.seq = max(received.seq, place.seq)
  }

  /// The receiver stores numbers of this numbering from now on.
  mutating func begin(_ epoch: NumberingEpoch?) {
    guard epoch != self.epoch else { return }
    self.epoch = epoch
    pace = AcknowledgementPace()
  }

  /// The receiver has stored everything up to `seq`.
  mutating func store(_ seq: UInt64, at now: ContinuousClock.Instant) -> AcknowledgementPace.Turn {
    pace.store(seq, at: now)
  }

  /// The number to acknowledge now, if the stream is one of its numbering. What can't be acknowledged is said when the
  /// device connects again.
  mutating func acknowledge(at now: ContinuousClock.Instant) -> UInt64? {
    guard let seq = pace.acknowledge(at: now), isWelcome, received.epoch == epoch else { return nil }
    return seq
  }
}
