import Testing

@testable import PushCore

@Suite struct TokenBucketTests {
  private let rate = TokenBucket.Rate(burst: 3, perSecond: 2)

  @Test func `a burst is taken at once, and comes back by and by`() {
    var bucket = TokenBucket(rate, at: 1000)
    #expect((0..<5).map { _ in bucket.take(at: 1000) } == [true, true, true, false, false])
    #expect([bucket.take(at: 1499)] == [false])
    #expect([bucket.take(at: 1500)] == [true])
    #expect([bucket.take(at: 1501)] == [false])
    // The bucket never holds more than a burst, however long it was unused.
    #expect((0..<4).map { _ in bucket.take(at: 1_000_000) } == [true, true, true, false])
  }

  @Test func `no clock fills what is not due, or ends the process`() {
    var bucket = TokenBucket(rate, at: 1000)
    for now in [1000, 0, 999, Int64.max / 2, 0, 5] {
      for _ in 0..<3 { _ = bucket.take(at: now) }
      #expect([bucket.take(at: now)] == [false])
    }
  }

  @Test func `what is seldom comes back one by one`() {
    var bucket = TokenBucket(.init(burst: 2, secondsForOne: 120), at: 0)
    #expect((0..<3).map { _ in bucket.take(at: 0) } == [true, true, false])
    #expect([bucket.take(at: 119_999), bucket.take(at: 120_000), bucket.take(at: 120_001)] == [false, true, false])
    #expect([bucket.isFull(at: 359_999), bucket.isFull(at: 360_000)] == [false, true])
  }

  @Test func `what is owed comes back before any other, and is bounded`() {
    var bucket = TokenBucket(rate, at: 1000)
    bucket.owe(5, at: 1000)
    #expect([bucket.take(at: 2499), bucket.take(at: 2500), bucket.take(at: 2501)] == [false, true, false])
    // 50 bursts of 3, at 2 per second.
    for count in [Int.max, 1000] { bucket.owe(count, at: 3000) }
    #expect([bucket.take(at: 78_499), bucket.take(at: 78_500)] == [false, true])
    #expect([bucket.isFull(at: 79_000), bucket.isFull(at: 1_000_000)] == [false, true])
    bucket.owe(Int.max, at: .max / 2)
    #expect([bucket.take(at: 0), bucket.take(at: .max / 2)] == [false, true])
  }

  @Test func `each has its own, and the full ones are forgotten`() {
    var buckets = TokenBuckets<Int>(rate)
    for key in 0..<5000 { #expect([buckets.take(key, at: Int64(key) * 10)] == [true]) }
    #expect(buckets.count <= 2000)
    let last = Int64(4999 * 10)
    #expect((0..<3).map { _ in buckets.take(4999, at: last) } == [true, true, false])
    #expect([buckets.take(4998, at: last)] == [true])
  }

  @Test func `without a rate everything is allowed, and nothing is kept`() {
    var buckets = TokenBuckets<Int>()
    buckets.owe(1, 1000, at: 5000)
    #expect((0..<3).map { _ in buckets.take(1, at: 5000) } == [true, true, true])
    #expect([buckets.has(1, at: 5000)] == [true])
    #expect(buckets.count == 0)
  }

  @Test func `one more than the quota of a second is refused, and keys are counted apart`() {
    var buckets = TokenBuckets<Int>(TokenBucket.Rate(perSecond: 3))
    #expect((0..<5).map { _ in buckets.take(1, at: 5000) } == [true, true, true, false, false])
    #expect([buckets.take(2, at: 5000)] == [true])
    #expect((0..<4).map { _ in buckets.take(1, at: 6000) } == [true, true, true, false])
  }

  @Test func `another rate begins with full buckets, and the same one does not`() {
    var buckets = TokenBuckets<Int>(TokenBucket.Rate(perSecond: 1))
    var taken: [Int] = []
    for rate in [1, 1, 2, nil, 2] as [Int?] {
      buckets.set(rate.map { TokenBucket.Rate(perSecond: $0) })
      taken.append((0..<9).count { _ in buckets.take(1, at: 5000) })
    }
    #expect(taken == [1, 0, 2, 9, 2])
  }
}
