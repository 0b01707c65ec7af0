import Testing

@testable import pushcli

@Suite struct MetricsTests {
  @Test(
    arguments: [
      ("# TYPE a_lag histogram", "lag", true), ("# HELP a_b What lag is.", "lag", false), ("# EOF", "EOF", false),
      (#"a_b_total{limit="lag"} 3"#, "lag", false), (#"a_lag_bucket{le="1.0"} 3"#, "lag", true),
      ("a_lag 3", "lag", true),
    ])
  func `a line is shown when its metric is asked for`(_ line: String, _ name: String, _ isShown: Bool) {
    #expect(Metrics.names(line[...], name) == isShown)
  }
}
