/// What a device's attempts to connect have come to.
struct DeviceAttempts {
  /// A gateway that starts again is back within seconds, and a device that waited for long is to find it soon.
  var backoff = Backoff(first: .milliseconds(500), last: .seconds(15))
  /// Whether the stream has ended because the device's secret was revoked.
  var isRevoked = false
  private(set) var wasConnected = false
  /// Attempts that are left when no gateway knows the device.
  private var left = 0

  /// A gateway has welcomed the device.
  mutating func noteConnected() {
    backoff.reset()
    (left, wasConnected) = (0, true)
  }

  /// Whoever has replaced the secret needs a moment to write the new one down.
  mutating func noteRevoked() { (isRevoked, left) = (true, DeviceSession.revokedAttempts) }

  /// No gateway knows the device.
  ///
  /// - Returns: whether that is to be believed.
  mutating func isLastRefusal() -> Bool {
    left -= 1
    return left <= 0
  }
}
