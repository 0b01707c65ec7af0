import DequeModule
import NIOCore
import PushCore

/// The queue and the connection of one provider token: the upstream binds a connection to the team of its first token,
/// and permits few changes of the token on it.
///
/// Belongs to one event loop.
final class UpstreamLink {
  struct Key: Hashable {
    var environment: Environment
    var authorization: [UInt8]
  }

  let key: Key
  /// True if this gateway or the upstream has verified the token.
  var isVerified: Bool
  /// The pushes that are queued for a connection, or for a free stream of it; some may be over.
  private var queue: Deque<ForwardedPush> = []
  /// The connection for further pushes; nil while none is open. A retired connection is removed, but its pushes continue.
  var connection: UpstreamConnection?
  /// True while a connection is opened.
  var isDialing = false
  /// The number of connections in a row that ended without an answer.
  var fruitless = 0
  /// The time of the last push.
  var used: NIODeadline

  init(_ key: Key, isVerified: Bool, at now: NIODeadline) {
    (self.key, self.isVerified, used) = (key, isVerified, now)
  }

  /// True if no push is on its way.
  var isIdle: Bool { !isDialing && queue.allSatisfy(\.isOver) && connection?.sent.isEmpty ?? true }

  /// The number of pushes that ended in the queue since it was last cleared of them.
  private var overCount = 0
  private static let keptOvers = 64

  /// Adds a push to the end of the queue.
  func append(_ push: ForwardedPush) { queue.append(push) }

  /// Returns a push to the beginning of the queue.
  func prepend(_ push: ForwardedPush) { queue.prepend(push) }

  /// Returns true if a push is queued that is not over.
  func hasNext() -> Bool {
    while let push = queue.first, push.isOver { queue.removeFirst() }
    return !queue.isEmpty
  }

  /// Removes and returns the first queued push that is not over.
  func next() -> ForwardedPush? { hasNext() ? queue.removeFirst() : nil }

  /// Counts a queued push that is over. The queue removes them if they are more than ``keptOvers`` and half of its pushes,
  /// also during an outage.
  func noteOver() {
    overCount += 1
    guard overCount > UpstreamLink.keptOvers, overCount * 2 > queue.count else { return }
    queue.removeAll { $0.isOver }
    overCount = 0
  }
}
