import PushCore

/// How long pushes took from one step of their way to the next, as one loop knows it.
final class LatencyHistograms: Sendable {
  /// From the beginning of the turn in which the whole request was there until it is answered: pushes that are stored.
  let accept = LatencyHistograms.histogram()
  /// From the request until the push is written to a device's stream, for devices that were connected.
  let transmit = LatencyHistograms.histogram()
  /// The same for pushes that waited in the mailbox.
  let transmitStored = LatencyHistograms.histogram()
  /// From there until the device has acknowledged it.
  let acknowledge = LatencyHistograms.histogram()
  /// From there until the device says what it has shown of it.
  let present = LatencyHistograms.histogram()

  /// A push is written to a stream.
  ///
  /// - Parameters:
  ///   - received: when its request came, and `now`, in milliseconds since 1970.
  ///   - isStored: whether it had waited for the device.
  func transmit(received: Int64, at now: Int64, isStored: Bool) {
    // What is stored may be damaged: no time is longer than a push waits.
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

/// A time in milliseconds since 1970 in four bytes, from which shorter times than 24 days are told.
struct ShortTime: Sendable, Equatable {
  private let bits: UInt32

  /// None is known.
  static let unknown = ShortTime(bits: 0)

  init(_ milliseconds: Int64) { bits = UInt32(truncatingIfNeeded: milliseconds) | 1 }

  private init(bits: UInt32) { self.bits = bits }

  /// Nanoseconds from then until `now`, in milliseconds since 1970, to two milliseconds; nil where it is not known when
  /// that was.
  func nanoseconds(until now: Int64) -> Int64? {
    if bits == 0 { return nil }
    let passed = Int32(bitPattern: UInt32(truncatingIfNeeded: now) &- bits)
    // A clock that was set back says nothing; nor does the last bit.
    return Int64(max(0, passed)) * 1_000_000
  }
}
