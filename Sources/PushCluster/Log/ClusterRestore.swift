import Foundation
package import Logging
package import NATSClient
package import PushStorage

/// Fills a new cluster with a backup of a single gateway or of another cluster.
///
/// The gateways' shared data becomes the cluster's first snapshot, and pending pushes are stored in its mailboxes with
/// new numbers. Until the restore is complete, no gateway starts with the cluster. An interrupted restore removes its
/// data, or the next attempt does.
package struct ClusterRestore: Sendable {
  private let engine: JetStream
  private let logger: Logger
  private let timeout: Duration
  private let now: @Sendable () -> Int64

  /// - Parameters:
  ///   - timeout: the time to store a push, including all retries.
  ///   - now: returns the time in seconds since 1970.
  package init(
    _ engine: JetStream, logger: Logger, timeout: Duration = .seconds(60), now: @escaping @Sendable () -> Int64
  ) {
    (self.engine, self.logger, self.timeout, self.now) = (engine, logger, timeout, now)
  }

  /// Fills a new cluster.
  ///
  /// - Parameters:
  ///   - partitions, replicas: the numbers of the cluster; nil: the defaults.
  ///   - authority: called when the files of the backup are needed: writes them, and returns the files of the CA.
  /// - Throws: ``StoreError``, ``JetStreamError``: the brokers then have no cluster.
  package func fill(
    from backup: RestoredBackup, partitions: Int?, replicas: Int?, authority: () throws -> [String: [UInt8]]
  ) async throws {
    let (cluster, number) = try await ClusterIdentity.beginFilling(engine, partitions: partitions, replicas: replicas)
    let answering = try ClusterIdentity.announceFilling(engine)
    defer { answering() }
    do {
      try await store(backup, cluster, authority)
    } catch {
      // The next attempt removes data that can't be removed now; gateways refuse it until then.
      try? await ClusterIdentity.removeFilling(cluster, engine, number: number)
      throw error
    }
    try await ClusterIdentity.endFilling(cluster, engine, after: number)
  }

  private func store(
    _ backup: RestoredBackup, _ cluster: ClusterIdentity, _ authority: () throws -> [String: [UInt8]]
  ) async throws {
    _ = try await engine.ensureStream(ClusterLog.configuration(replicas: cluster.replicas))
    _ = try await engine.ensureStream(ClusterSnapshots.configuration(replicas: cluster.replicas))
    let time = now()
    // Nothing is evicted here: the gateways' own limits apply later. No sender expects an answer, and a failure would
    // mean to repeat the whole restore.
    var environment = MailboxEnvironment()
    environment.timeout = timeout
    let mailbox = JetStreamMailbox(
      engine, partitions: cluster.partitions, replicas: cluster.replicas,
      cap: max(1_000, 2 * (try backup.longestLine(now: time))), logger: logger, now: now, removed: { _ in },
      environment: environment)
    try await mailbox.start()
    try await mailbox.fill(from: backup)
    mailbox.close()
    // A snapshot needs the position of its last entry.
    let first = ChangeSet(changes: [])
    let position = try await engine.publish(
      ClusterLog.subject, headers: [(name: Chunks.header, value: "1/1")], try first.encoded()
    ).sequence
    let file = try backup.makeReplica(of: cluster.id, position: position, authority: try authority())
    try await ClusterSnapshots(engine).write(file, position: position, schema: first.schema)
  }
}
