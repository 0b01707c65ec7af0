import Glibc

/// The time of day, passed as an argument so that a test can set it.
package struct WallClock: Sendable {
  /// Returns the milliseconds since 1970.
  package var milliseconds: @Sendable () -> Int64

  package init(milliseconds: @escaping @Sendable () -> Int64) { self.milliseconds = milliseconds }

  /// The seconds since 1970.
  package var seconds: Int64 { milliseconds() / 1000 }

  package static let system = WallClock {
    var time = timespec()
    unsafe clock_gettime(CLOCK_REALTIME, &time)
    return Int64(time.tv_sec) * 1000 + Int64(time.tv_nsec) / 1_000_000
  }
}
