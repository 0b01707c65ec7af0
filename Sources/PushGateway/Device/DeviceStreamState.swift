import PushCore
import PushStorage

/// The state machine of one open stream of a device, which determines the next action: a value, without I/O and
/// without a clock.
///
/// A push is sent as soon as it is stored, unless the device lags. Then no push is buffered here, and the mailbox is
/// read again when the device has read the sent data. So a device that stops reading uses a bounded amount of memory,
/// and in every case the next read begins after ``cursor``.
struct DeviceStreamState {
  /// An action for the owner to perform.
  enum Action {
    /// Read the mailbox after this number, and pass the result to ``found(_:capacity:)``.
    case read(after: UInt64)
    case send(MailboxEntry)
    /// A push that is never stored can't be sent now.
    case drop(MailboxEntry)
    case announceGap(MailboxGap)
    case announceCaughtUp(UInt64)
    /// The device has all pushes up to this number.
    case acknowledge(through: UInt64)
  }

  private enum Phase {
    /// The device has not sent its position.
    case awaitingHello
    /// A read of the mailbox is in progress; `isOutdated` if more has been stored since it began.
    case reading(isOutdated: Bool)
    /// More pushes are pending in the mailbox, and the device has not read the sent data.
    case behind
    /// All stored pushes have been sent.
    case live
    case ended
  }

  /// The size of a line without its payload, in bytes.
  private static let lineSize = 512

  /// Returns the number of entries to read for a stream with this capacity in bytes: excess entries would be read
  /// again.
  static func batch(capacity: Int) -> Int { max(1, min(Limits.pendingBatch, capacity / lineSize)) }

  private var phase = Phase.awaitingHello
  /// The highest number that was sent, or that the device reports to have.
  private(set) var cursor: UInt64 = 0
  /// True after the device has been sent the pushes that were pending when it connected.
  private(set) var hasAnnouncedCaughtUp = false

  /// True from the device's hello until the end of the stream.
  var isOpen: Bool {
    switch phase {
    case .awaitingHello, .ended: false
    case .reading, .behind, .live: true
    }
  }

  var isEnded: Bool {
    if case .ended = phase { return true }
    return false
  }

  /// Accepts the position that the device reports; ignored the second time.
  ///
  /// The owner must attach to the router before it performs the returned actions. Then the read finds the pushes that
  /// were stored before, and pushes that are stored during the read make it outdated.
  mutating func hello(cursor: UInt64) -> [Action] {
    let before = self
    defer { checkInvariants(since: before) }
    guard case .awaitingHello = phase else { return [] }
    self.cursor = cursor
    phase = .reading(isOutdated: false)
    return (cursor > 0 ? [.acknowledge(through: cursor)] : []) + [.read(after: cursor)]
  }

  /// Handles a push that was stored for the device, or that must be sent at once or not at all (`seq` 0). If its
  /// predecessor was not sent, the mailbox is read, because the signal for a push may have been lost.
  mutating func stored(_ entry: MailboxEntry, hasCapacity: Bool) -> Action? {
    let before = self
    defer { checkInvariants(since: before) }
    if entry.seq == 0 { return isOpen && hasCapacity ? .send(entry) : .drop(entry) }
    switch phase {
    case .live:
      guard entry.seq > cursor else { return nil }
      guard hasCapacity else {
        phase = .behind
        return nil
      }
      // Missing pushes have to be sent first: an acknowledgment of this push would include them.
      guard entry.previous <= cursor else {
        phase = .reading(isOutdated: false)
        return .read(after: cursor)
      }
      cursor = entry.seq
      return .send(entry)
    case .reading:
      phase = .reading(isOutdated: true)
      return nil
    case .awaitingHello, .behind, .ended: return nil
    }
  }

  /// Handles the result of a read. After the owner has performed the actions, it calls ``performed(_:hasCapacity:)``.
  ///
  /// - Parameter capacity: the number of bytes that the stream accepts before it lags; entries beyond it are read
  ///   again later.
  mutating func found(_ pending: PendingPushes, capacity: Int = .max) -> [Action] {
    let before = self
    defer { checkInvariants(since: before) }
    guard case .reading = phase else { return [] }
    var actions: [Action] = []
    if let gap = pending.gap, gap.to > cursor {
      cursor = gap.to
      actions.append(.announceGap(gap))
    }
    var capacity = capacity
    for entry in pending.entries where entry.seq > cursor {
      guard capacity > 0 else { break }
      // A line contains the payload, and its texts once more.
      capacity -= 2 * entry.push.payload.count + DeviceStreamState.lineSize
      cursor = entry.seq
      actions.append(.send(entry))
    }
    return actions
  }

  /// Handles the completion of the actions of a read: reads on, pauses until the device has read the data, or is
  /// done.
  mutating func performed(_ pending: PendingPushes, hasCapacity: Bool) -> Action? {
    let before = self
    defer { checkInvariants(since: before) }
    guard case .reading(let isOutdated) = phase else { return nil }
    let isAllSent = pending.entries.last.map { $0.seq <= cursor } ?? true
    if pending.isComplete, isAllSent, !isOutdated {
      phase = .live
      guard !hasAnnouncedCaughtUp else { return nil }
      hasAnnouncedCaughtUp = true
      return .announceCaughtUp(cursor)
    }
    guard hasCapacity else {
      phase = .behind
      return nil
    }
    phase = .reading(isOutdated: false)
    return .read(after: cursor)
  }

  /// Reads the mailbox again, because the signal for a stored push may have been lost.
  mutating func resync() -> Action? {
    let before = self
    defer { checkInvariants(since: before) }
    switch phase {
    case .live:
      phase = .reading(isOutdated: false)
      return .read(after: cursor)
    case .reading:
      phase = .reading(isOutdated: true)
      return nil
    // The next read begins after this call anyway.
    case .awaitingHello, .behind, .ended: return nil
    }
  }

  /// Handles that the device has read all sent data.
  mutating func drained() -> Action? {
    let before = self
    defer { checkInvariants(since: before) }
    guard case .behind = phase else { return nil }
    phase = .reading(isOutdated: false)
    return .read(after: cursor)
  }

  /// Handles an acknowledgment of all pushes up to `seq`; the device can't acknowledge pushes that it was not sent.
  func acknowledged(_ seq: UInt64) -> Action { .acknowledge(through: min(seq, cursor)) }

  mutating func end() { phase = .ended }

  // MARK: Invariants

  /// Returns a description of the invariant that the state, or its change from `before`, violates; nil if all
  /// invariants hold.
  func brokenInvariant(since before: DeviceStreamState? = nil) -> String? {
    switch phase {
    case .awaitingHello:
      if cursor > 0 || hasAnnouncedCaughtUp { return "a line was sent before the device sent its position" }
    case .live: if !hasAnnouncedCaughtUp { return "live without a caught-up line to the device" }
    case .reading, .behind, .ended: break
    }
    guard let before else { return nil }
    if cursor < before.cursor { return "\(cursor) would be sent again: \(before.cursor) was" }
    if before.hasAnnouncedCaughtUp, !hasAnnouncedCaughtUp {
      return "the caught-up line would be sent twice"
    }
    return before.isEnded && !isEnded ? "an ended stream continues" : nil
  }

  /// Ends a debug build that violates an invariant; compiled out of release builds.
  private func checkInvariants(since before: DeviceStreamState) {
    assert(brokenInvariant(since: before) == nil, brokenInvariant(since: before) ?? "")
  }
}
