import Foundation
import GatewayProtocol
import Logging
import NATSClient
import PushCluster
import PushCore
import PushStorage
import Synchronization

extension GatewayBackend {
  /// Mailboxes and all that is shared in a cluster of NATS, for gateways that are one cell.
  ///
  /// - Returns: this gateway's replica, too, in which lies what the cell shares.
  static func cell(
    _ context: Context, _ address: BackendAddress
  ) async throws -> (backend: GatewayBackend, store: SQLiteStore) {
    let (configuration, clock) = (context.configuration, context.clock)
    let folder = StateFolder(configuration.state)
    let connection = try await connect(address, configuration)
    do {
      let engine = JetStream(connection)
      try await engine.requireBroker()
      let identity = try await CellIdentity.find(
        engine, partitions: configuration.cellPartitions, replicas: configuration.cellReplicas)
      _ = try await engine.ensureStream(CellLog.configuration(replicas: identity.replicas))
      _ = try await engine.ensureStream(CellSnapshots.configuration(replicas: identity.replicas))
      // The engine keeps it: what this machine's disk loses is read again.
      let store = try await CellStore.open(folder.databasePath, of: identity, engine: engine, durability: .normal)
      let snapshots = SnapshotLine(CellSnapshots(engine), store, folder, logger: context.logger)
      let log = CellLog(engine, store: store, snapshotIsDue: { snapshots.write() }, failed: context.end)
      try await log.start()
      store.replica.join(log)
      let peers = CellPeers(
        connection,
        own: .init(
          id: randomUUID(), addresses: configuration.advertised ?? [], version: Version.text,
          schema: store.schemaVersion))
      let mailbox = JetStreamMailbox(
        engine, partitions: identity.partitions, replicas: identity.replicas, cap: configuration.mailboxCap,
        logger: context.logger, now: { clock.seconds }, removed: context.removed)
      let cell = Cell(
        identity, peers: peers, log: log, files: SharedFiles(store), mailbox: mailbox, transport: connection)
      try await cell.shareAuthority(folder)
      // All at once: what others change is taken over into what was read.
      let registrations = try SQLiteRegistrations(store: store, rowsReadAtOnce: .max)
      try await mailbox.start()
      let router = CellRouter(
        connection, mailbox: mailbox, partitions: identity.partitions, origin: peers.own.id)
      router.start()
      let backend = GatewayBackend(
        registrations: registrations, mailbox: mailbox, router: router,
        promise: .quorum(identity.replicas), epoch: NumberingEpoch(identity.id),
        gateways: { peers.others.filter { !$0.isLeaving }.flatMap(\.addresses).compactMap(GatewayAddress.init(line:)) },
        problems: { [mailbox.problem, cell.problem].compactMap(\.self) }, cell: cell,
        close: {
          router.stop()
          mailbox.close()
          log.stop()
          peers.stop()
          connection.close()
        })
      return (backend, store)
    } catch {
      connection.close()
      throw error
    }
  }

  static func connect(
    _ address: BackendAddress, _ configuration: Configuration
  ) async throws -> NATSConnection {
    do {
      return try await NATSConnection.connect(
        NATSOptions(
          servers: address.servers, credentials: configuration.natsCredentials, authority: configuration.natsAuthority))
    } catch {
      throw StoreError(
        "no broker of \(address.text) was reached (\(error)): start them, or see --backend, --nats-creds and --nats-ca")
    }
  }
}

extension DurabilityPromise {
  /// What a majority of brokers has.
  static func quorum(_ replicas: Int) -> DurabilityPromise {
    guard replicas > 1 else {
      return DurabilityPromise(
        name: "single", words: "with one broker: survives the death of any gateway, and of that broker's process only")
    }
    return DurabilityPromise(
      name: "quorum",
      words:
        "with a majority of \(replicas) brokers: survives the death of any gateway and of any one broker's machine; "
        + "unless the brokers have sync_interval: always, a power loss of two at once can take what came in that interval"
    )
  }
}

/// Writes one snapshot after another.
private final class SnapshotLine: Sendable {
  private let snapshots: CellSnapshots
  private let store: SQLiteStore
  private let folder: StateFolder
  private let logger: Logger
  private let isWriting = Atomic<Bool>(false)

  init(_ snapshots: CellSnapshots, _ store: SQLiteStore, _ folder: StateFolder, logger: Logger) {
    (self.snapshots, self.store, self.folder, self.logger) = (snapshots, store, folder, logger)
  }

  /// Begins one, unless one is being written.
  func write() {
    guard !isWriting.exchange(true, ordering: .acquiringAndReleasing) else { return }
    Task { [self] in
      do {
        try await snapshots.write(store, in: folder.path)
      } catch {
        logger.log(
          .cellSnapshotNotStored, "the cell's snapshot was not stored: \(error); the next entries bring another")
      }
      isWriting.store(false, ordering: .releasing)
    }
  }
}
