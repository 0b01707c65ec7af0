import PushCore

/// The times that pushes took between two steps of their delivery, as measured by one event loop.
final class LatencyHistograms: Sendable {
  /// From the start of the event-loop iteration in which the request was complete until its answer, for stored
  /// pushes.
  let accept = LatencyHistograms.histogram()
  /// From the request until the push is written to a device's stream, for devices that were connected.
  let transmit = LatencyHistograms.histogram()
  /// From the request until the push is written to a device's stream, for pushes that were pending in the mailbox.
  let transmitStored = LatencyHistograms.histogram()
  /// From the write to the stream until the device's acknowledgment.
  let acknowledge = LatencyHistograms.histogram()
  /// From the write to the stream until the device reports the presentation.
  let present = LatencyHistograms.histogram()

  /// Records that a push is written to a stream.
  ///
  /// - Parameters:
  ///   - received: the time of its request; like `now` in milliseconds since 1970.
  ///   - isStored: true if the push was pending in the mailbox.
  func transmit(received: Int64, at now: Int64, isStored: Bool) {
    // A stored time may be corrupt: no latency is longer than the maximum lifetime of a push.
    let time = max(0, min(now - received, Int64(Limits.maximumLifetime) * 1000))
    (isStored ? transmitStored : transmit).record(time * 1_000_000)
  }

  private static func histogram() -> MetricHistogram {
    .times([
      .milliseconds(1), .milliseconds(2), .milliseconds(5), .milliseconds(10), .milliseconds(25), .milliseconds(50),
      .milliseconds(100), .milliseconds(250), .milliseconds(500), .seconds(1), .milliseconds(2500), .seconds(5),
      .seconds(10), .seconds(60), .seconds(600), .seconds(3600), .seconds(86_400),
    ])
  }
}

/// A time in milliseconds since 1970, truncated to four bytes: enough to compute intervals shorter than 24 days.
struct ShortTime: Sendable, Equatable {
  private let bits: UInt32

  static let unknown = ShortTime(bits: 0)

  init(_ milliseconds: Int64) { bits = UInt32(truncatingIfNeeded: milliseconds) | 1 }

  private init(bits: UInt32) { self.bits = bits }

  /// Returns the nanoseconds from this time until `now` (milliseconds since 1970), accurate to two milliseconds; nil
  /// if the time is unknown.
  func nanoseconds(until now: Int64) -> Int64? {
    if bits == 0 { return nil }
    let passed = Int32(bitPattern: UInt32(truncatingIfNeeded: now) &- bits)
    // The result is 0 after a clock was set back. The lowest bit is always set, which costs a millisecond of
    // accuracy.
    return Int64(max(0, passed)) * 1_000_000
  }
}
