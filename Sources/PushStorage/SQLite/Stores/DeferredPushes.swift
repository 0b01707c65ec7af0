import Foundation
import GRDB
package import Logging
package import PushCore
package import PushPolicy
import Synchronization

/// Pushes that are on their devices and whose alerts are deferred to a summary: in memory, and on disk so that they
/// outlast a restart.
///
/// A row is written when its push is sent, before the device can acknowledge it. If the gateway fails between the
/// two, the push is in the device's notification center but in no summary.
package final class DeferredPushes: Sendable {
  package struct Push: Sendable {
    package var id: APNSID
    /// The sequence number; 0 for a push that was never in the mailbox.
    package var seq: UInt64
    package var app: AppID
    package var reason: Deferral.Reason
    /// The time of arrival in milliseconds since 1970.
    package var received: Int64
    /// The expiration time in seconds since 1970; a summary omits expired pushes.
    package var expires: Int64
    package var relevance: Double
    package var badge: Int?
    package var category: String?
    package var collapseID: String
    package var title: String
    /// The due time of its summary, in seconds since 1970; nil for the time at which the device has caught up.
    package var due: Int64?
  }

  fileprivate enum Change {
    case add(DeviceID, Push)
    case remove(DeviceID, [APNSID])
    case summarized(DeviceID, through: UInt64)
  }

  struct State {
    var pushes: [DeviceID: [Push]] = [:]
    /// For each device, the number up to which its pushes have been in a summary.
    var summarized: [DeviceID: UInt64] = [:]
    /// The devices whose summary is on its way into the mailbox: a second one would contain the same pushes.
    var summarizing: Set<DeviceID> = []
  }

  private let store: SQLiteStore
  private let logger: Logger
  private let state: Mutex<State>
  /// The changes of `state` that are not on disk yet. They are appended while `state` is locked, in the order in
  /// which they were made.
  private let queue = CommitQueue<Change, Void>()

  package init(store: SQLiteStore, logger: Logger) throws(StoreError) {
    (self.store, self.logger) = (store, logger)
    state = Mutex(try store.load(DeferredPushes.load))
    store.replica.onChange(of: ["held", "digest"]) { [weak self] db, changes in try self?.adopt(changes, db) }
  }

  /// Reads the deferred pushes. Their due times are not stored: they depend on the current preferences, which the
  /// gateway reads at its start (`Summaries`).
  static func load(_ db: Database) throws -> State {
    var state = State()
    let rows = try PreparedStatement(db, "SELECT \(columns) FROM held")
    while try rows.next() {
      guard let (device, push) = try row(rows) else { continue }
      state.pushes[device, default: []].append(push)
    }
    let last = try PreparedStatement(db, "SELECT device, seq FROM digest")
    while try last.next() {
      state.summarized[DeviceID(row: try last.integer(0))] = UInt64(try last.integer(1, in: ColumnBounds.progress))
    }
    return state
  }

  private static let columns =
    "device, apns_id, seq, app, reason, received, expires, relevance, badge, category, collapse_id, title"

  private static func row(_ rows: PreparedStatement) throws -> (DeviceID, Push)? {
    guard let id = rows.id(1), let reason = Deferral.Reason(rawValue: try rows.text(4)) else { return nil }
    let push = Push(
      id: id, seq: UInt64(try rows.integer(2, in: ColumnBounds.progress)), app: AppID(row: try rows.integer(3)),
      reason: reason, received: try rows.integer(5, in: ColumnBounds.milliseconds),
      expires: try rows.integer(6, in: ColumnBounds.seconds), relevance: try rows.real(7),
      badge: try rows.optionalInteger(8).map { Int($0) }, category: try rows.optionalText(9),
      collapseID: try rows.text(10), title: try rows.text(11), due: .max)
    return (DeviceID(row: try rows.integer(0)), push)
  }

  /// Takes over pushes that another gateway has deferred. That gateway makes the summary while the device is
  /// connected to it. On this gateway its due time is set when the device connects, or when due times are recomputed
  /// (``due(_:at:hasCaughtUp:recomputing:)``).
  private func adopt(_ changes: [RowChange], _ db: Database) throws {
    let devices = Set(changes.compactMap { $0.key["device"]?.integer })
    let rows = try PreparedStatement(db, "SELECT \(DeferredPushes.columns) FROM held WHERE device = ?")
    var found: [DeviceID: (pushes: [Push], summarized: UInt64?)] = [:]
    for device in devices {
      rows.bind(device)
      let pushes = try rows.map(DeferredPushes.row).compactMap { $0?.1 }
      let summarized = try Int64.fetchOne(db, sql: "SELECT seq FROM digest WHERE device = ?", arguments: [device])
      found[DeviceID(row: device)] = (pushes, summarized.map { UInt64(clamping: $0) })
    }
    let fresh = found
    db.afterNextTransaction { [weak self] _ in
      guard let self else { return }
      state.withLock { state in
        let pending = self.queue.pending
        for (device, (pushes, last)) in fresh { state.take(pushes, summarized: last, of: device, then: pending) }
      }
    }
  }

  package var devices: [DeviceID] { state.withLock { Array($0.pushes.keys) } }

  /// The number of deferred pushes.
  package var count: Int { state.withLock { $0.pushes.values.reduce(0) { $0 + $1.count } } }

  /// Defers a push that is being sent, unless it is already deferred or was in a summary before.
  package func add(_ entry: MailboxEntry, _ deferral: Deferral, _ push: PushNotification, _ alert: AlertPresentation?) {
    let stored = entry.push
    let deferred = Push(
      id: stored.id, seq: entry.seq, app: stored.app, reason: deferral.by, received: stored.received,
      expires: entry.seq == 0 ? stored.received / 1000 + 86_400 : stored.expires, relevance: deferral.relevance,
      badge: push.badge, category: push.category, collapseID: stored.collapseID,
      title: alert.map(SummaryEntry.line) ?? "", due: deferral.until)
    change { state in
      guard entry.seq == 0 || entry.seq > state.summarized[stored.device] ?? 0,
        state.pushes[stored.device]?.contains(where: { $0.id == stored.id }) != true
      else { return [] }
      state.pushes[stored.device, default: []].append(deferred)
      guard state.pushes[stored.device]?.count ?? 0 > Limits.maximumDeferred,
        let oldest = state.pushes[stored.device]?.removeFirst()
      else { return [.add(stored.device, deferred)] }
      return [.add(stored.device, deferred), .remove(stored.device, [oldest.id])]
    }
  }

  /// Removes a push that the user has answered or its sender has retracted.
  ///
  /// - Parameter app: the app of the push; nil: any app.
  package func release(_ id: APNSID, of device: DeviceID, app: AppID? = nil) {
    change { state in
      guard state.pushes[device]?.contains(where: { $0.id == id && (app == nil || $0.app == app) }) == true else {
        return []
      }
      return state.remove([id], of: device)
    }
  }

  /// Removes the pushes of a device that were retracted.
  ///
  /// - Parameter isRetracted: returns true for the id and the app of such a push.
  package func release(of device: DeviceID, where isRetracted: (APNSID, AppID) -> Bool) {
    change { state in
      state.remove((state.pushes[device] ?? []).filter { isRetracted($0.id, $0.app) }.map(\.id), of: device)
    }
  }

  /// Removes all pushes of a device.
  package func purge(_ device: DeviceID) {
    change { state in state.remove((state.pushes[device] ?? []).map(\.id), of: device) }
  }

  /// Removes all pushes of an app for a device.
  package func purge(_ device: DeviceID, _ app: AppID) {
    change { state in state.remove((state.pushes[device] ?? []).filter { $0.app == app }.map(\.id), of: device) }
  }

  /// Removes all pushes of an app for all devices.
  package func purge(_ app: AppID) {
    change { state in
      var changes: [Change] = []
      for (device, pushes) in state.pushes {
        changes += state.remove(pushes.filter { $0.app == app }.map(\.id), of: device)
      }
      return changes
    }
  }

  /// Returns the due pushes of a device at `now`, in seconds since 1970. They stay deferred until
  /// ``summarized(_:of:)``. No other push becomes due until then or until ``keep(_:)``.
  ///
  /// - Parameters:
  ///   - hasCaughtUp: true if the device has just been sent all pending pushes.
  ///   - due: recomputes the due time of a push, after a change of preferences.
  package func due(
    _ device: DeviceID, at now: Int64, hasCaughtUp: Bool = false, recomputing due: ((Push) -> Int64?)? = nil
  ) -> [Push] {
    state.withLock { state in
      guard let pushes = state.pushes[device] else { return [] }
      if let due {
        state.pushes[device] = pushes.map { push in
          var push = push
          push.due = due(push)
          return push
        }
      }
      guard !state.summarizing.contains(device) else { return [] }
      let due = (state.pushes[device] ?? []).filter { $0.due.map { $0 <= now } ?? hasCaughtUp }
      if !due.isEmpty { state.summarizing.insert(device) }
      return due
    }
  }

  /// Keeps the due pushes of a device, because their summary could not be stored.
  package func keep(_ device: DeviceID) { state.withLock { _ = $0.summarizing.remove(device) } }

  /// Removes pushes whose summary is in the mailbox.
  package func summarized(_ pushes: [Push], of device: DeviceID) {
    change { state in
      state.summarizing.remove(device)
      let changes = state.remove(pushes.map(\.id), of: device)
      let last = pushes.map(\.seq).max() ?? 0
      guard last > state.summarized[device] ?? 0 else { return changes }
      state.summarized[device] = last
      return changes + [Change.summarized(device, through: last)]
    }
  }

  // MARK: Persistence

  /// Returns when all changes so far are on disk or have failed.
  package func settle() async { await queue.settle() }

  /// Makes a change in memory, and writes the changes that `body` returns to disk.
  private func change(_ body: (inout State) -> [Change]) {
    state.withLock { state in queue.append(body(&state), commit: commit) }
  }

  private func commit(_ changes: [Change]) async throws(StoreError) -> [Void] {
    do throws(StoreError) {
      return try await store.change { db in try changes.map { try DeferredPushes.apply($0, db) } }
    } catch {
      // The mailbox reports the same problem of the disk with a higher severity. Unwritten pushes are lost only by
      // a restart.
      logger.log(.digestsNotStored, "pushes deferred to a summary are not on disk: \(error)")
      throw error
    }
  }

  private static func apply(_ change: Change, _ db: Database) throws {
    switch change {
    case .add(let device, let push):
      try db.execute(
        sql: """
          INSERT OR REPLACE INTO held (device, apns_id, seq, app, reason, received, expires, relevance, badge, category,
            collapse_id, title) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
          """,
        arguments: [
          device.row, Data(push.id.stored), Int64(push.seq), push.app.row, push.reason.rawValue, push.received,
          push.expires, push.relevance, push.badge, push.category, push.collapseID, push.title,
        ])
    case .remove(let device, let ids):
      for id in ids {
        try db.execute(
          sql: "DELETE FROM held WHERE device = ? AND apns_id = ?", arguments: [device.row, Data(id.stored)])
      }
    case .summarized(let device, let seq):
      try db.execute(
        sql: "INSERT OR REPLACE INTO digest (device, seq) VALUES (?, ?)", arguments: [device.row, Int64(seq)])
    }
  }
}

