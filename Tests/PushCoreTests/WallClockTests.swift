import Testing

@testable import PushCore

@Suite struct ServicesTests {
  @Test(
    arguments: [
      (0, "1970-01-01T00:00:00.000Z"), (1, "1970-01-01T00:00:00.001Z"), (-5, "1970-01-01T00:00:00.000Z"),
      (951_782_399_999, "2000-02-28T23:59:59.999Z"), (951_782_400_000, "2000-02-29T00:00:00.000Z"),
      (951_868_800_000, "2000-03-01T00:00:00.000Z"), (978_220_800_000, "2000-12-31T00:00:00.000Z"),
      (1_078_012_800_000, "2004-02-29T00:00:00.000Z"), (1_454_948_015_990, "2016-02-08T16:13:35.990Z"),
      (1_709_164_800_000, "2024-02-29T00:00:00.000Z"), (1_740_787_199_000, "2025-02-28T23:59:59.000Z"),
      (1_740_787_200_000, "2025-03-01T00:00:00.000Z"), (1_800_000_000_000, "2027-01-15T08:00:00.000Z"),
      (4_107_542_399_999, "2100-02-28T23:59:59.999Z"), (4_107_542_400_000, "2100-03-01T00:00:00.000Z"),
      (253_402_300_799_999, "9999-12-31T23:59:59.999Z"),
    ] as [(Int64, String)])
  func `a time is written as RFC 3339`(_ milliseconds: Int64, _ text: String) {
    var bytes: [UInt8] = []
    appendTimestamp(milliseconds, to: &bytes)
    #expect(String(decoding: bytes, as: UTF8.self) == text)
  }

  @Test func `seconds are whole milliseconds by a thousand`() {
    #expect(WallClock { 1999 }.seconds == 1)
    #expect(WallClock.system.milliseconds() > 1_700_000_000_000)
  }
}
