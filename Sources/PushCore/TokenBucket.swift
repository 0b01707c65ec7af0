/// A token bucket: it permits a burst at once, and a rate in the long run. A value type; the current time is an
/// argument.
package struct TokenBucket: Sendable {
  /// The capacity and the refill rate of a bucket.
  package struct Rate: Sendable, Equatable {
    /// The capacity: the number of tokens that can be taken at once.
    package var burst: Int
    /// The number of tokens that are refilled in ``seconds`` seconds.
    package var perSecond: Int
    /// The time in seconds for ``perSecond`` tokens: 1, or more for rates below one a second.
    package var seconds = 1

    package init(burst: Int, perSecond: Int) {
      precondition(burst > 0 && perSecond > 0, "an allowance is positive")
      (self.burst, self.perSecond) = (burst, perSecond)
    }

    /// Makes a rate whose burst is the quota of one second.
    package init(perSecond: Int) { self.init(burst: perSecond, perSecond: perSecond) }

    /// Makes a rate of one token in `secondsForOne` seconds.
    package init(burst: Int, secondsForOne: Int) {
      precondition(burst > 0 && secondsForOne > 0, "an allowance is positive")
      (self.burst, perSecond, seconds) = (burst, 1, secondsForOne)
    }

    /// The number of units of one token. Each millisecond refills ``perSecond`` units.
    fileprivate var unit: Int { 1000 * seconds }
  }

  package let rate: Rate
  /// The remaining tokens, in parts of ``Rate/unit`` so that milliseconds count; negative while tokens are owed.
  private var left: Int
  /// The time of the last refill, in milliseconds since 1970.
  private var time: Int64

  /// Makes a full bucket.
  package init(_ rate: Rate, at now: Int64) {
    self.rate = rate
    (left, time) = (rate.burst * rate.unit, now)
  }

  /// Takes one token; returns false if there is none.
  ///
  /// - Parameter now: milliseconds since 1970. A clock that goes back refills nothing.
  package mutating func take(at now: Int64) -> Bool {
    fill(at: now)
    guard left >= rate.unit else { return false }
    left -= rate.unit
    return true
  }

  /// Takes `count` tokens, also if there are fewer: the missing ones are refilled first. At most ``maximumDebt``
  /// bursts are owed.
  package mutating func owe(_ count: Int, at now: Int64) {
    precondition(count >= 0, "a debt is not negative")
    fill(at: now)
    let full = rate.burst * rate.unit
    let (taken, isLarge) = count.multipliedReportingOverflow(by: rate.unit)
    left = isLarge ? -full * TokenBucket.maximumDebt : max(left - taken, -full * TokenBucket.maximumDebt)
  }

  /// The maximum debt in bursts: one push to the largest group at a rate of 100 a second.
  private static let maximumDebt = 50

  /// Returns true if there is a token to take.
  package mutating func has(at now: Int64) -> Bool {
    fill(at: now)
    return left >= rate.unit
  }

  /// Returns true if the bucket is full: then it can be removed from a table.
  package mutating func isFull(at now: Int64) -> Bool {
    fill(at: now)
    return left == rate.burst * rate.unit
  }

  private mutating func fill(at now: Int64) {
    // The time is limited to the time until the bucket is full, so that no clock can cause an overflow.
    let elapsed = min(max(now - time, 0), Int64(rate.burst * rate.unit - left) / Int64(rate.perSecond) + 1)
    left = min(rate.burst * rate.unit, left + Int(elapsed) * rate.perSecond)
    time = now
  }
}

/// Token buckets of the same rate, one for each key. Full buckets are removed.
package struct TokenBuckets<Key: Hashable & Sendable>: Sendable {
  /// The rate of each bucket; nil: unlimited.
  private var rate: TokenBucket.Rate?
  private var buckets: [Key: TokenBucket] = [:]
  /// The number of buckets at which full ones are removed.
  private var sweepCount = 1000

  package init(_ rate: TokenBucket.Rate? = nil) { self.rate = rate }

  /// Applies a rate, with full buckets if it differs from the current one; nil: unlimited.
  package mutating func set(_ other: TokenBucket.Rate?) {
    if other != rate { self = TokenBuckets(other) }
  }

  /// The number of buckets in memory.
  package var count: Int { buckets.count }

  /// Returns true if the bucket of a key has a token.
  package mutating func has(_ key: Key, at now: Int64) -> Bool { buckets[key]?.has(at: now) ?? true }

  /// Takes one token of a key's bucket; returns false if it has none.
  ///
  /// - Parameter now: milliseconds since 1970.
  package mutating func take(_ key: Key, at now: Int64) -> Bool {
    guard let rate else { return true }
    makeSpace(for: key, at: now)
    return buckets[key, default: TokenBucket(rate, at: now)].take(at: now)
  }

  /// Takes `count` tokens of a key's bucket, also if it has fewer: see ``TokenBucket/owe(_:at:)``.
  package mutating func owe(_ key: Key, _ count: Int, at now: Int64) {
    guard let rate else { return }
    makeSpace(for: key, at: now)
    buckets[key, default: TokenBucket(rate, at: now)].owe(count, at: now)
  }

  private mutating func makeSpace(for key: Key, at now: Int64) {
    if buckets.count >= sweepCount, buckets[key] == nil {
      buckets = buckets.filter { entry in
        var bucket = entry.value
        return !bucket.isFull(at: now)
      }
      sweepCount = max(1000, 2 * buckets.count)
    }
  }
}
