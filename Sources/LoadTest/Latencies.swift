import Histogram

/// How long things took, in microseconds, with three significant digits (an HDR histogram).
package struct Latencies: Sendable {
  private var histogram = Histogram<UInt64>(
    lowestDiscernibleValue: 1, highestTrackableValue: Latencies.longest, numberOfSignificantValueDigits: .three)

  /// An hour; what took longer counts as that.
  private static let longest: UInt64 = 3_600_000_000

  package init() {}

  package mutating func record(nanoseconds: UInt64) {
    _ = histogram.record(min(max(1, nanoseconds / 1000), Latencies.longest))
  }

  package mutating func add(_ other: Latencies) {
    for bucket in other.histogram.recordedValues() { _ = histogram.record(bucket.value, count: bucket.count) }
  }

  package var count: Int { Int(histogram.totalCount) }

  /// What a share of all did not exceed, in milliseconds.
  package func percentile(_ percent: Double) -> Double {
    count == 0 ? 0 : Double(histogram.valueAtPercentile(percent)) / 1000
  }

  /// In milliseconds.
  package var mean: Double { count == 0 ? 0 : histogram.mean / 1000 }

  /// In milliseconds.
  package var maximum: Double { count == 0 ? 0 : Double(histogram.max) / 1000 }

  /// The whole distribution as the HDR tools read it (`.hgrm`), in milliseconds.
  package var distribution: String {
    var text = ""
    histogram.outputPercentileDistribution(to: &text, outputValueUnitScalingRatio: 1000)
    return text
  }

  /// The value at each of some percentiles, in milliseconds.
  package var summary: LatencySummary? {
    guard count > 0 else { return nil }
    return LatencySummary(
      p50: percentile(50), p90: percentile(90), p99: percentile(99), p999: percentile(99.9), max: maximum, mean: mean,
      count: count)
  }
}

/// Latencies in a few figures, in milliseconds.
package struct LatencySummary: Sendable, Codable, Equatable {
  package var p50: Double
  package var p90: Double
  package var p99: Double
  package var p999: Double
  package var max: Double
  package var mean: Double
  /// How many were measured.
  package var count: Int

  package init(p50: Double, p90: Double, p99: Double, p999: Double, max: Double, mean: Double, count: Int) {
    self.p50 = p50
    self.p90 = p90
    self.p99 = p99
    self.p999 = p999
    self.max = max
    self.mean = mean
    self.count = count
  }
}
