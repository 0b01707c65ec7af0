import Foundation
import Testing

@testable import pushcli

@Suite struct DeliveryTimeTests {
  /// Sunday, March 29, 2026, 00:30 in Berlin. The clocks change from 2:00 to 3:00 that night.
  private static let now = Date(timeIntervalSince1970: 1_774_740_600)
  private static let berlin = TimeZone(identifier: "Europe/Berlin")!

  @Test(
    arguments: [
      // The next occurrence of a time of day, in the sender's time zone.
      ("18:00", "2026-03-29 18:00:00 +02:00 (Europe/Berlin)"), ("00:29", "2026-03-30 00:29:00 +02:00 (Europe/Berlin)"),
      ("1:59", "2026-03-29 01:59:00 +01:00 (Europe/Berlin)"), ("02:30", "2026-03-29 03:00:00 +02:00 (Europe/Berlin)"),
      ("18:00:30 Asia/Kolkata", "2026-03-29 18:00:30 +05:30 (Asia/Kolkata)"), ("18:00Z", "2026-03-29 18:00:00 +00:00"),
      ("2026-11-23T18:00", "2026-11-23 18:00:00 +01:00 (Europe/Berlin)"),
      ("2026-11-23T18:00+01:00", "2026-11-23 18:00:00 +01:00"),
      ("2026-11-23 18:00 America/New_York", "2026-11-23 18:00:00 -05:00 (America/New_York)"),
      ("2026-11-23T18:00:15-0330", "2026-11-23 18:00:15 -03:30"),
    ])
  func `a time is read in its own zone, or the sender's, and said with it`(_ text: String, _ words: String) throws {
    #expect(try DeliveryTime(at: text, now: Self.now, zone: Self.berlin).words == words)
  }

  @Test(arguments: [
    "", "soon", "6pm", "24:00", "18:60", "18", "2026-02-30T10:00", "2026-13-01T10:00", "18:00 Mars/Olympus",
    "18:00+99:00",
    "2026-11-23", "١٨:٠٠", "18:00 Europe/Berlin x", "-1:00", "9223372036854775807:00", "99999999999999999999:0",
    "9223372036854775807", "1969-12-31T23:59:59Z", "0000-01-01T00:00:00Z", "10000-01-01T00:00:00Z",
    "9223372036854775807-01-01T00:00:00Z", "-9223372036854775808-01-01T00:00:00Z", "2026-99-99T99:99:99Z",
  ])
  func `anything else is an error that says what to write`(_ text: String) {
    let failure = #expect(throws: CommandFailure.self) {
      try DeliveryTime(at: text, now: Self.now, zone: Self.berlin)
    }
    #expect(failure?.exit == .usage)
    #expect(failure?.description.hasPrefix("--at is \"\(text)\": expected a time as 18:00") == true)
  }

  @Test(arguments: [("1970-01-01T00:00:00Z", 0), ("9999-12-31T23:59:59Z", 253_402_300_799)] as [(String, Int64)])
  func `the first and the last time of the calendar are read`(_ text: String, _ seconds: Int64) throws {
    #expect(try DeliveryTime(at: text, now: Self.now, zone: Self.berlin).seconds == seconds)
  }

  @Test func `a span counts from now`() throws {
    let time = try DeliveryTime(in: "90m", now: Self.now, zone: Self.berlin)
    #expect(time.words == "2026-03-29 03:00:00 +02:00 (Europe/Berlin)")
    #expect(try DeliveryTime(in: "250ms", now: Self.now).seconds == 1_774_740_601)
    #expect(throws: CommandFailure.self) { try DeliveryTime(in: "10", now: Self.now) }
  }
}
