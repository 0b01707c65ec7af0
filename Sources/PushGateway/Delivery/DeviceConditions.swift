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
    var alerts: [AppID: AlertHistory<APNSID>] = [:]
  }

  private let conditions = Mutex<[DeviceID: Condition]>([:])

  /// Forgets a device.
  func forget(_ device: DeviceID) { conditions.withLock { $0[device] = nil } }

  /// Takes down a device's state.
  func report(_ state: Policy.DeviceState, by device: DeviceID) {
    conditions.withLock { conditions in
      if state != .init() || conditions[device] != nil { conditions[device, default: Condition()].state = state }
    }
  }

  /// The state that a device last reported.
  func state(of device: DeviceID) -> Policy.DeviceState { conditions.withLock { $0[device]?.state } ?? .init() }

  /// The alerts of an app within the last hour before the push `id`.
  ///
  /// - Parameter now: milliseconds since 1970.
  func alerts(of app: AppID, on device: DeviceID, besides id: APNSID, at now: Int64) -> Int {
    conditions.withLock { $0[device]?.alerts[app]?.count(at: now / 1000, without: id) ?? 0 }
  }

  /// An app whose alerts are counted has shown one at `now`, in milliseconds since 1970.
  func noteAlert(_ id: APNSID, of app: AppID, on device: DeviceID, at now: Int64) {
    conditions.withLock {
      $0[device, default: Condition()].alerts[app, default: AlertHistory()].note(id, at: now / 1000)
    }
  }
}
