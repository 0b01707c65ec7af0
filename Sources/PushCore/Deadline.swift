import Synchronization

/// A deadline that is extended repeatedly; any thread can check it at low cost.
package final class Deadline: Sendable {
  private let nanoseconds = Atomic<Int64>(0)
  private let start = ContinuousClock.now

  package init() {}

  private var nanosecondsSinceStart: Int64 {
    let (seconds, attoseconds) = (ContinuousClock.now - start).components
    return seconds &* 1_000_000_000 &+ attoseconds / 1_000_000_000
  }

  /// True until the deadline passes.
  package var isAhead: Bool { nanoseconds.load(ordering: .acquiring) > nanosecondsSinceStart }

  /// Moves the deadline to `time` from now, unless it is later already.
  package func extend(_ time: Duration) {
    let (seconds, attoseconds) = time.components
    let next = nanosecondsSinceStart &+ seconds &* 1_000_000_000 &+ attoseconds / 1_000_000_000
    nanoseconds.max(next, ordering: .acquiringAndReleasing)
  }
}
