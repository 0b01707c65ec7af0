import Foundation
package import NATSClient
import PushCore
import PushStorage

/// The immutable properties of a cluster: the first gateway defines them.
package struct ClusterIdentity: Codable, Sendable, Equatable {
  /// The id of the cluster's numbering. No other cluster has it, nor this one if its streams were lost.
  package var id: String
  /// The number of streams over which the mailboxes are spread.
  package var partitions: Int
  /// The number of replicas of each stream.
  package var replicas: Int
  /// True while a backup is being restored into the cluster, so that no gateway may start with its data.
  package var isFilling: Bool?

  package static let partitionRange = 1...1024
  package static let replicaRange = 1...5

  static let stream = "CELL_ABOUT"
  private static let subject = "cell.about"

  /// Returns the cluster's identity, or creates it.
  ///
  /// - Parameters:
  ///   - partitions, replicas: for a new cluster; nil: the defaults, 16 and 3. An existing cluster keeps its numbers.
  /// - Throws: ``JetStreamError``, ``StoreError``.
  package static func find(_ engine: JetStream, partitions: Int?, replicas: Int?) async throws -> ClusterIdentity {
    if let known = try await read(engine) { return try known.identity.filled() }
    let proposed = ClusterIdentity(
      id: randomUUID(), partitions: partitions ?? 16, replicas: replicas ?? 3)
    try await createStream(engine, replicas: proposed.replicas)
    do {
      _ = try await write(proposed, engine, after: 0)
      return proposed
    } catch {
      guard error.isConflict, let known = try await read(engine) else { throw error }
      return try known.identity.filled()
    }
  }

  /// Returns the identity if no restore is running.
  ///
  /// - Throws: ``StoreError`` while a backup is being restored into the cluster.
  private func filled() throws(StoreError) -> ClusterIdentity {
    guard isFilling != true else {
      throw StoreError(
        "a backup is being restored into this cluster: start the gateway when `pushcli admin restore` has ended; if it was "
          + "killed, run it again")
    }
    return self
  }

  /// Returns the identity of an existing cluster.
  ///
  /// - Throws: ``JetStreamError``, ``StoreError``.
  package static func find(_ engine: JetStream) async throws -> ClusterIdentity {
    guard let known = try await read(engine) else {
      throw StoreError(
        "these brokers have no data of gateways: name the brokers of the cluster's gateways with --backend")
    }
    return try known.identity.filled()
  }

  // MARK: Filling

  /// Creates a cluster with which no gateway starts before ``endFilling(_:_:after:)``.
  ///
  /// - Returns: the identity, and the sequence number of its message.
  /// - Throws: ``StoreError`` when the cluster exists already.
  static func beginFilling(
    _ engine: JetStream, partitions: Int?, replicas: Int?
  ) async throws -> (identity: ClusterIdentity, number: UInt64) {
    let known = try await read(engine)
    guard known == nil || known?.identity.isFilling == true else {
      throw StoreError(
        "these brokers have a cluster's data already: restore before a gateway was started on them, or name others with --backend"
      )
    }
    let log = try await engine.streamInfo(ClusterLog.stream)
    guard known != nil || log?.state.lastSequence ?? 0 == 0 else {
      throw StoreError(
        "these brokers have the log of a cluster without its stream \(stream): name others with --backend")
    }
    if let known {
      // The process that began the restore answers while it is running.
      let answer = try? await engine.transport.request(fillingSubject, [], timeout: engine.timeout)
      guard answer == nil else {
        throw StoreError("another restore into this cluster is running: wait until it has ended")
      }
      try await removeStreams(known.identity, engine)
    }
    let filling = ClusterIdentity(
      id: randomUUID(), partitions: partitions ?? 16, replicas: replicas ?? 3, isFilling: true)
    try await createStream(engine, replicas: filling.replicas)
    do {
      return (filling, try await write(filling, engine, after: known?.number ?? 0))
    } catch {
      guard error.isConflict else { throw error }
      throw StoreError("another gateway or restore was faster: these brokers have a cluster's data now")
    }
  }

  /// Answers other processes that want to fill the cluster, until the returned function is called.
  static func announceFilling(_ engine: JetStream) throws -> @Sendable () -> Void {
    let transport = engine.transport
    return try transport.subscribe(fillingSubject, queue: nil) { message in
      if let reply = message.reply { transport.publish(reply, []) }
    }
  }

  /// Allows gateways to start with the cluster.
  static func endFilling(_ filling: ClusterIdentity, _ engine: JetStream, after number: UInt64) async throws {
    var filled = filling
    filled.isFilling = nil
    let end = ContinuousClock.now + fillingTime
    while true {
      do {
        _ = try await write(filled, engine, after: number)
        return
      } catch {
        // An attempt without an answer may have been stored.
        if error.isConflict, try await read(engine)?.identity == filled { return }
        guard error.mayPass, .now < end else { throw error }
        try await Task.sleep(for: .milliseconds(200))
      }
    }
  }

  /// Restores the state of the brokers before the cluster was created.
  static func removeFilling(_ filling: ClusterIdentity, _ engine: JetStream, number: UInt64) async throws {
    guard try await read(engine)?.number == number else { return }
    try await removeStreams(filling, engine)
    try await engine.deleteStream(stream)
  }

  private static let fillingSubject = "cell.filling"
  /// The time for which the end of the restore is retried, to bridge an election.
  private static let fillingTime = Duration.seconds(10)

  private static func removeStreams(_ identity: ClusterIdentity, _ engine: JetStream) async throws {
    let mailboxes = MailboxStreams(partitions: min(identity.partitions, partitionRange.upperBound))
    let names = (0..<mailboxes.partitions).map(mailboxes.stream) + [ClusterLog.stream, ClusterSnapshots.stream]
    for name in names {
      do { try await engine.deleteStream(name) } catch { guard error.isNotFound else { throw error } }
    }
  }

  // MARK: The stream

  private static func createStream(_ engine: JetStream, replicas: Int) async throws {
    var configuration = StreamConfiguration(name: stream, subjects: [subject], replicas: replicas)
    configuration.maximumMessagesPerSubject = history
    configuration.deniesDelete = true
    configuration.deniesPurge = true
    configuration.discard = "new"
    do { _ = try await engine.createStream(configuration) } catch {
      switch error.code {
      // Another gateway created the stream first, with other settings.
      case .streamNameInUse?: break
      case .noSuitablePeers?, .replicasNotSupported?, .insufficientResources?:
        throw StoreError(
          "the cluster can't keep \(replicas) copies of each stream: start \(replicas) brokers with "
            + "JetStream, or create the gateways' cluster with --cell-replicas 1, where a failure of its broker can lose data",
          mayPass: error.mayPass)
      default: throw error
      }
    }
  }

  private static func write(
    _ identity: ClusterIdentity, _ engine: JetStream, after number: UInt64
  ) async throws(JetStreamError) -> UInt64 {
    try await engine.publish(
      subject, headers: [(name: "Nats-Expected-Last-Subject-Sequence", value: "\(number)")], controlJSON(identity)
    ).sequence
  }

  /// The number of messages that the stream keeps: a message of another program must not remove the identity.
  private static let history: Int64 = 100

  /// Reads the newest message that is an identity, and skips those of other programs.
  private static func read(_ engine: JetStream) async throws -> (identity: ClusterIdentity, number: UInt64)? {
    guard let newest = try await engine.leaderMessage(stream, lastOf: subject) else { return nil }
    var message = newest
    while true {
      if let identity = try? identity(message.body) { return (identity, message.sequence) }
      guard message.sequence > 1, let earlier = try await engine.leaderMessage(stream, sequence: message.sequence - 1)
      else { break }
      message = earlier
    }
    do { return (try identity(newest.body), newest.sequence) } catch {
      throw StoreError(
        "the stream \(stream) has data that was not written by a gateway (\(error)): check the cluster's other uses")
    }
  }

  private static func identity(_ body: [UInt8]) throws -> ClusterIdentity {
    let identity = try decodeJSON(ClusterIdentity.self, from: body)
    guard partitionRange.contains(identity.partitions), replicaRange.contains(identity.replicas) else {
      throw StoreError("\(identity.partitions) partitions, \(identity.replicas) replicas")
    }
    return identity
  }
}

extension JetStreamError.ErrorCode {
  fileprivate static let replicasNotSupported = JetStreamError.ErrorCode(rawValue: 10074)
}
