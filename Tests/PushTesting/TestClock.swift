package import PushCore
import Synchronization

/// A clock that only the test advances.
package final class TestClock: Sendable {
  /// 2027-01-15 08:00:00 UTC.
  package static let start: Int64 = 1_800_000_000

  private let time = Atomic<Int64>(start * 1000)

  package init() {}

  /// Seconds since 1970.
  package var seconds: Int64 { time.load(ordering: .sequentiallyConsistent) / 1000 }

  package var wallClock: WallClock { WallClock { self.time.load(ordering: .sequentiallyConsistent) } }

  package func advance(seconds: Int64) { time.add(seconds * 1000, ordering: .sequentiallyConsistent) }
}
