/// The state of a device's attempts to connect.
struct DeviceAttempts {
  /// The pauses between attempts. A restarted gateway is available within seconds, and the device has to
  /// reconnect soon.
  var backoff = Backoff(first: .milliseconds(500), last: .seconds(15))
  /// True if the gateway ended the stream because the device's secret was revoked.
  var isRevoked = false
  private(set) var wasConnected = false
  /// The number of remaining attempts after gateways refused the secret.
  private var left = 0

  /// Resets the state after a gateway has welcomed the device.
  mutating func noteConnected() {
    backoff.reset()
    (left, wasConnected) = (0, true)
  }

  /// Allows ``DeviceSession/revokedAttempts`` more attempts: a process that replaced the secret may not have
  /// stored it yet.
  mutating func noteRevoked() { (isRevoked, left) = (true, DeviceSession.revokedAttempts) }

  /// Counts an attempt in which no gateway accepted the secret.
  ///
  /// - Returns: true if no further attempt is allowed.
  mutating func isLastRefusal() -> Bool {
    left -= 1
    return left <= 0
  }
}
