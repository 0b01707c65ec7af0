/// The available resources of a cluster and the costs that the simulation doesn't measure. The costs come from
/// `bench/cell`, as docs/cluster/capacity.md reports them.
enum Capacity {
  /// Pushes per second at peak load.
  static let pushes = 10_000.0
  /// Processor time of one gateway, in milliseconds per second.
  static let gatewayProcessor = 1_000.0
  /// Processor time of all three brokers together, in milliseconds per second: one core for each broker.
  static let brokerProcessor = 3_000.0
  /// Memory of one gateway, in gigabytes.
  static let gatewayMemory = 8.0
  /// The maximum duration of a start or of a recovery, in seconds.
  static let recoveryTime = 60.0

  // MARK: Measured on real gateways and brokers

  /// Processor time for one push in microseconds: of the gateways, with HTTP/2 and TLS, and of the brokers.
  static let (gatewayPush, brokerPush) = (151.0, 221.0)
  /// Memory of one connected device at its gateway, in kilobytes.
  static let device = 34.0
  /// Processor time of the brokers for a look at one mailbox, in microseconds. A look covers 625 mailboxes, of which
  /// one in ten has a push. Measured with `cell-scale looks` on two cores: three brokers, 100,000 mailboxes.
  static let brokerLook = 3.2
}
