/// What there is to use, and what of it was measured elsewhere: docs/cluster.md has it from `bench/cell`.
enum Capacity {
  /// Pushes a second at the peak.
  static let pushes = 10_000.0
  /// Milliseconds of a processor in a second that each gateway has.
  static let gatewayProcessor = 1_000.0
  /// And all three brokers together: a core each.
  static let brokerProcessor = 3_000.0
  /// Gigabytes of each gateway.
  static let gatewayMemory = 8.0
  /// Seconds that a start, or coming back, may take.
  static let patience = 60.0

  // MARK: Measured on real gateways and brokers

  /// Microseconds of the gateways' processors for a push, with HTTP/2 and TLS, and of the brokers'.
  static let (gatewayPush, brokerPush) = (151.0, 221.0)
  /// Kilobytes of a device that is connected, at its gateway.
  static let device = 34.0
  /// Microseconds of the brokers' processors for a look at a mailbox of 625 that are looked at together, one of ten of which
  /// has a push: three brokers, 100,000 of them by `cell-scale looks`, on two cores.
  static let brokerLook = 3.2
}
