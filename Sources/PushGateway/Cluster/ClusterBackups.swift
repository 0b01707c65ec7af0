import Foundation
import GatewayProtocol
package import Logging
import NATSClient
import PushCluster
package import PushCore
package import PushStorage

/// Backups that are made and restored from a state folder whose gateway is stopped.
package enum ClusterBackups {
  /// Saves the state of a folder's gateway; in a cluster, the state of the whole cluster.
  ///
  /// - Parameter configuration: contains the addresses of the cluster's brokers.
  /// - Throws: an error whose description is one line for users.
  package static func save(
    _ folder: StateFolder, _ configuration: Configuration, to path: String, logger: Logger
  ) async throws -> Backup.Summary {
    guard FileManager.default.fileExists(atPath: folder.databasePath) else {
      throw StoreError("\(folder.path) holds no gateway: name its state folder with --state")
    }
    let claim = try folder.claim()
    defer { withExtendedLifetime(claim) {} }
    guard try ReplicaFile(folder.databasePath) != nil else {
      return try Backup.write(stopped: folder, to: path, now: Date())
    }
    guard let address = configuration.backend else {
      throw StoreError("\(folder.path) belongs to a gateway of a cluster: name the cluster's brokers with --backend")
    }
    let connection = try await GatewayBackend.connect(address, configuration)
    defer { connection.close() }
    let engine = JetStream(connection)
    try await engine.requireBroker()
    let cluster = try await ClusterIdentity.find(engine)
    let store = try await ClusterStore.open(folder.databasePath, of: cluster, engine: engine, durability: .normal)
    let log = ClusterLog(engine, store: store, snapshotIsDue: {}, failed: { _ in })
    defer { log.stop() }
    try await log.start()
    let mailbox = JetStreamMailbox(
      engine, partitions: cluster.partitions, replicas: cluster.replicas, cap: configuration.mailboxCap, logger: logger,
      now: { WallClock.system.seconds }, removed: { _ in })
    let summary = try await Backup.write(store, folder, to: path, now: Date(), waiting: mailbox.save)
    try store.close()
    return summary
  }

  /// Creates a cluster on brokers that have none, with all data of a backup. The backup's files are written to a
  /// state folder, for the cluster's first gateway.
  ///
  /// - Throws: an error whose description is one line for users; then no cluster was created.
  package static func restore(
    _ path: String, into folder: StateFolder, _ configuration: Configuration, logger: Logger
  ) async throws -> Backup.Summary {
    guard let address = configuration.backend else { throw StoreError("--backend names no brokers") }
    let summary = try Backup.summary(of: path)
    let claim = try folder.claim()
    defer { withExtendedLifetime(claim) {} }
    guard !FileManager.default.fileExists(atPath: folder.databasePath) else {
      throw StoreError("\(folder.path) holds a gateway already: name another folder with --state, or move that away")
    }
    let backup = try RestoredBackup(path, draft: folder.databasePath + ".restored")
    defer { backup.remove() }
    let connection = try await GatewayBackend.connect(address, configuration)
    defer { connection.close() }
    let engine = JetStream(connection)
    try await engine.requireBroker()
    let filling = ClusterRestore(engine, logger: logger) { WallClock.system.seconds }
    try await filling.fill(
      from: backup, partitions: configuration.cellPartitions, replicas: configuration.cellReplicas
    ) {
      try backup.writeFiles(into: folder)
      return folder.authorityFiles
    }
    return summary
  }
}
