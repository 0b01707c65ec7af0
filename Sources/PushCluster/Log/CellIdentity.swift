import Foundation
package import NATSClient
import PushCore
import PushStorage

/// What was said when a cell was made, and stays: the first gateway that comes says it.
package struct CellIdentity: Codable, Sendable, Equatable {
  /// Of no other cell, nor of this one if its streams were lost: what numbers mean.
  package var id: String
  /// How many streams the mailboxes are spread over.
  package var partitions: Int
  /// How many brokers have each stream.
  package var replicas: Int
  /// Whether a backup is being restored into it, so that no gateway may begin with what is there.
  package var isFilling: Bool?

  package static let partitionRange = 1...1024
  package static let replicaRange = 1...5

  static let stream = "CELL_ABOUT"
  private static let subject = "cell.about"

  /// Finds the cell of a cluster, or makes it.
  ///
  /// - Parameters:
  ///   - partitions, replicas: for a new cell; nil: as is usual. Of one that is there they are what they are.
  /// - Throws: ``JetStreamError``, ``StoreError``.
  package static func find(_ engine: JetStream, partitions: Int?, replicas: Int?) async throws -> CellIdentity {
    if let known = try await read(engine) { return try known.identity.filled() }
    let proposed = CellIdentity(
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

  /// - Throws: ``StoreError`` while a backup is being restored into the cell.
  private func filled() throws(StoreError) -> CellIdentity {
    guard isFilling != true else {
      throw StoreError(
        "a backup is being restored into this cluster: start the gateway when `pushcli admin restore` has ended; if it was "
          + "killed, run it again")
    }
    return self
  }

  /// Finds the cell of a cluster that has one.
  ///
  /// - Throws: ``JetStreamError``, ``StoreError``.
  package static func find(_ engine: JetStream) async throws -> CellIdentity {
    guard let known = try await read(engine) else {
      throw StoreError(
        "these brokers have no data of gateways: name the brokers of the cluster's gateways with --backend")
    }
    return try known.identity.filled()
  }

  // MARK: Filling

  /// Makes a cell that no gateway begins with before ``endFilling(_:after:)``.
  ///
  /// - Returns: the cell, and the number under which this is known.
  /// - Throws: ``StoreError`` when there is one.
  static func beginFilling(
    _ engine: JetStream, partitions: Int?, replicas: Int?
  ) async throws -> (identity: CellIdentity, number: UInt64) {
    let known = try await read(engine)
    guard known == nil || known?.identity.isFilling == true else {
      throw StoreError(
        "these brokers have a cluster's data already: restore before a gateway was started on them, or name others with --backend"
      )
    }
    let log = try await engine.streamInfo(CellLog.stream)
    guard known != nil || log?.state.lastSequence ?? 0 == 0 else {
      throw StoreError(
        "these brokers have the log of a cluster without its stream \(stream): name others with --backend")
    }
    if let known {
      // Whoever began it answers while it goes on.
      let answer = try? await engine.transport.request(fillingSubject, [], timeout: engine.timeout)
      guard answer == nil else {
        throw StoreError("another restore into this cluster is running: wait until it has ended")
      }
      try await removeStreams(known.identity, engine)
    }
    let filling = CellIdentity(
      id: randomUUID(), partitions: partitions ?? 16, replicas: replicas ?? 3, isFilling: true)
    try await createStream(engine, replicas: filling.replicas)
    do {
      return (filling, try await write(filling, engine, after: known?.number ?? 0))
    } catch {
      guard error.isConflict else { throw error }
      throw StoreError("another gateway or restore was faster: these brokers have a cluster's data now")
    }
  }

  /// Answers others that want to fill the cell, until what is returned is cancelled.
  static func sayFilling(_ engine: JetStream) throws -> any EngineSubscription {
    let transport = engine.transport
    return try transport.subscribe(fillingSubject, queue: nil) { message in
      if let reply = message.reply { transport.publish(reply, []) }
    }
  }

  /// Lets gateways begin with the cell.
  static func endFilling(_ filling: CellIdentity, _ engine: JetStream, after number: UInt64) async throws {
    var filled = filling
    filled.isFilling = nil
    let end = ContinuousClock.now + fillingPatience
    while true {
      do {
        _ = try await write(filled, engine, after: number)
        return
      } catch {
        // An attempt that nobody answered may have been stored.
        if error.isConflict, try await read(engine)?.identity == filled { return }
        guard error.mayPass, .now < end else { throw error }
        try await Task.sleep(for: .milliseconds(200))
      }
    }
  }

  /// Leaves the brokers as they were before there was a cell.
  static func removeFilling(_ filling: CellIdentity, _ engine: JetStream, number: UInt64) async throws {
    guard try await read(engine)?.number == number else { return }
    try await removeStreams(filling, engine)
    try await engine.deleteStream(stream)
  }

  private static let fillingSubject = "cell.filling"
  /// How long the end is tried, over an election.
  private static let fillingPatience = Duration.seconds(10)

  private static func removeStreams(_ identity: CellIdentity, _ engine: JetStream) async throws {
    let mailboxes = MailboxStreams(partitions: min(identity.partitions, partitionRange.upperBound))
    let names = (0..<mailboxes.partitions).map(mailboxes.stream) + [CellLog.stream, CellSnapshots.stream]
    for name in names {
      do { try await engine.deleteStream(name) } catch { guard error.isNotFound else { throw error } }
    }
  }

  // MARK: The stream

  private static func createStream(_ engine: JetStream, replicas: Int) async throws {
    var configuration = StreamConfiguration(name: stream, subjects: [subject], replicas: replicas)
    configuration.maximumMessagesPerSubject = 1
    configuration.deniesDelete = true
    configuration.deniesPurge = true
    configuration.discard = "new"
    do { _ = try await engine.createStream(configuration) } catch {
      switch error.code {
      // Another gateway was faster, with other words.
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
    _ identity: CellIdentity, _ engine: JetStream, after number: UInt64
  ) async throws(JetStreamError) -> UInt64 {
    try await engine.publish(
      subject, headers: [(name: "Nats-Expected-Last-Subject-Sequence", value: "\(number)")], controlJSON(identity)
    ).sequence
  }

  private static func read(_ engine: JetStream) async throws -> (identity: CellIdentity, number: UInt64)? {
    guard let message = try await engine.leaderMessage(stream, lastOf: subject) else { return nil }
    do {
      let identity = try decodeJSON(CellIdentity.self, from: message.body)
      guard partitionRange.contains(identity.partitions), replicaRange.contains(identity.replicas) else {
        throw StoreError("\(identity.partitions) partitions, \(identity.replicas) replicas")
      }
      return (identity, message.sequence)
    } catch {
      throw StoreError(
        "the stream \(stream) has data that was not written by a gateway (\(error)): check the cluster's other uses")
    }
  }
}

extension JetStreamError.ErrorCode {
  fileprivate static let replicasNotSupported = JetStreamError.ErrorCode(rawValue: 10074)
}
