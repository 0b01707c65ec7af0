import PushCore

/// Has a budget go on when a device moves to another gateway of a cell: a gateway at which it arrives says so, and those
/// that have shown it alerts within the hour hand over which.
///
/// What a gateway knew that is gone is lost, as at a restart; alerts that are shown before the answer comes are not counted
/// with it.
struct AlertHandover: Sendable {
  private struct Arrival: Codable {
    var device: Int64
    /// The process of the gateway at which the device is.
    var gateway: String
  }

  private struct Shown: Codable {
    var device: Int64
    var alerts: [Alert]
  }

  private struct Alert: Codable {
    var app: Int64
    /// As senders write it.
    var id: String
    /// Milliseconds since 1970.
    var at: Int64
  }

  private static let (arrivedName, name) = ("arrived", "alerts")
  /// How long a gateway that asked may take to note what it is told.
  private static let patience = Duration.seconds(2)
  /// More alerts of one device are not handed over; no budget is as large.
  private static let maximumCount = 2_000

  let conditions: DeviceConditions
  let clock: WallClock

  /// Says that a device is at this gateway.
  static func tell(_ cell: any GatewayCell, _ device: DeviceID) {
    guard let process = cell.gateway.process else { return }
    cell.tell(arrivedName, controlJSON(Arrival(device: device.row, gateway: process)))
  }

  /// Begins to hand over, and to take what is handed over.
  func join(_ cell: any GatewayCell) throws {
    try cell.hear(AlertHandover.arrivedName) { message in
      guard let arrival = try? decodeJSON(Arrival.self, from: message) else { return }
      let alerts = shown(on: DeviceID(row: arrival.device))
      guard !alerts.isEmpty else { return }
      let other = ClusterMember(id: arrival.gateway, process: arrival.gateway, name: arrival.gateway)
      let body = controlJSON(Shown(device: arrival.device, alerts: alerts))
      Task { _ = await cell.ask(other, AlertHandover.name, body, within: AlertHandover.patience) }
    }
    try cell.answer(AlertHandover.name) { message in
      if let shown = try? decodeJSON(Shown.self, from: message) { take(shown) }
      return []
    }
  }

  private func shown(on device: DeviceID) -> [Alert] {
    conditions.recentAlerts(on: device, at: clock.milliseconds()).prefix(AlertHandover.maximumCount).map {
      Alert(app: $0.app.row, id: $0.id.description, at: $0.at)
    }
  }

  private func take(_ shown: Shown) {
    let now = clock.milliseconds()
    let alerts = conditions.alerts(on: DeviceID(row: shown.device), at: now)
    for alert in shown.alerts.prefix(AlertHandover.maximumCount) {
      // The other gateway's clock may be ahead.
      if let id = APNSID(alert.id) { alerts.note(id, of: AppID(row: alert.app), at: min(alert.at, now)) }
    }
  }
}
