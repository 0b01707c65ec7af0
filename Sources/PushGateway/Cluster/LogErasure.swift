import PushCore
import PushStorage

/// A request to erase the rows or texts of devices from a delivery log.
struct LogErasure: Codable, Sendable {
  /// Row numbers in the storage that all gateways share.
  var devices: [Int64]
  var onlyTexts: Bool

  static let name = "log-erase"
  /// The time that another gateway may take: it scans its whole log.
  static let timeout = Duration.seconds(30)

  func apply(to log: DeliveryLog) async throws {
    let devices = Set(self.devices.map { DeviceID(row: $0) })
    try await onlyTexts ? log.eraseTexts(of: devices) : log.erase(devices)
  }
}
