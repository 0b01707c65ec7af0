/// A histogram: the number of values in each bucket, and the sum of all values. Any thread can record and read.
package final class MetricHistogram: Sendable {
  private let bounds: [Int64]
  /// The number of recorded units in one reported unit.
  private let divisor: Double
  /// One counter for each bound, and one for values above the last bound.
  private let buckets: Counters
  private let sum = Counter()

  private init(bounds: [Int64], divisor: Double) {
    self.bounds = bounds
    self.divisor = divisor
    buckets = Counters(count: bounds.count + 1)
  }

  /// Makes a histogram of durations, which are recorded in nanoseconds and reported in seconds.
  ///
  /// - Parameter bounds: the upper bounds of the buckets, in ascending order.
  package static func times(_ bounds: [Duration]) -> MetricHistogram {
    MetricHistogram(bounds: bounds.map(\.wholeNanoseconds), divisor: 1e9)
  }

  /// Makes a histogram of numbers.
  ///
  /// - Parameter bounds: the upper bounds of the buckets, in ascending order.
  package static func numbers(_ bounds: [Int64]) -> MetricHistogram { MetricHistogram(bounds: bounds, divisor: 1) }

  package func record(_ time: Duration) { record(time.wholeNanoseconds) }

  /// Records a value, for durations in nanoseconds; a negative value counts as 0.
  ///
  /// - Parameter count: the number of times that the value is recorded.
  package func record(_ value: Int64, count: Int = 1) {
    var index = 0
    while index < bounds.count, value > bounds[index] { index += 1 }
    buckets.add(UInt64(count), at: index)
    if value > 0 { sum.add(UInt64(value) &* UInt64(count)) }
  }

  /// The values recorded so far. A value that is recorded at the same time may be in the sum and not yet in a bucket,
  /// or the reverse.
  package var snapshot: Snapshot {
    Snapshot(bounds: bounds.map { Double($0) / divisor }, counts: buckets.totals, sum: Double(sum.total) / divisor)
  }

  /// The values of a histogram at one time.
  package struct Snapshot: Sendable, Equatable {
    /// The upper bounds of all buckets except the last, in ascending order.
    package var bounds: [Double]
    /// The number of values in each bucket; the last bucket counts the values above the last bound.
    package var counts: [UInt64]
    package var sum: Double

    /// Returns the sum of several snapshots with the same bounds.
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
  /// The duration in nanoseconds, for durations of less than 292 years.
  fileprivate var wholeNanoseconds: Int64 {
    let (seconds, attoseconds) = components
    return seconds &* 1_000_000_000 &+ attoseconds / 1_000_000_000
  }
}
