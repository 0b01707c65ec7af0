import Foundation
import Testing

@testable import pushcli

@Suite struct PolicyCommandTests {
  private let now = Date(timeIntervalSince1970: 1_700_000_000)

  @Test(arguments: [
    ("1970-01-01T00:00:00Z", 0), ("2026-11-21T23:30:00+01:00", 1_795_300_200),
    ("9999-12-31T23:59:59Z", 253_402_300_799),
  ])
  func `a time is read as it is written`(_ text: String, _ seconds: Int) throws {
    #expect(Int(try ExplainedTime.seconds(text, now: now)) == seconds)
  }

  @Test(arguments: [
    "", "soon", "24:00", "23:60", "-1:00", "9223372036854775807:00", "99999999999999999999:0", "9223372036854775807",
    "1969-12-31T23:59:59Z", "0000-01-01T00:00:00Z", "10000-01-01T00:00:00Z", "999999-01-01T00:00:00Z",
    "9223372036854775807-01-01T00:00:00Z", "-9223372036854775808-01-01T00:00:00Z", "2026-99-99T99:99:99Z",
  ])
  func `a time out of all calendars is wrong usage`(_ text: String) {
    #expect { try ExplainedTime.seconds(text, now: now) } throws: { ($0 as? CommandFailure)?.exit == .usage }
  }
}
