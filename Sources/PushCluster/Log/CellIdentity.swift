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

  package static let partitionRange = 1...1024
  package static let replicaRange = 1...5

  private static let stream = "CELL_ABOUT"
  private static let subject = "cell.about"

  /// Finds the cell of a cluster, or makes it.
  ///
  /// - Parameters:
  ///   - partitions, replicas: for a new cell; nil: as is usual. Of one that is there they are what they are.
  /// - Throws: ``JetStreamError``, ``StoreError``.
  package static func find(_ engine: JetStream, partitions: Int?, replicas: Int?) async throws -> CellIdentity {
    if let known = try await read(engine) { return known }
    let proposed = CellIdentity(
      id: randomUUID(), partitions: partitions ?? 16, replicas: replicas ?? 3)
    var configuration = StreamConfiguration(name: stream, subjects: [subject], replicas: proposed.replicas)
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
          "the cluster can't keep \(proposed.replicas) copies of each stream: start \(proposed.replicas) brokers with "
            + "JetStream, or make the cell with --cell-replicas 1, which loses what its one broker loses")
      default: throw error
      }
    }
    do {
      _ = try await engine.publish(
        subject, headers: [(name: "Nats-Expected-Last-Subject-Sequence", value: "0")], controlJSON(proposed))
      return proposed
    } catch {
      guard error.isConflict, let known = try await read(engine) else { throw error }
      return known
    }
  }

  private static func read(_ engine: JetStream) async throws -> CellIdentity? {
    guard let message = try await engine.leaderMessage(stream, lastOf: subject) else { return nil }
    do {
      return try decodeJSON(CellIdentity.self, from: message.body)
    } catch {
      throw StoreError(
        "the stream \(stream) has what no gateway wrote (\(error)): is this cluster used for something else?")
    }
  }
}

extension JetStreamError.ErrorCode {
  fileprivate static let noSuitablePeers = JetStreamError.ErrorCode(rawValue: 10005)
  fileprivate static let replicasNotSupported = JetStreamError.ErrorCode(rawValue: 10074)
}
