import PushCore
import PushStorage

/// Erases the rows or texts of devices from the delivery logs of all reachable gateways.
///
/// An unreachable gateway keeps its rows until its retention period ends.
struct EraseLog: Sendable {
  let log: DeliveryLog
  var cell: (any GatewayCell)?

  /// The request to another gateway to erase rows or texts.
  private struct Request: Codable {
    var devices: [Int64]
    var onlyTexts: Bool
  }

  private static let name = "log-erase"
  /// The time that another gateway may take: it scans its whole log.
  private static let patience = Duration.seconds(30)

  /// Erases the rows of devices.
  func rows(of devices: Set<DeviceID>) async throws {
    try await log.erase(devices)
    await others(devices, onlyTexts: false)
  }

  /// Erases the texts of devices; their rows stay.
  func texts(of devices: Set<DeviceID>) async throws {
    try await log.eraseTexts(of: devices)
    await others(devices, onlyTexts: true)
  }

  private func others(_ devices: Set<DeviceID>, onlyTexts: Bool) async {
    guard let cell, !devices.isEmpty else { return }
    let request = controlJSON(Request(devices: devices.map(\.row), onlyTexts: onlyTexts))
    await withTaskGroup(of: Void.self) { group in
      for gateway in cell.others {
        group.addTask { _ = await cell.ask(gateway, EraseLog.name, request, within: EraseLog.patience) }
      }
    }
  }

  /// Registers the handler for requests of other gateways.
  func join(_ cell: any GatewayCell) throws {
    try cell.answer(EraseLog.name) { [log] body in
      guard let request = try? decodeJSON(Request.self, from: body) else { return [] }
      let devices = Set(request.devices.map { DeviceID(row: $0) })
      do {
        try await request.onlyTexts ? log.eraseTexts(of: devices) : log.erase(devices)
        return [1]
      } catch {
        return []
      }
    }
  }
}
