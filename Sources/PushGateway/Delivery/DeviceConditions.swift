import PushCore
import PushPolicy
import Synchronization

/// What decides besides a person's choices: the state that each device last reported, and the alerts that it has shown
/// within the hour.
///
/// Kept in memory only: after a restart budgets begin anew, and a device says its state when it connects.
final class DeviceConditions: Sendable {
  private struct Condition {
    var state = Policy.DeviceState()
    var alerts: ShownAlerts?

    /// Whether no stream holds the alerts.
    var isUnshared: Bool {
      mutating get { alerts == nil || isKnownUniquelyReferenced(&alerts) }
    }
  }

  private struct State {
    var conditions: [DeviceID: Condition] = [:]
    /// How many there may be before those that say nothing any longer are looked for.
    var sweepCount = 1000

    /// Forgets devices whose state is as usual and whose alerts were shown more than an hour ago, unless a stream goes on
    /// counting.
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

  /// Forgets a device.
  func forget(_ device: DeviceID) { state.withLock { $0.conditions[device] = nil } }

  /// Takes down a device's state.
  func report(_ reported: Policy.DeviceState, by device: DeviceID) {
    state.withLock { state in
      if reported != .init() || state.conditions[device] != nil {
        state.conditions[device, default: Condition()].state = reported
      }
    }
  }

  /// The state that a device last reported.
  func state(of device: DeviceID) -> Policy.DeviceState {
    state.withLock { $0.conditions[device]?.state } ?? .init()
  }

  /// The alerts that a device has shown, for one of its streams to keep.
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

  /// The alerts that a device has shown within the hour before `now`, in milliseconds since 1970, as their times are.
  func recentAlerts(on device: DeviceID, at now: Int64) -> [(app: AppID, id: APNSID, at: Int64)] {
    state.withLock { $0.conditions[device]?.alerts }?.recent(at: now) ?? []
  }

  /// How many devices are remembered.
  var count: Int { state.withLock { $0.conditions.count } }
}
