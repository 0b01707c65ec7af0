package import PushCore

/// The rebuilding from the rows of the table.
extension MailboxIndex {
  /// Takes a device's stored state.
  package mutating func restore(_ device: DeviceID, acknowledged: UInt64, lastSeq: UInt64, gap: MailboxGap?) {
    var queue = queues[device] ?? DeviceQueue()
    queue.acknowledged = acknowledged
    queue.lastSeq = max(queue.lastSeq, lastSeq, acknowledged)
    queue.durableSeq = queue.lastSeq
    queue.gap = gap
    queues[device] = queue
  }

  /// Takes a stored row; rows are passed in their order.
  ///
  /// `changes` collects the changes of obsolete rows. `removals` collects entries that a later one replaces: a crash
  /// may have come between the commit of the later entry and the removal of the earlier one.
  ///
  /// - Returns: false when rows, or the numbers of pending entries, do not increase: the mailbox is damaged and must
  ///   not be opened.
  package mutating func restore(
    _ entry: Entry, of device: DeviceID, now: Int64, changes: inout [RowChange], removals: inout [MailboxRemoval]
  ) -> Bool {
    guard entry.row >= nextRow else { return false }
    nextRow = entry.row + 1
    return change(queuePosition(of: device), isChecked: false) { index, queue in
      queue.lastSeq = max(queue.lastSeq, entry.seq)
      queue.durableSeq = queue.lastSeq
      let isWaiting = !entry.isRemoved && entry.seq > queue.acknowledged
      let dueBy = entry.received / 1000 + Int64(Limits.duplicateWindow)
      guard isWaiting || (entry.isSenderID && dueBy > now) else {
        changes.append(.delete(entry.row))
        return true
      }
      if entry.isSenderID {
        let key = RecentIDs.Key(device: device, app: entry.app, id: entry.id)
        index.recent.insert(key)
        if !isWaiting { index.recent.release(key, row: entry.row, dueBy: dueBy) }
      }
      guard isWaiting else { return true }
      guard queue.entries.last.map({ $0.seq < entry.seq }) ?? true else { return false }
      index.replace(entry, in: &queue, of: device, now: now, changes: &changes, removals: &removals)
      index.enter(Waiting(entry), entry.collapseID, into: &queue)
      return true
    }
  }
}
