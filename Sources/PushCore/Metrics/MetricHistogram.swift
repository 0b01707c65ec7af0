/// How many values lay below each of some bounds, and their sum; recorded and read on any thread.
package final class MetricHistogram: Sendable {
  private let bounds: [Int64]
  /// How many of what is recorded make one of what readers are told.
  private let divisor: Double
  /// One for each bound, and one for what lies above all of them.
  private let buckets: Counters
  private let sum = Counter()

  private init(bounds: [Int64], divisor: Double) {
    self.bounds = bounds
    self.divisor = divisor
    buckets = Counters(count: bounds.count + 1)
  }

  /// One of times, which are recorded in nanoseconds and told in seconds.
  ///
  /// - Parameter bounds: rising.
  package static func times(_ bounds: [Duration]) -> MetricHistogram {
    MetricHistogram(bounds: bounds.map(\.wholeNanoseconds), divisor: 1e9)
  }

  /// One of numbers.
  ///
  /// - Parameter bounds: rising.
  package static func numbers(_ bounds: [Int64]) -> MetricHistogram { MetricHistogram(bounds: bounds, divisor: 1) }

  /// Counts a time.
  package func record(_ time: Duration) { record(time.wholeNanoseconds) }

  /// Counts a value, in nanoseconds where it is a time; what lies below 0 counts as 0.
  ///
  /// - Parameter count: how often.
  package func record(_ value: Int64, count: Int = 1) {
    var index = 0
    while index < bounds.count, value > bounds[index] { index += 1 }
    buckets.add(UInt64(count), at: index)
    if value > 0 { sum.add(UInt64(value) &* UInt64(count)) }
  }

  /// What was recorded so far. A value that is recorded meanwhile may be in the sum and in no bucket yet, or the reverse.
  package var snapshot: Snapshot {
    Snapshot(bounds: bounds.map { Double($0) / divisor }, counts: buckets.totals, sum: Double(sum.total) / divisor)
  }

  /// The state of a histogram at one time.
  package struct Snapshot: Sendable, Equatable {
    /// The highest value of each bucket but the last, rising.
    package var bounds: [Double]
    /// How many values are in each bucket, and above the last bound.
    package var counts: [UInt64]
    package var sum: Double

    package init(bounds: [Double], counts: [UInt64], sum: Double) {
      (self.bounds, self.counts, self.sum) = (bounds, counts, sum)
    }

    /// What several of the same bounds have recorded together.
    package static func sum(_ parts: [Snapshot]) -> Snapshot {
      guard var whole = parts.first else { return Snapshot(bounds: [], counts: [0], sum: 0) }
      for part in parts.dropFirst() {
        for index in whole.counts.indices { whole.counts[index] &+= part.counts[index] }
        whole.sum += part.sum
      }
      return whole
    }
  }
}

extension Duration {
  /// Nanoseconds, for times of less than 292 years.
  fileprivate var wholeNanoseconds: Int64 {
    let (seconds, attoseconds) = components
    return seconds &* 1_000_000_000 &+ attoseconds / 1_000_000_000
  }
}
