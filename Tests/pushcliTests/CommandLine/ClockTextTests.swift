import Foundation
import Testing

@testable import pushcli

@Suite struct ClockTextTests {
  private let clock = ClockText(timeZone: TimeZone(secondsFromGMT: 0)!)

  @Test(arguments: [
    (0, "1 Jan"), (951_782_399, "28 Feb"), (951_782_400, "29 Feb"), (951_868_800, "1 Mar"), (1_709_164_800, "29 Feb"),
    (1_735_689_599, "31 Dec"), (1_735_689_600, "1 Jan"), (4_107_542_400, "1 Mar"),
  ])
  func `a day is the day of the calendar`(_ seconds: Int, _ day: String) {
    #expect(clock.day(Date(timeIntervalSince1970: TimeInterval(seconds))) == day)
  }

  @Test func `the day is told when it is not today`() {
    #expect(clock.moment(Sample.now - 120, now: Sample.now) == "14:03")
    #expect(clock.moment(Sample.now - 86_400, now: Sample.now) == "13 Nov 14:05")
  }

  @Test func `times are those of the time zone`() {
    let auckland = ClockText(timeZone: TimeZone(secondsFromGMT: 13 * 3_600)!)
    #expect(auckland.timeWithSeconds(Sample.now) == "03:05:00")
    #expect(auckland.day(Sample.now) == "15 Nov")
  }

  @Test func `no date breaks it`() {
    let berlin = ClockText(timeZone: TimeZone(identifier: "Europe/Berlin")!)
    let seconds: [Double] = [.infinity, -.infinity, .nan, .greatestFiniteMagnitude, -1e300, 9.3e18, -9.3e18]
    for date in [Date.distantPast, .distantFuture] + seconds.map({ Date(timeIntervalSince1970: $0) }) {
      for clock in [clock, berlin] {
        #expect(clock.timeWithSeconds(date).count == 8)
        #expect(!clock.day(date).isEmpty)
      }
    }
  }
}
