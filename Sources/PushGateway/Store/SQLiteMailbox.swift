import Foundation
import GRDB
import Logging
import Synchronization

/// The mailbox in SQLite: one table appended by rowid, its index in memory, one writer.
///
/// Everything that comes while a commit runs joins the next one, so that throughput does not wait for one fsync per
/// push. Acknowledgements and other removals ride along with the next append, or go by themselves a moment later:
/// nothing waits for them, because a device that reconnects says where it is.
final class SQLiteMailbox: Mailbox {
  /// What the writer is asked to do.
  enum Operation: Sendable {
    case append([StoredPush], @Sendable ([AppendOutcome]) -> Void)
    case acknowledge(DeviceID, UInt64)
    case purge(DeviceID, AppID?)
    case expire(Int64)
  }

  private struct Inbox {
    var operations: [Operation] = []
    var uncommitted = 0
    /// Whether the writer has been woken and not yet gone back to wait.
    var isWriterAwake = false
    var isClosed = false
  }

  /// How long removals wait for an append to join.
  private static let settleTime = 0.05
  /// Rows between two checkpoints.
  private static let checkpointInterval = 4000

  private let store: SQLiteStore
  private let index: Mutex<MailboxIndex>
  private let inbox = Mutex(Inbox())
  private let wake = DispatchSemaphore(value: 0)
  private let stopped = DispatchSemaphore(value: 0)
  private let checkpoints = DispatchQueue(label: "pushgateway.checkpoint")
  private let isCheckpointDue = Mutex(false)
  private let cap: Int
  private let clock: @Sendable () -> Int64
  private let logger: Logger
  /// Hears of every entry that leaves without an acknowledgement. Called on the writer's thread.
  private let removed: @Sendable ([MailboxRemoval]) -> Void

  /// Rebuilds the index and starts the writer.
  ///
  /// - Parameter now: seconds since 1970.
  init(
    store: SQLiteStore, cap: Int, logger: Logger, now: @escaping @Sendable () -> Int64,
    removed: @escaping @Sendable ([MailboxRemoval]) -> Void
  ) throws(StoreError) {
    self.store = store
    self.cap = cap
    self.logger = logger
    self.removed = removed
    clock = now
    do {
      var changes: [MailboxIndex.RowChange] = []
      let rebuilt = try store.pool.read { try SQLiteMailbox.rebuild($0, now: now(), changes: &changes) }
      index = Mutex(rebuilt)
      if !changes.isEmpty {
        try Writer(store.pool).commit(EmptyCollection(), changes: changes, states: [])
      }
    } catch {
      throw SQLiteStore.explain(error, path: store.path)
    }
    let thread = Thread { [self] in run() }
    thread.name = "mailbox"
    thread.start()
  }

  /// Commits what is in line and stops the writer. Nothing may be appended afterwards.
  func close() {
    let isFirst = inbox.withLock { inbox in
      defer { inbox.isClosed = true }
      return !inbox.isClosed
    }
    guard isFirst else { return }
    wake.signal()
    stopped.wait()
  }

  // MARK: Mailbox

  func append(_ pushes: [StoredPush], completion: @escaping @Sendable ([AppendOutcome]) -> Void) {
    let isTaken = submit(.append(pushes, completion), weight: pushes.count)
    if !isTaken { completion(pushes.map { _ in .unavailable }) }
  }

  func acknowledge(_ device: DeviceID, through seq: UInt64) { submit(.acknowledge(device, seq)) }

  func purge(_ device: DeviceID, app: AppID?) { submit(.purge(device, app)) }

  func expire(now: Int64) { submit(.expire(now)) }

  func waitingCount(for device: DeviceID) -> Int { index.withLock { $0.boxes[device]?.count ?? 0 } }

  func pending(for device: DeviceID, after seq: UInt64, limit: Int) async throws -> PendingPushes {
    let now = clock()
    let (gap, rows, isComplete) = index.withLock { index in
      SQLiteMailbox.select(index.boxes[device], after: seq, limit: limit, now: now)
    }
    guard !rows.isEmpty else { return PendingPushes(gap: gap, entries: [], isComplete: isComplete) }
    let entries = try await store.pool.read { try SQLiteMailbox.read(rows, of: device, from: $0) }
    return PendingPushes(gap: gap, entries: entries, isComplete: isComplete)
  }

  private static func select(
    _ box: MailboxIndex.Box?, after seq: UInt64, limit: Int, now: Int64
  ) -> (gap: MailboxGap?, rows: [Int64], isComplete: Bool) {
    guard let box else { return (nil, [], true) }
    let seq = max(seq, box.acknowledged)
    var rows: [Int64] = []
    for entry in box.entries[box.place(after: seq)...] where !entry.isRemoved && entry.expires > now {
      if rows.count == limit { return (box.gap.flatMap { $0.to > seq ? $0 : nil }, rows, false) }
      rows.append(entry.row)
    }
    return (box.gap.flatMap { $0.to > seq ? $0 : nil }, rows, true)
  }

