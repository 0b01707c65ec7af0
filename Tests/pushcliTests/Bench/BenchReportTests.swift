import Foundation
import Testing

@testable import LoadTest
@testable import pushcli

@Suite struct BenchReportTests {
  @Test func `a good result is printed as a page`() {
    #expect(
      BenchSamples.report().lines.joined(separator: "\n") == """
        Gateway          its own at 127.0.0.1:2197; durability full; on ext4; pinned: gateway to core 0, load to core 1
        Workload         10 devices, 4 providers × 100 streams, 200 bytes, flat out
        Accepted         2,000   1,000/s   refused 10 (10 × 429 TooManyRequests)
        Delivered        2,000   990/s   lost 0, duplicated 0, reordered 0
        Latency, ms            p50      p90      p99    p99.9      max
          to the answer       1.00     2.00     5.00     6.00     7.00
          to the device       2.00     3.00     9.00    11.00    12.35
        Gateway CPU      97 % of a core, 2.50 s per 100,000 pushes
        Gateway memory   64.0 MiB at the end, 40,000 bytes for each idle stream
        Load side        40 % of a core
        """)
  }

  @Test func `the time of the enrollments has the spelling of other keys`() {
    #expect(LoadResult.CodingKeys.enrollSeconds.stringValue == "enroll_seconds")
  }

  @Test func `a generator that was the limit is named as that`() {
    var result = BenchSamples.result
    result.isLoadSaturated = true
    #expect(BenchSamples.report(result).lines.contains { $0.contains("it was the limit") })
  }

  @Test(arguments: [\LoadResult.Pushes.lost, \.duplicated, \.reordered, \.misdelivered])
  func `what must never happen fails a test that did not ask`(
    _ count: any WritableKeyPath<LoadResult.Pushes, Int> & Sendable
  ) {
    #expect(!BenchSamples.report().hasFailed)
    var result = BenchSamples.result
    result.pushes[keyPath: count] = 1
    let report = BenchSamples.report(result)
    #expect(report.hasFailed)
    #expect(report.lines.contains { $0.hasPrefix("FAILED") })
  }

  @Test func `conditions are judged and printed`() throws {
    let report = BenchSamples.report(
      BenchSamples.result, [try Threshold("p99>5ms"), try Threshold("rate<100"), try Threshold("storm>1s")])
    #expect(report.verdicts.map(\.failed) == [true, false, true])
    #expect(
      report.lines.suffix(2) == [
        "FAILED           p99>5ms: 9.00", "FAILED           storm>1s: not measured",
      ])
  }

  @Test func `JSON has everything in one object`() throws {
    let data = try JSONEncoder().encode(BenchSamples.report())
    let object = try #require(try JSONSerialization.jsonObject(with: data) as? [String: Any])
    #expect(object["accepted_per_second"] as? Double == 1000)
    #expect((object["pushes"] as? [String: Any])?["lost"] as? Int == 0)
    #expect((object["delivery_latency_ms"] as? [String: Any])?["p999"] as? Double == 11)
    #expect((object["workload"] as? [String: Any])?["payload_bytes"] as? Int == 200)
    #expect(object["failed"] as? Bool == false)
    let gateway = try #require(object["gateway_process"] as? [String: Any])
    #expect(gateway["resident_bytes_per_idle_stream"] as? Int == 40_000)
    #expect(gateway["cpu_seconds_per_100000"] as? Double == 2.5)
  }

  @Test(arguments: [(0, "0"), (999, "999"), (1000, "1,000"), (1_234_567, "1,234,567"), (-1000, "-1,000")])
  func `numbers have commas`(_ value: Int, text: String) { #expect(BenchReport.grouped(value) == text) }

  @Test func `a bar says how far a test is`() {
    let progress = LoadTest.Progress(phase: .run, share: 0.5, accepted: 1200, delivered: 1100, connected: 7)
    #expect(ProgressBar.text(progress) == "run     ████████████░░░░░░░░░░░░  accepted 1,200, delivered 1,100")
    #expect(ProgressBar.line(progress) == "run 50 %  accepted 1,200, delivered 1,100")
  }

  @Test(arguments: [("0", [0]), ("0-2", [0, 1, 2]), ("1,4-5", [1, 4, 5]), ("", []), ("2-1", [])])
  func `lists of cores are read`(_ list: String, cores: [Int]) { #expect(CorePinning.cores(list) == cores) }
}
