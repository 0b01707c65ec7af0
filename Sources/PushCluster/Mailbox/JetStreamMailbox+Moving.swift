import NATSClient
import PushCore
package import PushStorage
import Synchronization

/// What waits goes into a backup, and comes out of one.
extension JetStreamMailbox {
  // MARK: Into a backup

  /// Adds all that waits to a backup: what was stored before this was called is in it, unless it has left meanwhile.
  ///
  /// - Throws: ``StoreError`` when a stream does not answer.
  package func save(into backup: BackupMailbox) async throws {
    var highest: UInt64 = 0
    for partition in 0..<streams.partitions { highest = max(highest, try await save(partition, into: backup)) }
    try backup.finish(highest)
  }

  /// A reply may come from a replica that lags, or from several in turn: a stream was read as a whole when a mark was read
  /// that was stored last.
  ///
  /// - Returns: the mark's number.
  private func save(_ partition: Int, into backup: BackupMailbox) async throws -> UInt64 {
    let stream = streams.stream(partition)
    let mark = try await surely { () async throws(JetStreamError) -> UInt64 in
      try await engine.publish(
        streams.mark(partition), headers: [("Nats-Rollup", "sub"), ("Nats-TTL", Self.markLifetime)], []
      ).sequence
    }
    var (next, end): (UInt64, _) = (1, environment.now() + environment.patience)
    while next <= mark {
      let from = next
      let page = try await surely { () async throws(JetStreamError) -> MessageBatch in
        try await engine.messages(stream, subject: ">", from: from, limit: Self.pageSize, maximumSize: 4 << 20)
      }
      try add(page.messages.filter { $0.sequence < mark }, to: backup)
      if let last = page.messages.last {
        (next, end) = (last.sequence &+ 1, environment.now() + environment.patience)
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

  private static let markLifetime = "3600s"

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
        guard let gap = try? decodeJSON(StoredGap.self, from: message.body) else { continue }
        try backup.set(MailboxGap(from: gap.from, to: gap.to, dropped: gap.dropped), of: device)
      case nil: break
      }
    }
    try backup.append(entries)
  }

  // MARK: Out of a backup

  /// Stores all that waits in a backup, in its order. Nothing else may be stored meanwhile.
  ///
  /// - Throws: ``StoreError`` when not all of it could be stored.
  package func fill(from backup: RestoredBackup) async throws {
    try await fillGaps(from: backup)
    var row: Int64 = 0
    while true {
      let pushes = try backup.pushes(after: row, limit: Self.pageSize, now: now())
      guard let last = pushes.last else { return }
      let outcomes = await append(pushes.map(\.push))
      var moved: [RestoredBackup.Moved] = []
      for (push, outcome) in zip(pushes, outcomes) {
        guard case .queued(let seq, _) = outcome else {
          throw StoreError(
            "push \(push.push.id) of the backup was not stored (\(reason(for: outcome))): the restore failed")
        }
        moved.append(RestoredBackup.Moved(device: push.push.device, from: push.number, to: seq))
      }
      try backup.note(moved)
      row = last.row
      forget()
    }
  }

  private func reason(for outcome: AppendOutcome) -> String {
    if case .duplicate = outcome { return "it occurs twice: make another backup" }
    return problem?.problem ?? "the brokers refused it, or did not answer for \(environment.patience): try again"
  }

  /// Forgets what waits: however much a backup has, nobody asks for it here.
  private func forget() {
    state.withLock { state in
      state.boxes = state.boxes.filter { !$0.value.isIdle }
      state.known = state.boxes.values.reduce(0) { $0 + $1.count }
      state.expiring = [:]
    }
  }

  private func append(_ pushes: [StoredPush]) async -> [AppendOutcome] {
    await withCheckedContinuation { continuation in append(pushes) { continuation.resume(returning: $0) } }
  }

  /// What the cap drove out has the number before those of the stream: devices are told it before all that waits.
  private func fillGaps(from backup: RestoredBackup) async throws {
    var device = Int64.min
    while true {
      let gaps = try backup.gaps(after: device, limit: Self.pageSize)
      guard let last = gaps.last else { return }
      for gap in gaps {
        let highest = state.withLock { $0.highest[partition(of: gap.device)] }
        let body = controlJSON(StoredGap(from: highest, to: highest, dropped: gap.dropped))
        try await surely { () async throws(JetStreamError) in
          _ = try await engine.publish(streams.gap(of: gap.device), headers: [("Nats-Rollup", "sub")], body)
        }
      }
      device = last.device.row
    }
  }

  /// Asks again where an election goes on, and says for people what went wrong.
  private func surely<Value: Sendable>(
    _ ask: () async throws(JetStreamError) -> Value
  ) async throws(StoreError) -> Value {
    do { return try await patiently(ask) } catch {
      throw StoreError("the cluster's mailboxes don't answer: \(error)")
    }
  }
}
