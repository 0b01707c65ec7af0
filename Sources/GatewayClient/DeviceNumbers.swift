import GatewayProtocol

/// The numbers of the pushes that a device has received and stored, in its gateways' numbering. A value, without I/O.
///
/// The receiver processes pushes in order, so it may store numbers of the previous numbering while the stream has those
/// of the next one. Such numbers are never sent to a gateway, because they would refer to other pushes.
struct DeviceNumbers {
  /// The last number that was passed to the receiver, or of the receiver's own record, which may be ahead of the cursor
  /// after a crash.
  private(set) var received: NumberedPosition
  /// The numbering of the pushes that the receiver stores.
  private(set) var epoch: NumberingEpoch?
  /// True after the open stream has sent its numbering, which is that of ``received`` from then on.
  private var isWelcome = false
  /// The number that the device sent when the stream began.
  private var said: UInt64 = 0
  private var pace = AcknowledgementPace()

  /// - Parameter position: the number of the last stored push.
  init(after position: NumberedPosition) {
    received = position
    epoch = position.epoch
  }

  // MARK: The stream

  /// Records the number that the device sends at the start of a stream.
  mutating func streamBegins(after position: NumberedPosition) { (isWelcome, said) = (false, position.seq) }

  mutating func streamEnded() { isWelcome = false }

  /// Records the numbering that the gateway uses.
  ///
  /// - Returns: true if it is a new numbering, of which nothing was received.
  mutating func welcome(_ epoch: NumberingEpoch?) -> Bool {
    isWelcome = true
    guard received.epoch != epoch else { return false }
    received = NumberedPosition(epoch: epoch, seq: 0)
    return true
  }

  /// Records that a push was passed to the receiver.
  mutating func receive(_ seq: UInt64) { received.seq = max(received.seq, seq) }

  /// Returns the number that was stored after the device had sent its number, and before acknowledgements were
  /// possible; nil for none.
  func unacknowledged(of stored: NumberedPosition) -> UInt64? {
    stored.epoch == received.epoch && stored.seq > said ? stored.seq : nil
  }

  // MARK: The receiver

  /// Takes the number of the receiver's own record.
  mutating func resume(after position: NumberedPosition) {
    if position.epoch != received.epoch { received = position }
    received.seq = max(received.seq, position.seq)
  }

  /// Records the numbering of the pushes that the receiver stores from now on.
  mutating func begin(_ epoch: NumberingEpoch?) {
    guard epoch != self.epoch else { return }
    self.epoch = epoch
    pace = AcknowledgementPace()
  }

  /// Records that the receiver has stored everything up to `seq`.
  ///
  /// - Returns: the action that this requires.
  mutating func store(_ seq: UInt64, at now: ContinuousClock.Instant) -> AcknowledgementPace.Turn {
    pace.store(seq, at: now)
  }

  /// Returns the number to acknowledge now, if the stream has the receiver's numbering. A number that can't be
  /// acknowledged is sent when the device connects again.
  mutating func acknowledge(at now: ContinuousClock.Instant) -> UInt64? {
    guard let seq = pace.acknowledge(at: now), isWelcome, received.epoch == epoch else { return nil }
    return seq
  }
}
