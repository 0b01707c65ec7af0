import Foundation
import Testing

@testable import pushcli

@Suite struct LocalTimeTests {
  @Test(arguments: [
    ("Europe/Berlin", "2026-11-21T23:03:09.123Z", "2026-11-22 00:03:09.123"),
    ("Europe/Berlin", "2026-07-21T12:00:00.000Z", "2026-07-21 14:00:00.000"),
    ("America/New_York", "2026-11-21T03:03:09.999Z", "2026-11-20 22:03:09.999"),
    ("Etc/UTC", "2026-11-21T03:03:09.001Z", "2026-11-21 03:03:09.001"), ("Etc/UTC", "yesterday", "yesterday"),
  ])
  func `a time of the gateway is shown by the clock on the wall`(_ zone: String, _ utc: String, _ local: String) throws
  {
    #expect(LocalTime.text(utc, in: try #require(TimeZone(identifier: zone))) == local)
  }
}
