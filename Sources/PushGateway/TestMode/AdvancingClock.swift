import PushCore
import Synchronization

/// A clock that goes like the system's, ahead of it by a time that tests change.
final class AdvancingClock: Sendable {
  private let ahead = Atomic<Int64>(0)

  /// The longest time that the clock is ahead, in milliseconds: a year.
  static let maximum: Int64 = 365 * 86_400_000

  /// The time that the clock is ahead, in milliseconds.
  var offset: Int64 { ahead.load(ordering: .acquiring) }

  /// The clock for all parts of a gateway.
  var wallClock: WallClock { WallClock { [self] in WallClock.system.milliseconds() + offset } }

  /// Advances the clock.
  ///
  /// - Returns: false if it would be ahead by more than ``maximum``; it is then unchanged.
  func advance(milliseconds: Int64) -> Bool {
    var present = offset
    while (0...AdvancingClock.maximum).contains(milliseconds), present <= AdvancingClock.maximum - milliseconds {
      let (isDone, original) = ahead.compareExchange(
        expected: present, desired: present + milliseconds, ordering: .acquiringAndReleasing)
      if isDone { return true }
      present = original
    }
    return false
  }

  /// Sets the clock to the time of the system.
  func reset() { ahead.store(0, ordering: .releasing) }
}
