import Foundation
import GatewayProtocol
import Logging
import NATSClient
import NIOCore
import PushCluster
import PushCore
import PushStorage
import Synchronization

extension GatewayBackend {
  /// Creates the backend of a clustered gateway: mailboxes and shared state in a cluster of NATS brokers.
  ///
  /// - Returns: the backend, and this gateway's replica of the shared state.
  static func cluster(
    _ context: Context, _ address: BackendAddress
  ) async throws -> (backend: GatewayBackend, store: SQLiteStore) {
    let (configuration, clock) = (context.configuration, context.clock)
    let folder = StateFolder(configuration.state)
    var retry = BrokerRetry(logger: context.logger)
    let connection = try await retry.wait { try await connect(address, configuration) }
    do {
      let engine = JetStream(connection)
      let identity = try await retry.wait { try await found(engine, configuration) }
      let durability = try await retry.wait {
        try await DurabilityLevel.asked(
          of: configuration.natsMonitors ?? [], replicas: identity.replicas, durability: configuration.durability)
      }
      // JetStream stores the data durably: data that this machine's disk loses is read again.
      let store = try await retry.wait {
        try await ClusterStore.open(folder.databasePath, of: identity, engine: engine, durability: .normal)
      }
      let snapshots = SnapshotQueue(ClusterSnapshots(engine), store, folder, logger: context.logger)
      let log = clusterLog(engine, store, snapshots, context)
      try await log.start()
      store.replica.join(log)
      let peers = Membership(
        connection,
        own: .init(
          id: randomUUID(), folder: try folder.gatewayID(), addresses: configuration.advertised ?? [],
          version: Version.text, schema: store.schema.version))
      let mailbox = JetStreamMailbox(
        engine, partitions: identity.partitions, replicas: identity.replicas, cap: configuration.mailboxCap,
        logger: context.logger, now: { clock.seconds }, removed: context.removed)
      let files = SharedFiles(store)
      let cluster = JetStreamCluster(peers: peers, log: log, files: files, mailbox: mailbox)
      let authority = SharedAuthority(files, folder, logger: context.logger)
      try await retry.wait { try await authority.share() }
      let current = SharedDataWatch(catchUp: { try await log.catchUp() })
      try current.answer(cluster)
      current.start()
      let registrations = try await onThread { try SQLiteRegistrations(store: store) }
      try await mailbox.start()
      let router = ClusterRouter(
        connection, mailbox: mailbox, partitions: identity.partitions, origin: peers.own.id)
      router.start()
      let watch = BrokerWatch(engine, logger: context.logger)
      watch.start()
      let cutOff = cutOffWatch(connection, cluster, router, folder, context.logger)
      cutOff.start()
      let backend = GatewayBackend(
        registrations: registrations, mailbox: mailbox, router: router,
        durability: durability, epoch: NumberingEpoch(identity.id),
        gateways: { cluster.addresses },
        problems: { [mailbox.problem, cluster.problem].compactMap(\.self) },
        // If all brokers are down, another gateway can't read the mailbox either.
        readTimeout: .minutes(2), isCutOff: { cutOff.isCutOff },
        isCurrent: { current.isCurrent }, becomeCurrent: { try await current.becomeCurrent() }, cluster: cluster,
        tend: { await authority.tend() },
        close: {
          current.stop()
          cutOff.stop()
          watch.stop()
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

  /// Returns the log of the cluster, which is not started.
  private static func clusterLog(
    _ engine: JetStream, _ store: SQLiteStore, _ snapshots: SnapshotQueue, _ context: Context
  ) -> ClusterLog {
    ClusterLog(
      engine, store: store, snapshotIsDue: { snapshots.write() }, failed: context.end,
      metLater: { schema in
        context.logger.log(
          .cellUpgraded,
          "another gateway of this cluster runs a newer version: its new fields are ignored until this gateway is upgraded",
          metadata: ["schema": "\(store.schema.version)", "later-schema": "\(schema)"])
      },
      passedOver: { position, fault in
        context.logger.log(
          .cellEntryUnreadable, "skipped an invalid entry of the cluster's log: \(fault)",
          metadata: ["position": "\(position)"])
      })
  }

  /// Returns the watch that redirects the devices if this gateway reaches no broker.
  private static func cutOffWatch(
    _ connection: NATSConnection, _ cluster: JetStreamCluster, _ router: ClusterRouter, _ folder: StateFolder,
    _ logger: Logger
  ) -> CutOffWatch {
    CutOffWatch(
      isConnected: { connection.link.isConnected },
      isOtherReady: { await OtherGateways.isAnyReady(cluster.addresses, trustPath: folder.trustPath) },
      changed: { isCutOff in
        guard isCutOff else { return logger.log(.gatewayBack, "the gateway accepts devices again") }
        router.notifyAll(.cutOff)
        logger.log(
          .gatewayCutOff, "this gateway reaches no broker, and another gateway is ready: devices are redirected to it"
        )
      })
  }

  /// Finds or creates the identity of the cluster on brokers of a supported version, and its shared streams.
  private static func found(_ engine: JetStream, _ configuration: Configuration) async throws -> ClusterIdentity {
    try await engine.requireBroker()
    let identity = try await ClusterIdentity.find(
      engine, partitions: configuration.cellPartitions, replicas: configuration.cellReplicas)
    _ = try await engine.ensureStream(ClusterLog.configuration(replicas: identity.replicas))
    _ = try await engine.ensureStream(ClusterSnapshots.configuration(replicas: identity.replicas))
    return identity
  }

  static func connect(
    _ address: BackendAddress, _ configuration: Configuration
  ) async throws -> NATSConnection {
    let options = NATSOptions(
      servers: address.servers, credentials: configuration.natsCredentials, authority: configuration.natsAuthority,
      name: "pushgateway \(configuration.state)")
    do { return try await NATSConnection.connect(options) } catch {
      throw StoreError(
        "no broker of \(address.text) was reached (\(error)): start them, or check --backend, --nats-creds and --nats-ca",
        mayPass: BrokerRetry.mayPass(error))
    }
  }
}

/// Writes snapshots one after another.
private final class SnapshotQueue: Sendable {
  private let snapshots: ClusterSnapshots
  private let store: SQLiteStore
  private let folder: StateFolder
  private let logger: Logger
  private let isWriting = Atomic<Bool>(false)

  init(_ snapshots: ClusterSnapshots, _ store: SQLiteStore, _ folder: StateFolder, logger: Logger) {
    (self.snapshots, self.store, self.folder, self.logger) = (snapshots, store, folder, logger)
  }

  /// Starts a snapshot, unless one is being written.
  func write() {
    guard !isWriting.exchange(true, ordering: .acquiringAndReleasing) else { return }
    Task { [self] in
      do {
        try await snapshots.write(store, in: folder.path)
      } catch {
        logger.log(
          .cellSnapshotNotStored,
          "the cluster's snapshot was not stored: \(error); the next log entries trigger another")
      }
      isWriting.store(false, ordering: .releasing)
    }
  }
}
