import Testing

@testable import PushCore
@testable import PushGateway

/// The format OpenMetrics 1.0, with values from the test.
@Suite struct OpenMetricsTests {
  func text(_ metric: Metric, _ samples: MetricSample...) -> String {
    MetricsFormat.openMetrics.text(of: [(metric, samples)])
  }

  func metric(
    _ kind: Metric.Kind, unit: String = "", by label: String? = nil, _ help: String = "What it is."
  ) -> Metric {
    Metric("a_b", kind, unit: unit, by: label.map { ($0, nil) }, help) { _ in [] }
  }

  @Test func `a counter ends in _total, and the text in EOF`() {
    #expect(
      text(metric(.counter), .init(label: nil, value: .number(18_446_744_073_709_551_615)))
        == "# TYPE a_b counter\n# HELP a_b What it is.\na_b_total 18446744073709551615\n# EOF\n")
  }

  @Test func `a gauge has its name`() {
    #expect(
      text(metric(.gauge, by: "peer"), .init(label: "x", value: .number(0)), .init(label: "y", value: .number(7)))
        == "# TYPE a_b gauge\n# HELP a_b What it is.\na_b{peer=\"x\"} 0\na_b{peer=\"y\"} 7\n# EOF\n")
  }

  @Test func `buckets hold all that is below them, the last one everything`() {
    let snapshot = MetricHistogram.Snapshot(bounds: [0.001, 1], counts: [2, 0, 3], sum: 9.5)
    #expect(
      text(metric(.histogram, unit: "seconds", by: "loop"), .init(label: "0", value: .histogram(snapshot))) == """
        # TYPE a_b histogram
        # UNIT a_b seconds
        # HELP a_b What it is.
        a_b_bucket{loop="0",le="0.001"} 2
        a_b_bucket{loop="0",le="1.0"} 2
        a_b_bucket{loop="0",le="+Inf"} 5
        a_b_count{loop="0"} 5
        a_b_sum{loop="0"} 9.5
        # EOF

        """)
  }

  @Test func `what would end a line or a value is escaped`() {
    #expect(
      text(metric(.gauge, by: "x", "a\\b\n\"c\""), .init(label: "\"\\\né", value: .number(1)))
        == "# TYPE a_b gauge\n# HELP a_b a\\\\b\\n\\\"c\\\"\na_b{x=\"\\\"\\\\\\né\"} 1\n# EOF\n")
  }

  @Test func `a metric without a sample is left out`() {
    #expect(text(metric(.counter)) == "# EOF\n")
  }
}
