import Synchronization

/// A moment that is put off again and again; looked at often, from any thread.
package final class Deadline: Sendable {
  private let nanoseconds = Atomic<Int64>(0)
  private let start = ContinuousClock.now

  package init() {}

  private var nanosecondsSinceStart: Int64 {
    let (seconds, attoseconds) = (ContinuousClock.now - start).components
    return seconds &* 1_000_000_000 &+ attoseconds / 1_000_000_000
  }

  /// Whether it is to come.
  package var isAhead: Bool { nanoseconds.load(ordering: .acquiring) > nanosecondsSinceStart }

  /// Puts it off to so much from now, unless it is later already.
  package func extend(_ time: Duration) {
    let (seconds, attoseconds) = time.components
    let next = nanosecondsSinceStart &+ seconds &* 1_000_000_000 &+ attoseconds / 1_000_000_000
    nanoseconds.max(next, ordering: .acquiringAndReleasing)
  }
}
