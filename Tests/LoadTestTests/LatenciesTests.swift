import Testing

@testable import LoadTest

@Suite struct LatenciesTests {
  @Test func `percentiles are within a thousandth`() throws {
    var latencies = Latencies()
    for milliseconds in 1...1000 { latencies.record(nanoseconds: UInt64(milliseconds) * 1_000_000) }
    let summary = try #require(latencies.summary)
    for (value, expected) in [(summary.p50, 500.0), (summary.p90, 900), (summary.p99, 990), (summary.max, 1000)] {
      #expect(abs(value - expected) <= expected / 1000)
    }
    #expect(summary.count == 1000)
  }

  @Test func `two add up to one`() {
    var (one, other) = (Latencies(), Latencies())
    one.record(nanoseconds: 1_000_000)
    other.record(nanoseconds: 3_000_000)
    other.record(nanoseconds: 9_000_000)
    one.add(other)
    #expect(one.count == 3)
    #expect(abs(one.percentile(50) - 3) < 0.01)
  }

  @Test func `without values there is no summary`() { #expect(Latencies().summary == nil) }

  @Test func `the distribution is in the form of the HDR tools`() {
    var latencies = Latencies()
    latencies.record(nanoseconds: 2_000_000)
    #expect(latencies.distribution.contains("Percentile"))
    #expect(latencies.distribution.contains("#[Max"))
  }
}
