import Foundation
import GatewayProtocol
import PushCore
import Testing

@testable import pushcli

@Suite struct LocalTimestampTests {
  @Test(arguments: [
    ("Europe/Berlin", "2026-11-21T23:03:09.123Z", "2026-11-22 00:03:09.123+01:00"),
    ("Europe/Berlin", "2026-07-21T12:00:00.000Z", "2026-07-21 14:00:00.000+02:00"),
    ("America/New_York", "2026-11-21T03:03:09.999Z", "2026-11-20 22:03:09.999-05:00"),
    ("Etc/UTC", "2026-11-21T03:03:09.001Z", "2026-11-21 03:03:09.001+00:00"), ("Etc/UTC", "yesterday", "yesterday"),
    ("Asia/Kolkata", "2026-11-21T03:03:09.001Z", "2026-11-21 08:33:09.001+05:30"),
    ("America/St_Johns", "2026-11-21T03:03:09.001Z", "2026-11-20 23:33:09.001-03:30"),
  ])
  func `a time of the gateway is shown by the clock on the wall, with its zone`(
    _ zone: String, _ utc: String, _ local: String
  ) throws {
    #expect(Timestamp.local(utc, in: try #require(TimeZone(identifier: zone))) == local)
  }
}
