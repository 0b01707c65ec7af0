import Histogram

/// A distribution of durations in microseconds, with three significant digits (an HDR histogram).
package struct Latencies: Sendable {
  private var histogram = Histogram<UInt64>(
    lowestDiscernibleValue: 1, highestTrackableValue: Latencies.longest, numberOfSignificantValueDigits: .three)

  /// The largest recorded value, in microseconds: one hour. Longer durations are recorded as this value.
  private static let longest: UInt64 = 3_600_000_000

  package init() {}

  package mutating func record(nanoseconds: UInt64) {
    _ = histogram.record(min(max(1, nanoseconds / 1000), Latencies.longest))
  }

  package mutating func add(_ other: Latencies) {
    for bucket in other.histogram.recordedValues() { _ = histogram.record(bucket.value, count: bucket.count) }
  }

  package var count: Int { Int(histogram.totalCount) }

  /// Returns the latency that the given percentage of the recorded values does not exceed, in milliseconds.
  package func percentile(_ percent: Double) -> Double {
    count == 0 ? 0 : Double(histogram.valueAtPercentile(percent)) / 1000
  }

  /// The mean in milliseconds; 0 without values.
  package var mean: Double { count == 0 ? 0 : histogram.mean / 1000 }

  /// The maximum in milliseconds; 0 without values.
  package var maximum: Double { count == 0 ? 0 : Double(histogram.max) / 1000 }

  /// The whole distribution in the format of the HDR tools (`.hgrm`), in milliseconds.
  package var distribution: String {
    var text = ""
    histogram.outputPercentileDistribution(to: &text, outputValueUnitScalingRatio: 1000)
    return text
  }

  /// The most used percentiles, in milliseconds; nil without values.
  package var summary: LatencySummary? {
    guard count > 0 else { return nil }
    return LatencySummary(
      p50: percentile(50), p90: percentile(90), p99: percentile(99), p999: percentile(99.9), max: maximum, mean: mean,
      count: count)
  }
}

/// The most used percentiles of a latency distribution, in milliseconds.
package struct LatencySummary: Sendable, Codable, Equatable {
  package var p50: Double
  package var p90: Double
  package var p99: Double
  package var p999: Double
  package var max: Double
  package var mean: Double
  /// The number of recorded values.
  package var count: Int
}
