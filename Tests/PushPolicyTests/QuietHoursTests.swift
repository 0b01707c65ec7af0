import PushPolicy
import Testing

/// Returns a time in Berlin in 2026: UTC+1, and UTC+2 from March 29, 01:00 UTC to October 25, 01:00 UTC.
func berlin(_ day: Int, _ month: Int, _ hour: Int, _ minute: Int = 0, second: Int = 0) -> ZonedTime {
  let daysBefore = [0, 31, 59, 90, 120, 151, 181, 212, 243, 273, 304, 334][month - 1]
  let seconds = 1_767_225_600 + Int64((daysBefore + day - 1) * 86_400 + hour * 3600 + minute * 60 + second)
  return ZonedTime(seconds: seconds) { zone, seconds in
    guard zone == "Europe/Berlin" else { return 0 }
    return seconds >= 1_774_746_000 && seconds < 1_792_890_000 ? 7200 : 3600
  }
}

@Suite struct QuietHoursTests {
  func isQuiet(_ window: String, _ moment: ZonedTime) -> Bool { QuietWindow(window)!.contains(moment) }

  @Test(arguments: [
    ("13:00-14:00", 12, 59, false), ("13:00-14:00", 13, 0, true), ("13:00-14:00", 13, 59, true),
    ("13:00-14:00", 14, 0, false), ("22:00-07:00", 21, 59, false), ("22:00-07:00", 22, 0, true),
    ("22:00-07:00", 0, 0, true), ("22:00-07:00", 6, 59, true), ("22:00-07:00", 7, 0, false),
    ("09:00-09:00", 8, 59, true), ("09:00-09:00", 9, 0, true),
  ])
  func `a window holds from its first minute to before its last, also across midnight`(
    _ window: String, _ hour: Int, _ minute: Int, _ isExpected: Bool
  ) {
    #expect(isQuiet(window, berlin(5, 1, hour, minute)) == isExpected)
  }

  @Test(arguments: [
    // January 5, 2026 is a Monday.
    ("22:00-07:00 mon", 5, 23, true), ("22:00-07:00 mon", 6, 6, true), ("22:00-07:00 mon", 5, 6, false),
    ("22:00-07:00 mon", 6, 23, false), ("09:00-17:00 mon-fri", 9, 12, true), ("09:00-17:00 mon-fri", 10, 12, false),
    ("09:00-17:00 sat,sun", 11, 12, true), ("09:00-17:00 fri-mon", 12, 12, true),
    ("09:00-17:00 fri-mon", 13, 12, false),
    ("09:00-17:00 daily", 7, 12, true),
  ])
  func `a window's days are those on which it begins`(_ window: String, _ day: Int, _ hour: Int, _ isExpected: Bool) {
    #expect(isQuiet(window, berlin(day, 1, hour)) == isExpected)
  }

  @Test func `a window is of its own time zone`() {
    #expect(isQuiet("22:00-07:00 Europe/Berlin", berlin(5, 1, 21)), "22:00 in Berlin")
    #expect(!isQuiet("22:00-07:00 Europe/Berlin", berlin(5, 1, 6)), "07:00 in Berlin")
    #expect(!isQuiet("22:00-07:00", berlin(5, 1, 21)))
  }

  @Test func `when clocks change a window still begins and ends by the clock`() {
    let window = "02:30-03:30 Europe/Berlin"
    // In spring 02:00 becomes 03:00, so half an hour of the window remains.
    #expect(!isQuiet(window, berlin(29, 3, 0, 59)))
    #expect(isQuiet(window, berlin(29, 3, 1, 0)))
    #expect(isQuiet(window, berlin(29, 3, 1, 29)))
    #expect(!isQuiet(window, berlin(29, 3, 1, 30)))
    // In autumn 03:00 becomes 02:00, so the hour occurs twice.
    #expect(isQuiet(window, berlin(25, 10, 0, 30)))
    #expect(!isQuiet(window, berlin(25, 10, 1, 0)))
    #expect(isQuiet(window, berlin(25, 10, 1, 30)))
    #expect(!isQuiet(window, berlin(25, 10, 2, 30)))
    let night = "22:00-07:00 Europe/Berlin"
    #expect(isQuiet(night, berlin(29, 3, 4, 59)) && !isQuiet(night, berlin(29, 3, 5, 0)), "07:00 is an hour earlier")
  }

  @Test(arguments: [
    ("08:00,18:00", berlin(5, 1, 7), berlin(5, 1, 8)), ("08:00,18:00", berlin(5, 1, 8), berlin(5, 1, 18)),
    ("08:00,18:00", berlin(5, 1, 18), berlin(6, 1, 8)), ("00:00", berlin(5, 1, 0), berlin(6, 1, 0)),
    ("08:00 Europe/Berlin", berlin(5, 1, 6, 59), berlin(5, 1, 7)),
    ("08:00 Europe/Berlin", berlin(28, 3, 7), berlin(29, 3, 6)),
    ("08:00 Europe/Berlin", berlin(24, 10, 6), berlin(25, 10, 7)),
    // A skipped time is due when the clocks have changed. A time that occurs twice is due once.
    ("02:30 Europe/Berlin", berlin(28, 3, 12), berlin(29, 3, 1)),
    ("02:30 Europe/Berlin", berlin(24, 10, 12), berlin(25, 10, 0, 30)),
    ("02:30 Europe/Berlin", berlin(25, 10, 0, 30), berlin(26, 10, 1, 30)),
  ])
  func `a summary comes at the next of its times`(_ times: String, _ moment: ZonedTime, _ due: ZonedTime) throws {
    #expect(try #require(SummaryTimes(times)).due(after: moment) == due.seconds)
  }

  @Test(arguments: [
    "22:00-07:00", "22:00-07:00 mon,tue,wed,thu,fri Europe/Berlin", "00:00-23:59 sat,sun", "13:05-13:06 Asia/Shanghai",
    "22:00-07:00 Etc/GMT+5", "22:00-07:00 UTC",
  ])
  func `a window is written as it is read`(_ text: String) throws {
    #expect(try #require(QuietWindow(text)).description == text)
  }

  @Test(arguments: [
    "", " ", "22:00", "22-07", "22:00-24:00", "22:60-07:00", "22:00-07:00 monday", "22:00-07:00 mon-",
    "22:00-07:00 mon,,tue",
    "22:00-07:00 mon-fri-sun", "22:00-07:00 mon Europe/Berlin now", "22:00-07:00 Europe/Ber lin", "-1:00-07:00",
    "22:00-07:00 mon daily", "22:00–07:00", "٢٢:00-07:00", "22:00-07:00 ../etc",
  ])
  func `what is no window is none`(_ text: String) { #expect(QuietWindow(text) == nil) }

  @Test(arguments: [
    "", "8", "08:00,", "24:00", "08:00 18:00", "08:00,08:0", String(repeating: "08:00,", count: 12) + "08:00",
  ])
  func `what are no times of a summary are none`(_ text: String) { #expect(SummaryTimes(text) == nil) }
}