extension DeferredPushes.State {
  /// Takes over the rows of a device, with the pending changes. Known pushes keep their due times.
  fileprivate mutating func take(
    _ fresh: [DeferredPushes.Push], summarized number: UInt64?, of device: DeviceID,
    then pending: [DeferredPushes.Change]
  ) {
    var known: [APNSID: DeferredPushes.Push] = [:]
    for one in pushes[device] ?? [] { known[one.id] = one }
    var all = fresh.map { known[$0.id] ?? $0 }
    for change in pending {
      switch change {
      case .add(device, let one) where !all.contains { $0.id == one.id }: all.append(one)
      case .remove(device, let ids): all.removeAll { ids.contains($0.id) }
      case .add, .remove, .summarized: break
      }
    }
    pushes[device] = all.isEmpty ? nil : all
    if let number { summarized[device] = max(summarized[device] ?? 0, number) }
  }

  /// Removes pushes of a device, and returns the change of the rows.
  fileprivate mutating func remove(_ ids: [APNSID], of device: DeviceID) -> [DeferredPushes.Change] {
    if ids.isEmpty { return [] }
    let gone = Set(ids)
    pushes[device]?.removeAll { gone.contains($0.id) }
    if pushes[device]?.isEmpty == true { pushes[device] = nil }
    return [.remove(device, ids)]
  }
}
