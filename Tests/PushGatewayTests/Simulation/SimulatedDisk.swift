import PushTesting

@testable import PushCore
@testable import PushStorage

/// A disk with atomic transactions that fills up and that fails at the worst moment.
struct SimulatedDisk {
  /// The outcome of the next commit.
  enum Fate {
    case kept
    /// The disk is full: nothing is stored, and the writer gets an error.
    case full
    /// The machine stops before the commit is complete: nothing of it is stored.
    case crashBefore
    /// The machine stops after the commit is complete and before its result is reported.
    case crashAfter
  }

  /// The error if the machine has stopped.
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

  /// Returns the index that a start reads, with the logic of the SQLite mailbox. It changes nothing on the disk.
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

  /// Returns the entry of a row, or nil if it was removed.
  func entry(_ row: Int64) -> MailboxEntry? {
    guard let row = rows[row], !row.isBlank else { return nil }
    return MailboxEntry(seq: row.seq, push: row.push)
  }
}
