import PushCore
import PushStorage

/// Takes what devices were pushed out of the delivery logs of all gateways that are there.
///
/// One that is away keeps its rows until they are as old as it keeps any.
struct EraseLog: Sendable {
  let log: DeliveryLog
  var cell: (any GatewayCell)?

  /// What another gateway is asked to erase.
  private struct Request: Codable {
    var devices: [Int64]
    var onlyTexts: Bool
  }

  private static let name = "log-erase"
  /// A log is gone through as a whole.
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

  /// Begins to erase what the gateways of a cell ask for.
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
