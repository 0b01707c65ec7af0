import PushCore
import PushTesting
import Testing

@Suite struct TimeSpanTests {
  @Test(arguments: [
    ("0s", 0.0), ("0", 0), ("250ms", 0.25), ("0.5", 0.5), ("0.25s", 0.25), ("30s", 30), ("10m", 600), ("2h", 7200),
    ("7d", 604_800), ("007m", 420), ("3650d", TimeSpan.maximumSeconds), ("315360000", TimeSpan.maximumSeconds),
  ])
  func `a time is a number with a unit, or of seconds`(_ text: String, _ seconds: Double) throws {
    let span = try #require(TimeSpan(text))
    #expect(span.seconds == seconds)
    #expect(span.duration == .seconds(seconds))
  }

  @Test(arguments: [
    "", "s", "ms", "soon", "-1", "-5m", "+5m", "1e3", "1e300", "0x10", "nan", "inf", "infs", "infinity", "1.2.3", ".",
    "5 m", " 5m", "5m ", "5M", "5w", "٣s", "1_000s", "315360001", "3651d", "87601h", "9223372036854775807",
    "-9223372036854775808", "9223372036854775808s", "99999999999999999999s", "9223372036854775807d",
    "106751991168d", String(repeating: "9", count: 400) + "ms",
  ])
  func `nothing else is a time, and none is longer than ten years`(_ text: String) {
    #expect(TimeSpan(text) == nil)
    #expect(TimeSpan(text, requiresUnit: true) == nil)
  }

  @Test(
    arguments: [
      (0, "0s"), (59, "59s"), (60, "1m"), (90, "1m 30s"), (3600, "1h"), (3659, "1h"), (86_400, "24h"),
      (94_200, "26h 10m"), (172_800, "2d"), (604_800, "7d"), (180_000, "2d 2h"),
    ] as [(Int64, String)])
  func `a time is written in its two largest units`(_ seconds: Int64, _ text: String) {
    #expect(TimeSpan.text(seconds: seconds) == text)
  }

  @Test func `where a unit is required a number alone is no time`() {
    #expect(TimeSpan("10", requiresUnit: true) == nil)
    #expect(TimeSpan("10s", requiresUnit: true)?.seconds == 10)
  }
}
