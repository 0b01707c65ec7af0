/// An allowance that fills again: so many at once, and so many a second in the long run. A value; time is an argument.
package struct TokenBucket: Sendable {
  /// What an allowance is.
  package struct Rate: Sendable, Equatable {
    /// As many as may come at once.
    package var burst: Int
    /// As many as come back in a second, or in as many ``seconds``.
    package var perSecond: Int
    /// How long that takes: 1 but for what is to be seldom.
    package var seconds = 1

    package init(burst: Int, perSecond: Int) {
      precondition(burst > 0 && perSecond > 0, "an allowance is positive")
      (self.burst, self.perSecond) = (burst, perSecond)
    }

    /// One comes back in as many seconds.
    package init(burst: Int, secondsForOne: Int) {
      precondition(burst > 0 && secondsForOne > 0, "an allowance is positive")
      (self.burst, perSecond, seconds) = (burst, 1, secondsForOne)
    }

    /// What one is worth: a thousandth for each millisecond that it takes.
    fileprivate var unit: Int { 1000 * seconds }
  }

  package let rate: Rate
  /// In parts of ``Rate/unit``, so that a millisecond counts; less than 0 where more is owed.
  private var left: Int
  /// Milliseconds since 1970.
  private var time: Int64

  /// A full one.
  package init(_ rate: Rate, at now: Int64) {
    self.rate = rate
    (left, time) = (rate.burst * rate.unit, now)
  }

  /// Takes one; false when there is none.
  ///
  /// - Parameter now: milliseconds since 1970. A clock that goes back fills nothing.
  package mutating func take(at now: Int64) -> Bool {
    fill(at: now)
    guard left >= rate.unit else { return false }
    left -= rate.unit
    return true
  }

  /// Takes so many, also where there are fewer: what is missing comes back before any other. More than
  /// ``maximumDebt`` bursts are never owed.
  package mutating func owe(_ count: Int, at now: Int64) {
    precondition(count >= 0, "a debt is not negative")
    fill(at: now)
    let full = rate.burst * rate.unit
    let (taken, isLarge) = count.multipliedReportingOverflow(by: rate.unit)
    left = isLarge ? -full * TokenBucket.maximumDebt : max(left - taken, -full * TokenBucket.maximumDebt)
  }

  /// So many bursts are owed at most: one push to the largest group at 100 a second.
  private static let maximumDebt = 50

  /// Whether there is one to take.
  package mutating func has(at now: Int64) -> Bool {
    fill(at: now)
    return left >= rate.unit
  }

  /// Whether nothing is missing: a full one need not be remembered.
  package mutating func isFull(at now: Int64) -> Bool {
    fill(at: now)
    return left == rate.burst * rate.unit
  }

  private mutating func fill(at now: Int64) {
    // No more time than it takes to be full, which no clock can make overflow.
    let elapsed = min(max(now - time, 0), Int64(rate.burst * rate.unit - left) / Int64(rate.perSecond) + 1)
    left = min(rate.burst * rate.unit, left + Int(elapsed) * rate.perSecond)
    time = now
  }
}

/// Allowances of many, each by what it belongs to. Those that are full again are forgotten.
package struct TokenBuckets<Key: Hashable & Sendable>: Sendable {
  private let rate: TokenBucket.Rate
  private var buckets: [Key: TokenBucket] = [:]
  /// How many there may be before the full ones are looked for.
  private var sweepCount = 1000

  package init(_ rate: TokenBucket.Rate) { self.rate = rate }

  /// How many are remembered.
  package var count: Int { buckets.count }

  /// Whether a key has one left.
  package mutating func has(_ key: Key, at now: Int64) -> Bool { buckets[key]?.has(at: now) ?? true }

  /// Takes one of what belongs to a key; false when it has none left.
  ///
  /// - Parameter now: milliseconds since 1970.
  package mutating func take(_ key: Key, at now: Int64) -> Bool {
    makeRoom(for: key, at: now)
    return buckets[key, default: TokenBucket(rate, at: now)].take(at: now)
  }

  /// Takes so many of what belongs to a key, also where it has fewer: see ``TokenBucket/owe(_:at:)``.
  package mutating func owe(_ key: Key, _ count: Int, at now: Int64) {
    makeRoom(for: key, at: now)
    buckets[key, default: TokenBucket(rate, at: now)].owe(count, at: now)
  }

  private mutating func makeRoom(for key: Key, at now: Int64) {
    if buckets.count >= sweepCount, buckets[key] == nil {
      buckets = buckets.filter { entry in
        var bucket = entry.value
        return !bucket.isFull(at: now)
      }
      sweepCount = max(1000, 2 * buckets.count)
    }
  }
}
