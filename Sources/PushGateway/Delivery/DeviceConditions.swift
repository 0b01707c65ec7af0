import PushCore
import PushPolicy
import Synchronization

/// The conditions of a decision other than preferences: the state that each device last reported, and the alerts that
/// it has shown within the hour.
///
/// Kept in memory only: after a restart budgets start again at zero, and a device reports its state when it connects.
final class DeviceConditions: Sendable {
  private struct Condition {
    var state = Policy.DeviceState()
    var alerts: ShownAlerts?

    /// True if no stream references the alerts.
    var isUnshared: Bool {
      mutating get { alerts == nil || isKnownUniquelyReferenced(&alerts) }
    }
  }

  private struct State {
    var conditions: [DeviceID: Condition] = [:]
    /// The number of devices at which idle ones are swept.
    var sweepCount = 1000

    /// Removes devices whose state is the default and whose alerts are more than an hour old, unless a stream still
    /// counts them.
    mutating func sweep(at now: Int64) {
      for device in Array(conditions.keys) {
        guard var condition = conditions[device], condition.state == .init() else { continue }
        conditions[device]?.alerts = nil
        let isKept = condition.alerts.map { !$0.isOver(at: now) } ?? false || !condition.isUnshared
        conditions[device] = isKept ? condition : nil
      }
      sweepCount = max(1000, 2 * conditions.count)
    }
  }

  private let state = Mutex(State())

  func forget(_ device: DeviceID) { state.withLock { $0.conditions[device] = nil } }

  func report(_ reported: Policy.DeviceState, by device: DeviceID) {
    state.withLock { state in
      if reported != .init() || state.conditions[device] != nil {
        state.conditions[device, default: Condition()].state = reported
      }
    }
  }

  /// Returns the state that a device last reported.
  func state(of device: DeviceID) -> Policy.DeviceState {
    state.withLock { $0.conditions[device]?.state } ?? .init()
  }

  /// Returns the alerts that a device has shown, for one of its streams to retain.
  ///
  /// - Parameter now: milliseconds since 1970.
  func alerts(on device: DeviceID, at now: Int64) -> ShownAlerts {
    state.withLock { state in
      if let known = state.conditions[device]?.alerts { return known }
      if state.conditions.count >= state.sweepCount { state.sweep(at: now) }
      let alerts = ShownAlerts()
      state.conditions[device, default: Condition()].alerts = alerts
      return alerts
    }
  }

  /// Returns the alerts that a device has shown within the hour before `now`. All times are in milliseconds since
  /// 1970.
  func recentAlerts(on device: DeviceID, at now: Int64) -> [(app: AppID, id: APNSID, at: Int64)] {
    state.withLock { $0.conditions[device]?.alerts }?.recent(at: now) ?? []
  }

  /// The number of devices in memory.
  var count: Int { state.withLock { $0.conditions.count } }
}
