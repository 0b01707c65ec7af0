import PushCore
import Synchronization

/// The time by which the clock was ahead when each provider token was first seen.
///
/// Senders take the issue time of their tokens from the clock of the system. A token that is new after an advance counts as
/// issued by the advanced clock, so that a sender can renew an expired token.
final class DatedTokens: Sendable {
  private let clock: AdvancingClock
  private let offsets = Mutex<[[UInt8]: Int64]>([:])

  init(_ clock: AdvancingClock) { self.clock = clock }

  /// Returns the seconds to add to the issue time of a token.
  func correction(of token: [UInt8]) -> Int64 {
    let offset = clock.offset
    return offsets.withLock { offsets in
      if let known = offsets[token] { return known / 1000 }
      if offsets.count >= Limits.maximumDatedTokens { offsets.removeAll() }
      offsets[token] = offset
      return offset / 1000
    }
  }
}
