import ArgumentParser
import LoadTest
import Testing

@testable import pushcli

@Suite struct ThresholdTests {
  @Test(arguments: [
    ("p99>25ms", Metric.p99, Threshold.Comparison.above, 25.0), ("p50>=500us", .p50, .atLeast, 0.5),
    ("max>1s", .max, .above, 1000), ("rate<30000", .rate, .below, 30_000), ("rate < 30k", .rate, .below, 30_000),
    ("lost>0", .lost, .above, 0), ("memory>32KiB", .memory, .above, 32_768), ("storm>30s", .storm, .above, 30),
    ("accept_p99<=2.5", .acceptP99, .atMost, 2.5),
  ])
  func `a condition is read`(_ text: String, metric: Metric, comparison: Threshold.Comparison, limit: Double) throws {
    let threshold = try Threshold(text)
    #expect(threshold.metric == metric)
    #expect(threshold.comparison == comparison)
    #expect(threshold.limit == limit)
  }

  @Test(arguments: ["", "p99", "p99=5", "p99>", "p99>ms", "p99>5KiB", "lost>0ms", "p99>5ms7", ">5", "p99>>5"])
  func `what is no condition is refused`(_ text: String) {
    #expect(throws: ValidationError.self) { try Threshold(text) }
  }

  @Test func `an unknown name is answered with all that there are`() {
    #expect {
      try Threshold("p98>5ms")
    } throws: { error in
      Metric.allCases.allSatisfy { "\(error)".contains($0.rawValue) }
    }
  }

  @Test(arguments: [
    ("p99>25ms", 25.0, false), ("p99>25ms", 25.1, true), ("p99>=25ms", 25, true), ("rate<100", 100, false),
    ("rate<100", 99, true), ("rate<=100", 100, true),
  ])
  func `a condition holds or not`(_ text: String, value: Double, isMet: Bool) throws {
    #expect(try Threshold(text).isMet(by: value) == isMet)
  }

  @Test func `a figure that was not measured fails its condition`() throws {
    #expect(try Threshold("memory>32KiB").isMet(by: nil))
  }

  @Test func `latency is that to the device, and to the answer where nothing is delivered`() {
    var result = BenchSamples.result
    #expect(Metric.p99.value(in: result) == 9)
    #expect(Metric.rate.value(in: result) == 990)
    result.deliveryLatency = nil
    #expect(Metric.p99.value(in: result) == 5)
    #expect(Metric.rate.value(in: result) == 1000)
  }
}
