/// How large the cell is that is simulated.
struct ScaleSize: Sendable {
  var gateways = 10
  var devices = 1_000_000
  /// How many pushes are sent to connected devices.
  var pushes = 100_000
  /// How many changes go through the cell's log.
  var changes = 2_000
  var partitions = 16
  /// How many devices are connected at a time.
  var wave = 2_000

  /// What tests run.
  static let small = ScaleSize(gateways: 3, devices: 1_500, pushes: 600, changes: 50, wave: 200)

  /// Devices of the gateway with this number.
  func devices(of gateway: Int) -> Range<Int> {
    let share = devices / gateways
    return gateway * share..<(gateway == gateways - 1 ? devices : (gateway + 1) * share)
  }
}
