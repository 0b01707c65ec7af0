import PushCore
import PushPolicy
import Synchronization

/// The alerts that one device has shown within the hour, by app, for the budgets. All streams of the device share it.
final class ShownAlerts: Sendable {
  private let histories = Mutex<[AppID: AlertHistory<APNSID>]>([:])

  /// The number of apps at which the apps without an alert within the hour are removed.
  private static let sweepCount = 32

  /// Returns the number of alerts of an app within the last hour before the push `id`.
  ///
  /// - Parameter now: milliseconds since 1970.
  func count(of app: AppID, except id: APNSID, at now: Int64) -> Int {
    histories.withLock { $0[app]?.count(at: now / 1000, without: id) ?? 0 }
  }

  /// Returns all alerts within the last hour; `now` and the times of the alerts are in milliseconds since 1970.
  func recent(at now: Int64) -> [(app: AppID, id: APNSID, at: Int64)] {
    histories.withLock { $0 }.flatMap { app, history in
      history.recent(at: now / 1000).map { (app, $0.id, $0.at * 1000) }
    }
  }

  /// Records that an app has shown an alert at `now`, in milliseconds since 1970.
  func note(_ id: APNSID, of app: AppID, at now: Int64) {
    histories.withLock { histories in
      if histories.count >= ShownAlerts.sweepCount, histories[app] == nil {
        histories = histories.filter { !$0.value.isOver(at: now / 1000) }
      }
      histories[app, default: AlertHistory()].note(id, at: now / 1000)
    }
  }

  /// Returns true if no alert counts any longer at `now`, in milliseconds since 1970.
  func isOver(at now: Int64) -> Bool { histories.withLock { $0.values.allSatisfy { $0.isOver(at: now / 1000) } } }
}
