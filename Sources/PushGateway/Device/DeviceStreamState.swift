import PushCore
import PushStorage

/// What one open stream of a device has been sent, and what comes next: a value, without I/O and without a clock.
///
/// A push goes out as soon as it is stored, unless the device lags: then nothing is kept here, and the mailbox is read
/// on when the device has taken what it was sent. So a device that stops reading costs a bounded amount of memory, and
/// whatever happens in between, what is read next begins after ``cursor``.
struct DeviceStreamState {
  /// What the owner is to do.
  enum Action {
    /// Read the mailbox after this number, and hand the result to ``found(_:)``.
    case read(after: UInt64)
    case send(MailboxEntry)
    /// A push that is never stored can't be sent now.
    case drop(MailboxEntry)
    case announceGap(MailboxGap)
    case announceCaughtUp(UInt64)
    /// The device has everything up to this number.
    case acknowledge(through: UInt64)
  }

  private enum Phase {
    /// The device has not said where it is.
    case awaitingHello
    /// A read of the mailbox is under way; `isOutdated` when more has been stored since it began.
    case reading(isOutdated: Bool)
    /// More waits in the mailbox, and the device has not taken what it was sent.
    case behind
    /// Everything stored has been sent.
    case live
    case ended
  }

  /// What a line takes besides its payload, in bytes.
  private static let lineSize = 512

  /// How many entries to read for a stream that takes so many bytes: what finds no room would be read again.
  static func batch(capacity: Int) -> Int { max(1, min(Limits.pendingBatch, capacity / lineSize)) }

  private var phase = Phase.awaitingHello
  /// The highest number that was sent, or that the device says it has.
  private(set) var cursor: UInt64 = 0
  /// Whether the device has been sent what waited for it when it came.
  private(set) var hasAnnouncedCaughtUp = false

  /// Whether the device has said where it is, and the stream goes on.
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

  /// The device says where it is; a second time says nothing.
  ///
  /// The owner signs up for what is stored from now on before it performs these: what was stored before is found by
  /// the read, what comes during the read makes it outdated.
  mutating func hello(cursor: UInt64) -> [Action] {
    let before = self
    defer { checkInvariants(since: before) }
    guard case .awaitingHello = phase else { return [] }
    self.cursor = cursor
    phase = .reading(isOutdated: false)
    return (cursor > 0 ? [.acknowledge(through: cursor)] : []) + [.read(after: cursor)]
  }

  /// A push was stored for the device, or is to be sent now or never (`seq` 0). When the one
  /// before it was not sent, the mailbox is read: it may be one that nobody told of.
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
      // What was not told has to be sent first: an acknowledgement of this one would take it along.
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

  /// The mailbox was read. When the owner has performed these it says so with ``performed(_:hasCapacity:)``.
  ///
  /// - Parameter capacity: how many bytes the stream takes before it lags; what goes beyond is read again later.
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
      // A line holds the payload, and its texts once more.
      capacity -= 2 * entry.push.payload.count + DeviceStreamState.lineSize
      cursor = entry.seq
      actions.append(.send(entry))
    }
    return actions
  }

  /// What a read found has been sent: reads on, waits until the device has taken it, or is done.
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

  /// Something may have been stored that nobody told of: the mailbox is read again.
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
    // What is read next is read after this.
    case .awaitingHello, .behind, .ended: return nil
    }
  }

  /// The device has taken everything it was sent.
  mutating func drained() -> Action? {
    let before = self
    defer { checkInvariants(since: before) }
    guard case .behind = phase else { return nil }
    phase = .reading(isOutdated: false)
    return .read(after: cursor)
  }

  /// The device has stored everything up to `seq`; it can't acknowledge what it was not sent.
  func acknowledged(_ seq: UInt64) -> Action { .acknowledge(through: min(seq, cursor)) }

  /// The stream is over.
  mutating func end() { phase = .ended }

  // MARK: Invariants

  /// What does not fit, or not to what was before; nil when all does.
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

  /// Ends a debug build in which something does not fit; a release build has no trace of this.
  private func checkInvariants(since before: DeviceStreamState) {
    assert(brokenInvariant(since: before) == nil, brokenInvariant(since: before) ?? "")
  }
}
