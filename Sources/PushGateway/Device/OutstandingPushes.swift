import DequeModule
import PushCore

/// The pushes that were sent on a stream and not acknowledged; at most ``Limits/maximumOutstanding``, the oldest are
/// evicted.
struct OutstandingPushes {
  struct Sent {
    var seq: UInt64
    var push: SentPush
    /// True if the push was pending before it was sent.
    var isFromStorage: Bool
    /// True if another push may replace it in the mailbox before it is acknowledged.
    var isReplaceable: Bool
  }

  private var pushes = Deque<Sent>()
  private var replaceableCount = 0

  var first: Sent? { pushes.first }

  /// True if another push may replace one of these.
  var hasReplaceable: Bool { replaceableCount > 0 }

  /// Returns the numbers of the replaceable pushes up to `seq`.
  func replaceable(through seq: UInt64) -> [UInt64] {
    Array(pushes.lazy.prefix { $0.seq <= seq }.filter(\.isReplaceable).map(\.seq))
  }

  /// Returns the newest push with an ID.
  func push(_ id: APNSID) -> SentPush? { pushes.last { $0.push.id == id }?.push }

  /// Returns the newest pushes, at most `count`, in their order.
  func suffix(_ count: Int) -> [Sent] { Array(pushes.suffix(count)) }

  mutating func append(_ sent: Sent) {
    pushes.append(sent)
    if sent.isReplaceable { replaceableCount += 1 }
    if pushes.count > Limits.maximumOutstanding { removeFirst() }
  }

  mutating func removeFirst() {
    guard let first = pushes.popFirst() else { return }
    if first.isReplaceable { replaceableCount -= 1 }
  }

  mutating func remove(where isGone: (Sent) -> Bool) {
    pushes.removeAll(where: isGone)
    replaceableCount = pushes.count(where: \.isReplaceable)
  }
}
