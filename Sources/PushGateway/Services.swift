import Glibc

/// What the APIs of every loop share. Each part is safe to use from any thread.
struct Services: Sendable {
  let registrations: any Registrations
  let mailbox: any Mailbox
  let log: DeliveryLog
  let subscriptions: any PushRouter
  /// Pushes that wait for a digest.
  let held: HeldPushes
  let tokens: ProviderTokenCache
  /// The environment of what names none: of listeners, of devices that register.
  let environment: Environment
  /// How many pushes per second one device token takes; nil: any number.
  let rateLimit: Int?
  let clock: WallClock
  /// What a 200 promises.
  let durability: Durability
  var provider = ProviderSettings()
  let answers = AnsweredPushes()
  let conditions = DeviceConditions()
  let channels: Channels
  /// Open streams by channel.
  var liveChannels = LiveChannels()
  /// What goes wrong on purpose.
  var faults = FaultTable()

  /// What the gateway can't do now.
  var health: Health {
    Health(durability: durability, problems: [mailbox.problem, log.problem].compactMap(\.self))
  }
}

/// The time of day, as an argument, so that a test can say what it is.
struct WallClock: Sendable {
  /// Milliseconds since 1970.
  var milliseconds: @Sendable () -> Int64

  /// Seconds since 1970.
  var seconds: Int64 { milliseconds() / 1000 }

  /// The system's clock.
  static let system = WallClock {
    var time = timespec()
    unsafe clock_gettime(CLOCK_REALTIME, &time)
    return Int64(time.tv_sec) * 1000 + Int64(time.tv_nsec) / 1_000_000
  }
}

/// Writes times as RFC 3339 in UTC, with milliseconds.
func appendTimestamp(_ milliseconds: Int64, to bytes: inout [UInt8]) {
  let milliseconds = max(0, milliseconds)
  let (days, rest) = (milliseconds / 86_400_000, milliseconds % 86_400_000)
  // Days to a civil date, with years that begin in March so that the leap day comes last.
  let shifted = days + 719_468
  let era = shifted / 146_097
  let dayOfEra = shifted - era * 146_097
  let yearOfEra = (dayOfEra - dayOfEra / 1460 + dayOfEra / 36_524 - dayOfEra / 146_096) / 365
  let dayOfYear = dayOfEra - (365 * yearOfEra + yearOfEra / 4 - yearOfEra / 100)
  let monthFromMarch = (5 * dayOfYear + 2) / 153
  let month = monthFromMarch < 10 ? monthFromMarch + 3 : monthFromMarch - 9
  unsafe withUnsafeTemporaryAllocation(of: UInt8.self, capacity: 24) { text in
    func write(_ value: Int64, width: Int, at place: Int, then mark: Unicode.Scalar) {
      var rest = value
      for digit in (place..<place + width).reversed() {
        unsafe text[digit] = UInt8(ascii: "0") + UInt8(truncatingIfNeeded: rest % 10)
        rest /= 10
      }
      unsafe text[place + width] = UInt8(ascii: mark)
    }
    write(yearOfEra + era * 400 + (month <= 2 ? 1 : 0), width: 4, at: 0, then: "-")
    write(month, width: 2, at: 5, then: "-")
    write(dayOfYear - (153 * monthFromMarch + 2) / 5 + 1, width: 2, at: 8, then: "T")
    write(rest / 3_600_000, width: 2, at: 11, then: ":")
    write(rest / 60_000 % 60, width: 2, at: 14, then: ":")
    write(rest / 1000 % 60, width: 2, at: 17, then: ".")
    write(rest % 1000, width: 3, at: 20, then: "Z")
    unsafe bytes.append(contentsOf: text)
  }
}
