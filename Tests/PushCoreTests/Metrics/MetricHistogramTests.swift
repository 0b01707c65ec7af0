import Testing

@testable import PushCore

@Suite struct MetricHistogramTests {
  @Test(
    arguments: [
      (-1, [1, 0, 0]), (0, [1, 0, 0]), (10, [1, 0, 0]), (11, [0, 1, 0]), (20, [0, 1, 0]), (21, [0, 0, 1]),
      (.max, [0, 0, 1]),
    ] as [(Int64, [UInt64])])
  func `a value is in the first bucket whose bound it does not exceed`(_ value: Int64, _ counts: [UInt64]) {
    let histogram = MetricHistogram.numbers([10, 20])
    histogram.record(value)
    #expect(histogram.snapshot == .init(bounds: [10, 20], counts: counts, sum: max(0, Double(value))))
  }

  @Test func `times are told in seconds`() {
    let histogram = MetricHistogram.times([.microseconds(100), .milliseconds(5), .seconds(1)])
    histogram.record(.microseconds(100))
    histogram.record(.milliseconds(1500))
    histogram.record(250_000)
    #expect(histogram.snapshot.bounds == [0.0001, 0.005, 1])
    #expect(histogram.snapshot.counts == [1, 1, 0, 1])
    #expect(histogram.snapshot.sum == 1.50035)
  }

  @Test func `what several threads count at once is counted whole`() async {
    let counters = Counters(count: 3)
    let histogram = MetricHistogram.numbers([1])
    await withTaskGroup(of: Void.self) { group in
      for place in [0, 2, 2, 2] {
        group.addTask {
          for _ in 0..<10_000 {
            counters.add(at: place)
            histogram.record(Int64(place))
          }
        }
      }
    }
    #expect(counters.totals == [10_000, 0, 30_000])
    #expect(histogram.snapshot == .init(bounds: [1], counts: [10_000, 30_000], sum: 60_000))
  }

  @Test func `each limit has a name of its own`() {
    let labels = ReachedLimit.allCases.map(\.label)
    #expect(Set(labels).count == labels.count)
    let counters = LimitCounters()
    for limit in ReachedLimit.allCases { counters.add(limit, UInt64(limit.rawValue) + 1) }
    #expect(counters.totals == ReachedLimit.allCases.map { UInt64($0.rawValue) + 1 })
  }

  @Test func `what is recorded several times counts so often`() {
    let histogram = MetricHistogram.numbers([1, 10])
    histogram.record(5, count: 3)
    histogram.record(50, count: 0)
    #expect(histogram.snapshot == .init(bounds: [1, 10], counts: [0, 3, 0], sum: 15))
  }

  @Test func `several of the same bounds are summed up place by place`() {
    let parts = [
      MetricHistogram.Snapshot(bounds: [1], counts: [2, 3], sum: 4), .init(bounds: [1], counts: [5, 6], sum: 0.5),
    ]
    #expect(MetricHistogram.Snapshot.sum(parts) == .init(bounds: [1], counts: [7, 9], sum: 4.5))
    #expect(MetricHistogram.Snapshot.sum([]).counts == [0])
  }
}
