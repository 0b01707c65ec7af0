/// The size of the simulated cluster.
struct ScaleSize: Sendable {
  var gateways = 10
  var devices = 1_000_000
  /// The number of pushes to connected devices.
  var pushes = 100_000
  /// The number of changes in the log of the cluster.
  var changes = 2_000
  var partitions = 16
  /// The number of devices that connect at a time.
  var wave = 2_000

  /// The size for tests.
  static let small = ScaleSize(gateways: 3, devices: 1_500, pushes: 600, changes: 50, wave: 200)

  /// Returns the numbers of the devices of one gateway.
  func devices(of gateway: Int) -> Range<Int> {
    let share = devices / gateways
    return gateway * share..<(gateway == gateways - 1 ? devices : (gateway + 1) * share)
  }
}