  // MARK: The writer

  @discardableResult
  private func submit(_ operation: Operation, weight: Int = 0) -> Bool {
    let (isTaken, mustWake) = inbox.withLock { inbox in
      guard !inbox.isClosed, weight == 0 || inbox.uncommitted + weight <= Limits.maximumUncommitted else {
        return (false, false)
      }
      inbox.operations.append(operation)
      inbox.uncommitted += weight
      defer { inbox.isWriterAwake = true }
      return (true, !inbox.isWriterAwake)
    }
    if mustWake { wake.signal() }
    return isTaken
  }

  /// What the writer has still to put on disk.
  private struct Unsettled {
    var changes: [MailboxIndex.RowChange] = []
    var devices: Set<DeviceID> = []
    /// When these go by themselves.
    var due = DispatchTime.distantFuture

    var isEmpty: Bool { changes.isEmpty && devices.isEmpty }
  }

  private func run() {
    var unsettled = Unsettled()
    var writer: Writer?
    var rowsSinceCheckpoint = 0
    while true {
      if !unsettled.isEmpty, unsettled.due == .distantFuture {
        unsettled.due = .now() + SQLiteMailbox.settleTime
      }
      guard let operations = next(until: unsettled.due) else { break }
      for turn in SQLiteMailbox.turns(of: operations) {
        var appends: [(pushes: [StoredPush], completion: @Sendable ([AppendOutcome]) -> Void)] = []
        for operation in turn {
          if case .append(let pushes, let completion) = operation { appends.append((pushes, completion)) }
        }
        apply(turn, to: &unsettled)
        guard !appends.isEmpty || (!unsettled.isEmpty && unsettled.due <= .now()) else { continue }
        let count = commit(appends, &unsettled, &writer)
        rowsSinceCheckpoint += count
        checkpoint(&rowsSinceCheckpoint, &writer)
      }
    }
    if !unsettled.isEmpty { _ = commit([], &unsettled, &writer) }
    stopped.signal()
  }

  /// Cuts operations where a purge follows an append: what it takes out has to be in the mailbox first.
  private static func turns(of operations: [Operation]) -> [ArraySlice<Operation>] {
    var turns: [ArraySlice<Operation>] = []
    var (start, hasAppend) = (0, false)
    for (place, operation) in operations.enumerated() {
      switch operation {
      case .append: hasAppend = true
      case .purge where hasAppend:
        turns.append(operations[start..<place])
        (start, hasAppend) = (place, false)
      default: break
      }
    }
    return turns + [operations[start...]]
  }

  /// Waits for work; an empty answer says that the time has come, nil that the mailbox is closed.
  private func next(until due: DispatchTime) -> [Operation]? {
    while true {
      let (operations, isClosed) = inbox.withLock { inbox -> ([Operation], Bool) in
        let taken = inbox.operations
        inbox.operations = []
        if taken.isEmpty { inbox.isWriterAwake = false }
        return (taken, inbox.isClosed)
      }
      if !operations.isEmpty { return operations }
      if isClosed { return nil }
      if wake.wait(timeout: due) == .timedOut { return [] }
    }
  }

  /// Applies everything that is not an append to the index at once; its rows follow.
  private func apply(_ operations: ArraySlice<Operation>, to unsettled: inout Unsettled) {
    let now = clock()
    var removals: [MailboxRemoval] = []
    index.withLock { index in
      for operation in operations {
        switch operation {
        case .append: break
        case .acknowledge(let device, let seq):
          unsettled.changes += index.acknowledge(device, through: seq, now: now)
          unsettled.devices.insert(device)
        case .purge(let device, let app):
          index.purge(device, app: app, now: now, changes: &unsettled.changes, removals: &removals)
          unsettled.devices.insert(device)
        case .expire(let now):
          let touched = index.expire(now: now, changes: &unsettled.changes, removals: &removals)
          unsettled.devices.formUnion(touched)
        }
      }
      unsettled.changes += index.forgetRecent(now: now)
    }
    if !removals.isEmpty { removed(removals) }
  }

