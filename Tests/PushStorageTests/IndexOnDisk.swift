import PushTesting

@testable import PushCore
@testable import PushStorage

/// A mailbox index with a disk in memory. It performs the writer's steps one by one and can crash between any two of
/// them.
struct IndexOnDisk {
  /// A row of the table, as ``SQLiteMailbox`` writes it.
  struct Row {
    var entry: MailboxIndex.Entry
    var device: DeviceID
    var isBlank = false
  }

  struct State {
    var acknowledged: UInt64
    var lastSeq: UInt64
    var gap: MailboxGap?
  }

  var index = MailboxIndex()
  var now = TestClock.start
  var cap = 10_000
  /// The rows and states on the disk.
  private(set) var rows: [Int64: Row] = [:]
  private var states: [DeviceID: State] = [:]
  /// The changes that are not on the disk yet.
  private var changes: [MailboxIndex.RowChange] = []
  private var touched: Set<DeviceID> = []
  private(set) var removals: [MailboxRemoval] = []

  /// Returns the sequence numbers of a device's pending pushes.
  func waiting(_ device: DeviceID = 1) -> [UInt64] {
    if let broken = index.queues[device]?.brokenInvariant(limit: 64) { preconditionFailure(broken) }
    guard let queue = index.queues[device] else { return [] }
    let entries = queue.entries.filter { !$0.isRemoved && $0.seq > queue.acknowledged && $0.seq <= queue.durableSeq }
    precondition(entries.count == queue.count, "the count of waiting entries is wrong")
    return entries.map(\.seq)
  }

  /// Stages pushes, commits them with all earlier changes, and confirms them.
  @discardableResult
  mutating func append(_ pushes: [StoredPush], isCommitted: Bool = true) -> [AppendOutcome] {
    forget()
    let staged = pushes.map { index.stage($0) }
    guard isCommitted else {
      for (push, entry) in zip(pushes, staged) where entry != nil { index.abandon(push) }
      return pushes.map { _ in .unavailable }
    }
    for (push, entry) in zip(pushes, staged) {
      if let entry { rows[entry.row] = Row(entry: entry, device: push.device) }
    }
    commit()
    return zip(pushes, staged).map { push, entry in
      guard let entry else { return .duplicate }
      let before = removals.count
      let replaced = index.confirm(
        entry, of: push.device, cap: cap, now: now, changes: &changes, removals: &removals)
      if removals.count > before { touched.insert(push.device) }
      return .queued(seq: entry.seq, replaced: replaced)
    }
  }

  mutating func acknowledge(_ seq: UInt64, of device: DeviceID = 1) {
    changes += index.acknowledge(device, through: seq, now: now)
    touched.insert(device)
  }

  mutating func advance(past seq: UInt64, of device: DeviceID = 1) {
    changes += index.advance(device, past: seq)
    touched.insert(device)
  }

  mutating func purge(_ device: DeviceID = 1, app: AppID?) {
    index.purge(device, app: app, now: now, changes: &changes, removals: &removals)
    touched.insert(device)
  }

  /// Advances the time and removes expired pushes.
  mutating func expire(after seconds: Int64) -> [DeviceID] {
    now += seconds
    let devices = index.expire(now: now, changes: &changes, removals: &removals)
    touched.formUnion(devices)
    return devices
  }

  /// Removes ids whose time has passed.
  mutating func forget() { changes += index.forgetRecent(now: now) }

  /// Writes all changes to the disk.
  mutating func commit() {
    apply(changes)
    for device in touched {
      let queue = index.queues[device] ?? MailboxIndex.DeviceQueue()
      states[device] = State(acknowledged: queue.acknowledged, lastSeq: queue.lastSeq, gap: queue.gap)
    }
    changes = []
    touched = []
  }

  /// Drops all state that is not on the disk, and starts again.
  mutating func crash() {
    index = MailboxIndex()
    changes = []
    touched = []
    for (device, state) in states {
      index.restore(device, acknowledged: state.acknowledged, lastSeq: state.lastSeq, gap: state.gap)
    }
    var stale: [MailboxIndex.RowChange] = []
    for (_, row) in rows.sorted(by: { $0.key < $1.key }) {
      var entry = row.entry
      entry.isRemoved = row.isBlank
      let isSound = index.restore(entry, of: row.device, now: now, changes: &stale, removals: &removals)
      precondition(isSound, "rows and numbers rise")
    }
    apply(stale)
  }

  private mutating func apply(_ changes: [MailboxIndex.RowChange]) {
    for change in changes {
      switch change {
      case .delete(let row): rows[row] = nil
      case .blank(let row): rows[row]?.isBlank = true
      case .renumber(let row, let seq): rows[row]?.entry.seq = seq
      }
    }
  }
}
