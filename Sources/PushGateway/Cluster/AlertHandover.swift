import PushCore

/// Carries alert budgets over when a device moves to another gateway of a cluster. The gateway where it arrives
/// announces that, and the gateways that have shown it alerts within the hour send them.
///
/// The counts of a gateway that has stopped are lost, as after a restart. Alerts that are shown before the answer
/// arrives are decided without it.
struct AlertHandover: Sendable {
  private struct Arrival: Codable {
    var device: Int64
    /// The process of the gateway where the device arrived.
    var gateway: String
  }

  private struct Shown: Codable {
    var device: Int64
    var alerts: [Alert]
  }

  private struct Alert: Codable {
    var app: Int64
    /// The text form, as in requests of senders.
    var id: String
    /// Milliseconds since 1970.
    var at: Int64
  }

  private static let (arrivedName, name) = ("arrived", "alerts")
  /// The time that the gateway which asked may take to record the alerts.
  private static let timeout = Duration.seconds(2)
  /// The maximum number of alerts that are sent for one device; no budget is larger.
  private static let maximumCount = 2_000

  let conditions: DeviceConditions
  let clock: WallClock
  /// Returns true for a device and an app that exist: messages about others would fill the memory.
  let isKnown: @Sendable (DeviceID, AppID) -> Bool

  /// Announces that a device has arrived at this gateway.
  static func announce(_ cluster: any Cluster, _ device: DeviceID) {
    guard let process = cluster.gateway.process else { return }
    cluster.publish(arrivedName, controlJSON(Arrival(device: device.row, gateway: process)))
  }

  /// Registers the handlers that send and receive alerts.
  func join(_ cluster: any Cluster) throws {
    try cluster.subscribe(AlertHandover.arrivedName) { message in
      guard let arrival = try? decodeJSON(Arrival.self, from: message) else { return }
      let alerts = shown(on: DeviceID(row: arrival.device))
      guard !alerts.isEmpty else { return }
      let other = ClusterMember(id: arrival.gateway, process: arrival.gateway, name: arrival.gateway)
      let body = controlJSON(Shown(device: arrival.device, alerts: alerts))
      Task { _ = await cluster.ask(other, AlertHandover.name, body, within: AlertHandover.timeout) }
    }
    try cluster.answer(AlertHandover.name) { message in
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
    let (now, device) = (clock.milliseconds(), DeviceID(row: shown.device))
    let known = shown.alerts.prefix(AlertHandover.maximumCount).filter { isKnown(device, AppID(row: $0.app)) }
    if known.isEmpty { return }
    let alerts = conditions.alerts(on: device, at: now)
    for alert in known {
      // The other gateway's clock may be ahead.
      if let id = APNSID(alert.id) { alerts.note(id, of: AppID(row: alert.app), at: min(alert.at, now)) }
    }
  }
}
