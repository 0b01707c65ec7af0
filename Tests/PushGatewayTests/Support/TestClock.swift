import Synchronization

@testable import PushCore

/// A clock that stands still until a test moves it.
final class TestClock: Sendable {
  /// 2027-01-15 08:00:00 UTC.
  static let start: Int64 = 1_800_000_000

  private let time = Atomic<Int64>(start * 1000)

  /// Seconds since 1970.
  var seconds: Int64 { time.load(ordering: .sequentiallyConsistent) / 1000 }

  var wallClock: WallClock { WallClock { self.time.load(ordering: .sequentiallyConsistent) } }

  func advance(seconds: Int64) { time.add(seconds * 1000, ordering: .sequentiallyConsistent) }
}
