import Testing

@testable import pushcli

@Suite struct BenchTests {
  @Test func `a rate and a ramp are read`() {
    #expect(Bench.Rate(argument: "max") == .max)
    #expect(Bench.Rate(argument: "0.001") == .number(0.001))
    #expect(Bench.Rate(argument: "10000000") == .number(10_000_000))
    #expect(Bench.Ramp(argument: "1000:20000")?.to == 20_000)
  }

  @Test(arguments: [
    "", "0", "-1", "1e-300", "0.0009", "10000001", "1e300", "nan", "inf", "-inf", "9223372036854775808", "fast",
  ])
  func `no other rate is taken, and no ramp from it or to it`(_ text: String) {
    #expect(Bench.Rate(argument: text) == nil)
    #expect(Bench.Ramp(argument: text + ":100") == nil)
    #expect(Bench.Ramp(argument: "100:" + text) == nil)
  }
}
