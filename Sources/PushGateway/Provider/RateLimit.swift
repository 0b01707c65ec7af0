/// How many pushes a device token, or a channel, takes, as a bucket that refills once a second. Off unless it is configured.
///
/// One for each loop, which is exact as long as a provider uses one connection, and lets it through more otherwise.
struct RateLimit<Key: Hashable> {
  private struct Bucket {
    var second: Int64
    var count: Int
  }

  private var buckets: [Key: Bucket] = [:]
  /// Beyond this many keys the buckets begin anew.
  private static var maximumCount: Int { 100_000 }

  /// Counts a push; false when it is one too many.
  ///
  /// - Parameters:
  ///   - now: seconds since 1970.
  ///   - perSecond: how many there may be; nil: any number.
  mutating func allows(_ token: Key, now: Int64, perSecond: Int?) -> Bool {
    guard let perSecond else { return true }
    if buckets.count >= RateLimit.maximumCount { buckets.removeAll() }
    var bucket = buckets[token] ?? Bucket(second: now, count: 0)
    if bucket.second != now { bucket = Bucket(second: now, count: 0) }
    bucket.count += 1
    buckets[token] = bucket
    return bucket.count <= perSecond
  }
}