  /// Commits appends together with what is unsettled, then reports. Returns how many rows were written.
  private func commit(
    _ appends: [(pushes: [StoredPush], completion: @Sendable ([AppendOutcome]) -> Void)],
    _ unsettled: inout Unsettled, _ writer: inout Writer?
  ) -> Int {
    let pushes = appends.flatMap(\.pushes)
    let staged = index.withLock { index in pushes.map { index.stage($0) } }
    let states = index.withLock { index in
      unsettled.devices.map { ($0, index.boxes[$0] ?? MailboxIndex.Box()) }
    }
    do {
      // A failed write may leave statements of a dead transaction behind, so each failure starts anew.
      let current = try writer ?? Writer(store.pool)
      writer = current
      try current.commit(zip(pushes, staged), changes: unsettled.changes, states: states)
      let rows = staged.count + unsettled.changes.count + states.count
      unsettled = Unsettled()
      report(appends, confirm(pushes, staged, &unsettled))
      return rows
    } catch {
      writer = nil
      let explanation = SQLiteStore.explain(error, path: store.path)
      logger.error("not stored: \(explanation)", metadata: ["pushes": "\(pushes.count)"])
      index.withLock { index in
        for (push, entry) in zip(pushes, staged) where entry != nil { index.abandon(push) }
      }
      unsettled.due = .now() + 1
      // A duplicate of what failed with it is not stored either.
      report(appends, pushes.map { _ in .unavailable })
      return 0
    }
  }

  /// Makes what was committed visible.
  private func confirm(
    _ pushes: [StoredPush], _ staged: [MailboxIndex.Entry?], _ unsettled: inout Unsettled
  ) -> [AppendOutcome] {
    let now = clock()
    var removals: [MailboxRemoval] = []
    let outcomes = index.withLock { index in
      zip(pushes, staged).map { push, entry -> AppendOutcome in
        guard let entry else { return .duplicate }
        let before = removals.count
        let replaced = index.confirm(
          entry, of: push.device, cap: cap, now: now, changes: &unsettled.changes, removals: &removals)
        if removals.count > before { unsettled.devices.insert(push.device) }
        return .queued(seq: entry.seq, replaced: replaced)
      }
    }
    if !removals.isEmpty { removed(removals) }
    return outcomes
  }

  private func report(
    _ appends: [(pushes: [StoredPush], completion: @Sendable ([AppendOutcome]) -> Void)], _ outcomes: [AppendOutcome]
  ) {
    inbox.withLock { $0.uncommitted -= outcomes.count }
    var start = 0
    for (pushes, completion) in appends {
      completion(Array(outcomes[start..<start + pushes.count]))
      start += pushes.count
    }
  }

  // MARK: Checkpoints

  /// Most of the log is moved by a connection of its own while commits go on; the writer moves the few pages that
  /// came meanwhile, so that the log can begin again instead of growing for ever.
  private func checkpoint(_ rows: inout Int, _ writer: inout Writer?) {
    let isPrepared = isCheckpointDue.withLock { due in
      defer { due = false }
      return due
    }
    if isPrepared {
      try? store.pool.writeWithoutTransaction { _ = try $0.checkpoint(.passive) }
    }
    guard rows >= SQLiteMailbox.checkpointInterval else { return }
    rows = 0
    checkpoints.async { [self] in
      do {
        let connection = try DatabaseQueue(path: store.path)
        try connection.writeWithoutTransaction { _ = try $0.checkpoint(.passive) }
        isCheckpointDue.withLock { $0 = true }
      } catch {
        logger.warning("the log of \(store.path) can't be moved: \(error)")
      }
    }
  }
}

// MARK: SQL

extension SQLiteMailbox {
  /// The writer's statements, on the writing connection.
  private final class Writer {
    private let pool: DatabasePool
    private let insert, delete, blank, state: PreparedStatement

    init(_ pool: DatabasePool) throws {
      self.pool = pool
      (insert, delete, blank, state) = try pool.writeWithoutTransaction { db in
        (
          try PreparedStatement(
            db,
            """
            INSERT INTO mailbox (id, device, seq, app, apns_id, is_sender_id, unique_id, received, expires, priority,
              collapse_id, payload) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
            """),
          try PreparedStatement(db, "DELETE FROM mailbox WHERE id = ?"),
          try PreparedStatement(db, "UPDATE mailbox SET payload = NULL WHERE id = ?"),
          try PreparedStatement(
            db,
            """
            INSERT INTO mailbox_state (device, acknowledged, last_seq, gap_from, gap_to, gap_dropped)
            VALUES (?, ?, ?, ?, ?, ?) ON CONFLICT (device) DO UPDATE SET acknowledged = excluded.acknowledged,
              last_seq = excluded.last_seq, gap_from = excluded.gap_from, gap_to = excluded.gap_to,
              gap_dropped = excluded.gap_dropped
            """)
        )
      }
    }

