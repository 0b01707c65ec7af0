import NATSClient
import PushCore
package import PushStorage
import Synchronization

/// Saves pending pushes into a backup, and restores them from one.
extension JetStreamMailbox {
  // MARK: Into a backup

  /// Adds all pushes to a backup that were stored before the call and are still pending.
  ///
  /// - Throws: ``StoreError`` when a stream does not answer.
  package func save(into backup: BackupMailbox) async throws {
    var highest: UInt64 = 0
    for partition in 0..<streams.partitions { highest = max(highest, try await save(partition, into: backup)) }
    try backup.finish(highest)
  }

  /// Saves one stream. Answers may come from replicas that lag, so the stream was read completely only when a mark that
  /// this function stores at the end was read.
  ///
  /// - Returns: the mark's number.
  private func save(_ partition: Int, into backup: BackupMailbox) async throws -> UInt64 {
    let stream = streams.stream(partition)
    let mark = try await surely { () async throws(JetStreamError) in try await self.mark(partition) }
    var (next, end): (UInt64, _) = (1, environment.now() + environment.timeout)
    while next <= mark {
      let from = next
      let page = try await surely { () async throws(JetStreamError) in
        try await engine.messages(stream, subject: ">", from: from, limit: Self.pageSize, maximumSize: 4 << 20)
      }
      try add(page.messages.filter { $0.sequence < mark }, to: backup)
      if let last = page.messages.last {
        (next, end) = (last.sequence &+ 1, environment.now() + environment.timeout)
      } else {
        guard environment.now() < end else {
          throw StoreError("a replica of the stream \(stream) is behind: try again")
        }
        await environment.pause(.milliseconds(50))
        try Task.checkCancellation()
      }
    }
    return mark
  }

  private func add(_ messages: [StoredMessage], to backup: BackupMailbox) throws {
    var entries: [MailboxEntry] = []
    for message in messages {
      switch streams.content(of: message.subject) {
      case .push(let device):
        guard let push = PushHeaders.read(message.headers, message.body, of: device), push.expires > now() else {
          continue
        }
        entries.append(MailboxEntry(seq: message.sequence, push: push))
      case .gap(let device):
        guard let gap = try? decodeJSON(MailboxGap.self, from: message.body) else { continue }
        try backup.set(gap, of: device)
      case nil: break
      }
    }
    try backup.append(entries)
  }

  // MARK: Out of a backup

  /// Stores all pending pushes of a backup, in their order. No other push may be stored at the same time.
  ///
  /// - Throws: ``StoreError`` when not all pushes could be stored.
  package func fill(from backup: RestoredBackup) async throws {
    try await fillGaps(from: backup)
    var row: Int64 = 0
    while true {
      let pushes = try backup.pushes(after: row, limit: Self.pageSize, now: now())
      guard let last = pushes.last else { return }
      let outcomes = await append(pushes.map(\.push))
      var moved: [(device: DeviceID, from: UInt64, to: UInt64)] = []
      for (push, outcome) in zip(pushes, outcomes) {
        guard case .queued(let seq, _) = outcome else {
          throw StoreError(
            "push \(push.push.id) of the backup was not stored (\(reason(for: outcome))): the restore failed")
        }
        moved.append((push.push.device, push.number, seq))
      }
      try backup.note(moved)
      row = last.row
      forget()
    }
  }

  private func reason(for outcome: AppendOutcome) -> String {
    if case .duplicate = outcome { return "it occurs twice: make another backup" }
    return problem?.problem ?? "the brokers refused it, or did not answer for \(environment.timeout): try again"
  }

  /// Forgets the cached pushes, so that the size of a backup does not determine the memory; no device reads them here.
  private func forget() {
    state.withLock { state in
      state.caches = state.caches.filter { !$0.value.isIdle }
      state.known = state.caches.values.reduce(0) { $0 + $1.count }
      state.expiring = [:]
    }
  }

  private func append(_ pushes: [StoredPush]) async -> [AppendOutcome] {
    await withCheckedContinuation { continuation in append(pushes) { continuation.resume(returning: $0) } }
  }

  /// Stores the gaps of a backup with numbers below all pushes of the stream, so that devices receive a gap before the
  /// pending pushes.
  private func fillGaps(from backup: RestoredBackup) async throws {
    var device = Int64.min
    while true {
      let gaps = try backup.gaps(after: device, limit: Self.pageSize)
      guard let last = gaps.last else { return }
      for gap in gaps {
        let highest = state.withLock { $0.highest[partition(of: gap.device)] }
        let body = controlJSON(MailboxGap(from: highest, to: highest, dropped: gap.dropped))
        try await surely { () async throws(JetStreamError) in
          _ = try await engine.publish(streams.gap(of: gap.device), headers: [("Nats-Rollup", "sub")], body)
        }
      }
      device = last.device.row
    }
  }

  /// Retries during an election, and converts an error to one with a text for users.
  private func surely<Value: Sendable>(
    _ ask: () async throws(JetStreamError) -> Value
  ) async throws(StoreError) -> Value {
    do { return try await retrying(ask) } catch {
      throw StoreError("the cluster's mailboxes don't answer: \(error)")
    }
  }
}
