import PushTesting

@testable import PushCore
@testable import PushStorage

/// A disk that keeps whole transactions or nothing of them, fills up, and fails at the worst moment.
struct SimulatedDisk {
  /// What becomes of the next commit.
  enum Fate {
    case kept
    /// The disk is full: nothing is kept, and the writer hears of it.
    case full
    /// The machine stops before the commit is complete: nothing of it is there afterwards.
    case crashBefore
    /// The machine stops after the commit is complete and before anybody hears of it.
    case crashAfter
  }

  /// The machine has stopped.
  struct Crash: Error {}
  struct Full: Error {}

  private struct Row {
    var push: StoredPush
    var seq: UInt64
    var isBlank = false
  }

  private var rows: [Int64: Row] = [:]
  private var states: [DeviceID: MailboxTransaction.State] = [:]

  mutating func commit(_ transaction: MailboxTransaction, fate: Fate) throws {
    switch fate {
    case .full: throw Full()
    case .crashBefore: throw Crash()
    case .kept, .crashAfter: break
    }
    for (push, entry) in transaction.appended {
      precondition(rows[entry.row] == nil, "a row was written twice")
      rows[entry.row] = Row(push: push, seq: entry.seq)
    }
    apply(transaction.changes)
    for state in transaction.states { states[state.device] = state }
    if fate == .crashAfter { throw Crash() }
  }

  private mutating func apply(_ changes: [MailboxIndex.RowChange]) {
    for change in changes {
      switch change {
      case .delete(let row): rows[row] = nil
      case .blank(let row): rows[row]?.isBlank = true
      case .renumber(let row, let seq): rows[row]?.seq = seq
      }
    }
  }

  /// The row of the next push after a start.
  var nextRow: Int64 { (rows.keys.max() ?? 0) + 1 }

  /// What a start reads, as the SQLite mailbox does: nothing is changed by it.
  func rebuild(now: Int64, changes: inout [MailboxIndex.RowChange], removals: inout [MailboxRemoval]) -> MailboxIndex {
    var index = MailboxIndex()
    for state in states.values {
      index.restore(
        state.device, acknowledged: state.acknowledged, lastSeq: state.lastSeq, gap: state.gap)
    }
    for (number, row) in rows.sorted(by: { $0.key < $1.key }) {
      let push = row.push
      let entry = MailboxIndex.Entry(
        row: number, seq: row.seq, app: push.app, id: push.id, isSenderID: push.isSenderID, received: push.received,
        expires: push.expires, collapseID: push.collapseID, isRemoved: row.isBlank)
      let isSound = index.restore(entry, of: push.device, now: now, changes: &changes, removals: &removals)
      precondition(isSound, "rows and numbers rise")
    }
    return index
  }

  /// The entry of a row, unless it is gone.
  func entry(_ row: Int64) -> MailboxEntry? {
    guard let row = rows[row], !row.isBlank else { return nil }
    return MailboxEntry(seq: row.seq, push: row.push)
  }
}