    /// One transaction; returns when it is on disk.
    func commit(
      _ appends: some Sequence<(StoredPush, MailboxIndex.Entry?)>, changes: [MailboxIndex.RowChange],
      states: [(DeviceID, MailboxIndex.Box)]
    ) throws {
      try pool.writeWithoutTransaction { db in
        try db.inTransaction(.immediate) {
          for (push, entry) in appends {
            if let entry { try add(push, entry) }
          }
          for change in changes { try apply(change) }
          for (device, box) in states { try save(box, of: device) }
          return .commit
        }
      }
    }

    private func add(_ push: StoredPush, _ entry: MailboxIndex.Entry) throws {
      insert.bind(entry.row)
      insert.bind(push.device.row)
      insert.bind(Int64(entry.seq))
      insert.bind(push.app.row)
      insert.bind(blob: push.id.stored)
      insert.bind(push.isSenderID ? 1 : 0)
      insert.bind(blob: push.uniqueID.stored)
      insert.bind(push.received)
      insert.bind(push.expires)
      insert.bind(Int64(push.priority))
      insert.bind(text: push.collapseID)
      insert.bind(blob: push.payload)
      try insert.run()
    }

    private func apply(_ change: MailboxIndex.RowChange) throws {
      switch change {
      case .delete(let row):
        delete.bind(row)
        try delete.run()
      case .blank(let row):
        blank.bind(row)
        try blank.run()
      }
    }

    private func save(_ box: MailboxIndex.Box, of device: DeviceID) throws {
      state.bind(device.row)
      state.bind(Int64(box.acknowledged))
      state.bind(Int64(box.lastSeq))
      state.bind(box.gap.map { Int64($0.from) })
      state.bind(box.gap.map { Int64($0.to) })
      state.bind(box.gap.map { Int64($0.dropped) })
      try state.run()
    }
  }

  /// One scan over both tables, without the payloads.
  private static func rebuild(
    _ db: Database, now: Int64, changes: inout [MailboxIndex.RowChange]
  ) throws -> MailboxIndex {
    var index = MailboxIndex()
    let states = try PreparedStatement(
      db, "SELECT device, acknowledged, last_seq, gap_from, gap_to, gap_dropped FROM mailbox_state")
    while try states.next() {
      let gap =
        states.isNull(3)
        ? nil
        : MailboxGap(
          from: UInt64(states.integer(3)), to: UInt64(states.integer(4)), dropped: Int(states.integer(5)))
      index.restore(
        DeviceID(row: states.integer(0)), acknowledged: UInt64(states.integer(1)),
        lastSeq: UInt64(states.integer(2)), gap: gap)
    }
    let rows = try PreparedStatement(
      db,
      """
      SELECT id, device, seq, app, apns_id, is_sender_id, received, expires, collapse_id, payload IS NULL
      FROM mailbox ORDER BY id
      """)
    while try rows.next() {
      guard let id = APNSID(stored: rows.blob(4)) else { throw DatabaseError(resultCode: .SQLITE_CORRUPT) }
      let entry = MailboxIndex.Entry(
        row: rows.integer(0), seq: UInt64(rows.integer(2)), app: AppID(row: rows.integer(3)), id: id,
        isSenderID: rows.integer(5) != 0, received: rows.integer(6), expires: rows.integer(7),
        collapseID: rows.text(8), isRemoved: rows.integer(9) != 0)
      let device = DeviceID(row: rows.integer(1))
      if !index.restore(entry, of: device, now: now, changes: &changes) { changes.append(.delete(entry.row)) }
    }
    return index
  }

  /// Reads waiting rows with their payloads; one that went meanwhile is left out.
  private static func read(_ rows: [Int64], of device: DeviceID, from db: Database) throws -> [MailboxEntry] {
    let select = try PreparedStatement(
      db,
      """
      SELECT seq, app, apns_id, is_sender_id, unique_id, received, expires, priority, collapse_id, payload
      FROM mailbox WHERE id = ? AND payload IS NOT NULL
      """)
    var entries: [MailboxEntry] = []
    entries.reserveCapacity(rows.count)
    for row in rows {
      select.bind(row)
      guard try select.next() else { continue }
      guard let id = APNSID(stored: select.blob(2)), let uniqueID = APNSID(stored: select.blob(4)) else {
        throw DatabaseError(resultCode: .SQLITE_CORRUPT)
      }
      let push = StoredPush(
        device: device, app: AppID(row: select.integer(1)), id: id, isSenderID: select.integer(3) != 0,
        uniqueID: uniqueID, received: select.integer(5), expires: select.integer(6),
        priority: UInt8(clamping: select.integer(7)), collapseID: select.text(8), payload: select.blob(9))
      entries.append(MailboxEntry(seq: UInt64(select.integer(0)), push: push))
      select.reset()
    }
    return entries
  }
}
