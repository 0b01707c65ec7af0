import Foundation
import Testing

@testable import PushCore

@Suite struct TimestampTests {
  @Test(
    arguments: [
      (0, "1970-01-01T00:00:00.000Z"), (1, "1970-01-01T00:00:00.001Z"), (-5, "1970-01-01T00:00:00.000Z"),
      (951_782_399_999, "2000-02-28T23:59:59.999Z"), (951_782_400_000, "2000-02-29T00:00:00.000Z"),
      (951_868_800_000, "2000-03-01T00:00:00.000Z"), (978_220_800_000, "2000-12-31T00:00:00.000Z"),
      (1_078_012_800_000, "2004-02-29T00:00:00.000Z"), (1_454_948_015_990, "2016-02-08T16:13:35.990Z"),
      (1_709_164_800_000, "2024-02-29T00:00:00.000Z"), (1_740_787_199_000, "2025-02-28T23:59:59.000Z"),
      (1_740_787_200_000, "2025-03-01T00:00:00.000Z"), (1_800_000_000_000, "2027-01-15T08:00:00.000Z"),
      (4_107_542_399_999, "2100-02-28T23:59:59.999Z"), (4_107_542_400_000, "2100-03-01T00:00:00.000Z"),
      (253_402_300_799_999, "9999-12-31T23:59:59.999Z"), (.max, "9999-12-31T23:59:59.999Z"),
      (.min, "1970-01-01T00:00:00.000Z"),
    ] as [(Int64, String)])
  func `a time is written as RFC 3339`(_ milliseconds: Int64, _ text: String) {
    #expect(Timestamp.text(milliseconds) == text)
    let seconds = String(text.prefix(19)) + "Z"
    #expect(Timestamp.text(milliseconds, .seconds) == seconds)
    #expect(Timestamp.text(milliseconds, .compact) == seconds.replacing("-", with: "").replacing(":", with: ""))
    #expect(Timestamp.read(text.utf8) == max(0, min(milliseconds, 253_402_300_799_999)))
  }

  @Test func `seconds and dates have the same range`() {
    #expect(Timestamp.text(seconds: 1_800_000_000) == "2027-01-15T08:00:00.000Z")
    #expect(Timestamp.text(seconds: .max, .compact) == "99991231T235959Z")
    #expect(Timestamp.text(seconds: .min, .seconds) == "1970-01-01T00:00:00Z")
    for (seconds, text) in [
      (1_800_000_000.123, "2027-01-15T08:00:00.123Z"), (-.infinity, "1970-01-01T00:00:00.000Z"),
      (.nan, "1970-01-01T00:00:00.000Z"), (.infinity, "9999-12-31T23:59:59.000Z"),
    ] as [(Double, String)] {
      #expect(Timestamp.text(Date(timeIntervalSince1970: seconds), .milliseconds) == text)
    }
  }

  @Test(arguments: ["2000-02-29T00:00:00.000Z", "1999-12-31T23:59:59.999Z", "2026-03-01T12:00:00.001Z"])
  func `a time is read as Foundation reads it`(_ text: String) throws {
    let expected = try Date(text, strategy: Date.ISO8601FormatStyle(includingFractionalSeconds: true))
    let milliseconds = try #require(Timestamp.read(text.utf8))
    #expect(abs(Double(milliseconds) / 1000 - expected.timeIntervalSince1970) < 0.000_5)
    #expect(Timestamp.read(text.dropLast().utf8) == nil)
  }

  @Test func `a time is read in its own form only`() {
    for form in Timestamp.Form.allCases {
      let text = Timestamp.text(1_800_000_000_000, form)
      let read = Timestamp.Form.allCases.map { Timestamp.read(text.utf8, $0) }
      let expected: [Int64?] = Timestamp.Form.allCases.map { $0 == form ? 1_800_000_000_000 : nil }
      #expect(read == expected)
    }
    #expect(Timestamp.read("20261323T020000Z".utf8, .compact) == nil)
    #expect(Timestamp.read("2026112xT020000Z".utf8, .compact) == nil)
  }

  @Test(arguments: [
    "2026-01-99T00:00:00.000Z", "2026-01-00T00:00:00.000Z", "2026-01-32T00:00:00.000Z", "2026-04-31T00:00:00.000Z",
    "2026-02-29T00:00:00.000Z", "1900-02-29T00:00:00.000Z", "2026-00-01T00:00:00.000Z", "2026-13-01T00:00:00.000Z",
    "2026-01-01T75:00:00.000Z", "2026-01-01T24:00:00.000Z", "2026-01-01T00:60:00.000Z", "2026-01-01T00:00:60.000Z",
    "2026/01/01T00:00:00.000Z", "2026-01-01 00:00:00.000Z", "2026-01-01T00:00:00,000Z", "2026-01-01T00:00:0x.000Z",
  ])
  func `a day or a time that does not exist is not read`(_ text: String) {
    #expect(Timestamp.read(text.utf8) == nil)
    #expect(Timestamp.read(text.replacing(".000Z", with: "Z").utf8, .seconds) == nil)
  }

  @Test func `each day of four centuries is converted and back`() {
    #expect((0..<146_097).allSatisfy { CivilDate(days: $0).days == $0 })
  }
}
