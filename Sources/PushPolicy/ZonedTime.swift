/// A moment, and what clocks on the wall show then: the time and the time zones' rules are arguments of every decision.
package struct ZonedTime: Sendable {
  /// Seconds since 1970, UTC.
  package var seconds: Int64
  /// How many seconds east of UTC the named time zone is at a moment; `nil` is the gateway's own zone.
  package var offset: @Sendable (_ zone: String?, _ seconds: Int64) -> Int

  package init(seconds: Int64, offset: @escaping @Sendable (_ zone: String?, _ seconds: Int64) -> Int) {
    self.seconds = seconds
    self.offset = offset
  }

  /// A moment where every zone is UTC.
  package static func utc(_ seconds: Int64) -> ZonedTime { ZonedTime(seconds: seconds) { _, _ in 0 } }

  /// The day of the week, 0 for Monday, and the minute of the day that a clock in `zone` shows.
  func wallClock(in zone: String?) -> (day: Int, minute: Int) {
    let (local, _) = seconds.addingReportingOverflow(Int64(offset(zone, seconds)))
    let minutes = local.floored(by: 60)
    let days = minutes.floored(by: 1440)
    // 1 January 1970 was a Thursday.
    return (Int((days % 7 + 7 + 3) % 7), Int(minutes - days * 1440))
  }

  /// The first moment after this one when a clock in `zone` shows one of `minutes`; `nil` when there are none.
  ///
  /// A time that a change of the clocks skips comes when they have been changed; one that it repeats comes once.
  func next(of minutes: [Int], in zone: String?) -> Int64? {
    let today = (seconds + Int64(offset(zone, seconds))).floored(by: 86_400)
    var earliest: Int64?
    for day in today...(today + 1) {
      for minute in minutes {
        let moment = moment(when: day * 86_400 + Int64(minute) * 60, in: zone)
        if moment > seconds, moment < earliest ?? .max { earliest = moment }
      }
    }
    return earliest
  }

  /// The first moment when a clock in `zone` shows `local`, in seconds since 1970 by that clock.
  private func moment(when local: Int64, in zone: String?) -> Int64 {
    let (before, after) = (Int64(offset(zone, local - 86_400)), Int64(offset(zone, local + 86_400)))
    let first = local - max(before, after)
    if before == after || first + Int64(offset(zone, first)) == local { return first }
    let second = local - min(before, after)
    if second + Int64(offset(zone, second)) == local { return second }
    // The clocks skip it: the moment of the change lies between the two.
    var (low, high) = (first, second)
    while high - low > 1 {
      let middle = low + (high - low) / 2
      if Int64(offset(zone, middle)) == before { low = middle } else { high = middle }
    }
    return high
  }
}

extension Int64 {
  /// This divided by a positive number, rounded down.
  fileprivate func floored(by divisor: Int64) -> Int64 {
    let quotient = self / divisor
    return self % divisor < 0 ? quotient - 1 : quotient
  }
}
