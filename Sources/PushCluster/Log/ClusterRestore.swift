import Foundation
package import Logging
package import NATSClient
import PushCore
package import PushStorage

/// A cell that begins with what a backup holds, of a gateway that was alone or of another cell.
///
/// What the gateways share becomes the cell's first snapshot, and what waits is stored in its mailboxes with numbers of
/// their own. Until all of it is there no gateway begins with the cell: what is cut short leaves nothing behind, or what
/// the next attempt removes.
package struct ClusterRestore: Sendable {
  private let engine: JetStream
  private let logger: Logger
  private let timeout: Duration
  private let now: @Sendable () -> Int64

  /// - Parameters:
  ///   - timeout: for the storage of a push, over all attempts.
  ///   - now: seconds since 1970.
  package init(
    _ engine: JetStream, logger: Logger, timeout: Duration = .seconds(60), now: @escaping @Sendable () -> Int64
  ) {
    (self.engine, self.logger, self.timeout, self.now) = (engine, logger, timeout, now)
  }

  /// Fills a new cell.
  ///
  /// - Parameters:
  ///   - partitions, replicas: of the cell; nil: as is usual.
  ///   - authority: called when the files of the backup are wanted: writes them, and tells those of the authority.
  /// - Throws: ``StoreError``, ``JetStreamError``: then the brokers have no cell.
  package func fill(
    from backup: RestoredBackup, partitions: Int?, replicas: Int?, authority: () throws -> [String: [UInt8]]
  ) async throws {
    let (cell, number) = try await CellIdentity.beginFilling(engine, partitions: partitions, replicas: replicas)
    let answering = try CellIdentity.sayFilling(engine)
    defer { answering.cancel() }
    do {
      try await store(backup, cell, authority)
    } catch {
      // What can't be removed now is removed by the next attempt; gateways refuse it meanwhile.
      try? await CellIdentity.removeFilling(cell, engine, number: number)
      throw error
    }
    try await CellIdentity.endFilling(cell, engine, after: number)
  }

  private func store(
    _ backup: RestoredBackup, _ cell: CellIdentity, _ authority: () throws -> [String: [UInt8]]
  ) async throws {
    _ = try await engine.ensureStream(CellLog.configuration(replicas: cell.replicas))
    _ = try await engine.ensureStream(CellSnapshots.configuration(replicas: cell.replicas))
    let time = now()
    // Nothing is driven out here: the gateways' own caps say what is later.
    // Nobody waits for an answer, and all of it would have to be done again.
    var environment = MailboxEnvironment()
    environment.patience = timeout
    let mailbox = JetStreamMailbox(
      engine, partitions: cell.partitions, replicas: cell.replicas,
      cap: max(1_000, 2 * (try backup.longestLine(now: time))), logger: logger, now: now, removed: { _ in },
      environment: environment)
    try await mailbox.start()
    try await mailbox.fill(from: backup)
    mailbox.close()
    // A snapshot says up to which entry it goes.
    let first = ChangeSet(changes: [])
    let position = try await engine.publish(
      CellLog.subject, headers: [(name: Chunks.header, value: "1/1")], try first.encoded()
    ).sequence
    let file = try backup.makeReplica(of: cell.id, position: position, authority: try authority())
    try await CellSnapshots(engine).write(file, position: position, schema: first.schema)
  }
}
