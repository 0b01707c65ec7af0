/// A limit of pushes per second to a device token or a channel, as a bucket that refills once a second. Off unless
/// configured.
///
/// One for each event loop: exact as long as a provider uses one connection; several connections may together exceed
/// it.
struct RateLimit<Key: Hashable> {
  private struct Bucket {
    var second: Int64
    var count: Int
  }

  private var buckets: [Key: Bucket] = [:]
  /// The maximum number of keys; beyond it all buckets are reset.
  private static var maximumCount: Int { 100_000 }

  /// Counts a push; false if it exceeds the limit.
  ///
  /// - Parameters:
  ///   - now: seconds since 1970.
  ///   - perSecond: the maximum number of pushes; nil: unlimited.
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
