import PushCore
import PushPolicy
import Synchronization

/// The alerts that one device has shown within the hour, by app: what budgets count. All streams of the device share it.
final class ShownAlerts: Sendable {
  private let histories = Mutex<[AppID: AlertHistory<APNSID>]>([:])

  /// Apps from which on those that have shown nothing for an hour are forgotten.
  private static let sweepCount = 32

  /// The alerts of an app within the last hour before the push `id`.
  ///
  /// - Parameter now: milliseconds since 1970.
  func count(of app: AppID, besides id: APNSID, at now: Int64) -> Int {
    histories.withLock { $0[app]?.count(at: now / 1000, without: id) ?? 0 }
  }

  /// All alerts within the last hour; `now` and their times are in milliseconds since 1970.
  func recent(at now: Int64) -> [(app: AppID, id: APNSID, at: Int64)] {
    histories.withLock { $0 }.flatMap { app, history in
      history.recent(at: now / 1000).map { (app, $0.id, $0.at * 1000) }
    }
  }

  /// An app has shown an alert at `now`, in milliseconds since 1970.
  func note(_ id: APNSID, of app: AppID, at now: Int64) {
    histories.withLock { histories in
      if histories.count >= ShownAlerts.sweepCount, histories[app] == nil {
        histories = histories.filter { !$0.value.isOver(at: now / 1000) }
      }
      histories[app, default: AlertHistory()].note(id, at: now / 1000)
    }
  }

  /// Whether nothing counts any longer at `now`, in milliseconds since 1970.
  func isOver(at now: Int64) -> Bool { histories.withLock { $0.values.allSatisfy { $0.isOver(at: now / 1000) } } }
}
