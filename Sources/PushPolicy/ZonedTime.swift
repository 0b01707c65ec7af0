/// A time with the rules of time zones, from which the local times follow. All decisions get both as an argument.
package struct ZonedTime: Sendable {
  /// Seconds since 1970, UTC.
  package var seconds: Int64
  /// Returns the offset of a time zone from UTC at a time, in seconds to the east; `nil` is the gateway's own zone.
  package var offset: @Sendable (_ zone: String?, _ seconds: Int64) -> Int

  package init(seconds: Int64, offset: @escaping @Sendable (_ zone: String?, _ seconds: Int64) -> Int) {
    self.seconds = seconds
    self.offset = offset
  }

  /// Returns a time for which all zones are UTC.
  package static func utc(_ seconds: Int64) -> ZonedTime { ZonedTime(seconds: seconds) { _, _ in 0 } }

  /// Returns the local time in `zone`: the day of the week, 0 for Monday, and the minute of the day.
  func wallClock(in zone: String?) -> (day: Int, minute: Int) {
    let (local, _) = seconds.addingReportingOverflow(Int64(offset(zone, seconds)))
    let minutes = local.floored(by: 60)
    let days = minutes.floored(by: 1440)
    // 1 January 1970 was a Thursday.
    return (Int((days % 7 + 7 + 3) % 7), Int(minutes - days * 1440))
  }

  /// Returns the first time after this one at which the local time in `zone` is one of `minutes`; `nil` if there are
  /// none.
  ///
  /// A local time that a change of the clocks skips is replaced by the time of the change; a repeated one counts
  /// once.
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

  /// Returns the first time at which the local time in `zone` is `local`, in seconds since 1970 of that local time.
  private func moment(when local: Int64, in zone: String?) -> Int64 {
    let (before, after) = (Int64(offset(zone, local - 86_400)), Int64(offset(zone, local + 86_400)))
    let first = local - max(before, after)
    if before == after || first + Int64(offset(zone, first)) == local { return first }
    let second = local - min(before, after)
    if second + Int64(offset(zone, second)) == local { return second }
    // The clocks skip this local time: the time of the change is between the two.
    var (low, high) = (first, second)
    while high - low > 1 {
      let middle = low + (high - low) / 2
      if Int64(offset(zone, middle)) == before { low = middle } else { high = middle }
    }
    return high
  }
}

extension Int64 {
  /// Returns this number divided by a positive number, rounded down.
  fileprivate func floored(by divisor: Int64) -> Int64 {
    let quotient = self / divisor
    return self % divisor < 0 ? quotient - 1 : quotient
  }
}
