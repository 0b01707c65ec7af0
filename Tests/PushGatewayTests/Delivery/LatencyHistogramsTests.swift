import Testing

@testable import PushCore
@testable import PushGateway

@Suite struct LatencyHistogramsTests {
  static let time: Int64 = 1_800_000_000_123

  @Test(arguments: [0, 1, 2, 999, 60_000, 24 * 86_400_000] as [Int64])
  func `a time of less than 24 days is told from four bytes, to two milliseconds`(_ passed: Int64) throws {
    let told = try #require(
      ShortTime(LatencyHistogramsTests.time).nanoseconds(until: LatencyHistogramsTests.time + passed))
    #expect((passed - 1...passed + 1).contains(told / 1_000_000), "\(told)")
  }

  @Test func `a clock that was set back gives no time below nothing, and what is unknown none`() {
    let later = ShortTime(LatencyHistogramsTests.time)
    #expect(later.nanoseconds(until: LatencyHistogramsTests.time - 5_000) == 0)
    #expect(ShortTime.unknown.nanoseconds(until: LatencyHistogramsTests.time) == nil)
  }

  @Test func `a push whose row is damaged overflows nothing`() {
    let meter = LatencyHistograms()
    for received: Int64 in [.min / 2, -1, 0, .max / 2] {
      meter.transmit(received: received, at: LatencyHistogramsTests.time, isStored: true)
    }
    #expect(meter.transmitStored.snapshot.counts.reduce(0, +) == 4)
    #expect(meter.transmit.snapshot.counts.reduce(0, +) == 0)
  }
}
