import Foundation
package import NATSClient
import PushCore
package import PushStorage

/// Snapshots of a cluster's shared data, each a database file in pieces in a stream. A new gateway, or one that was
/// offline for long, starts with a snapshot and needs no earlier entries of the log.
///
/// The pieces of a snapshot have the subjects `cell.snapshot.NAME.NUMBER`. After the last one, the message
/// `cell.snapshot.NAME.end` describes all of them. A snapshot without that message, for example of a killed gateway, is
/// never read. Two snapshots are kept.
package struct ClusterSnapshots: Sendable {
  static let stream = "CELL_SNAPSHOTS"
  private static let pieceSize = 512 << 10
  private static let batch = 16

  /// The description of a snapshot, in its last message.
  private struct Manifest: Codable {
    /// The unique name of the snapshot: two gateways may write one at the same time.
    var name: String
    /// The last entry of the log that the snapshot contains.
    var position: UInt64
    /// The sequence number of the first piece in the stream, and the number of pieces.
    var first: UInt64
    var pieces: Int
    /// The SHA-256 of the file, in hexadecimal.
    var digest: String
    /// The number of migrations of its schema.
    var schema: Int
  }

  private let engine: JetStream

  package init(_ engine: JetStream) { self.engine = engine }

  package static func configuration(replicas: Int) -> StreamConfiguration {
    var configuration = StreamConfiguration(name: stream, subjects: ["cell.snapshot.>"], replicas: replicas)
    configuration.allowsDirect = true
    return configuration
  }

  // MARK: Writing

  /// Stores a snapshot of a replica. Then it deletes older snapshots except one, and the log before that one.
  ///
  /// A gateway that lacks data that later versions have shared stores no snapshot: a gateway that started with it would
  /// never receive that data.
  ///
  /// - Parameter folder: the folder of the temporary file, which is removed afterwards.
  package func write(_ store: SQLiteStore, in folder: String) async throws {
    guard try await !store.isPartialReplica() else { return }
    let path = folder + "/cell-snapshot.sqlite"
    defer { try? FileManager.default.removeItem(atPath: path) }
    let position = try await store.copyReplica(to: path)
    let before = try await newest()
    guard position > before?.position ?? 0 else { return }
    try await write(path, position: position, schema: store.schema.version)
    guard let before else { return }
    try await engine.purge(ClusterSnapshots.stream, below: before.first)
    try await engine.purge(ClusterLog.stream, below: before.position + 1)
  }

  /// Stores a file as a snapshot.
  ///
  /// - Parameter position: the last entry of the log that the file contains.
  func write(_ path: String, position: UInt64, schema: Int) async throws {
    let bytes = try Data(contentsOf: URL(fileURLWithPath: path), options: .alwaysMapped)
    let name = randomUUID()
    let subject = "cell.snapshot.\(name)"
    var (first, count): (UInt64?, Int) = (nil, 0)
    for start in stride(from: 0, to: bytes.count, by: ClusterSnapshots.pieceSize) {
      let piece = Array(bytes[start..<min(start + ClusterSnapshots.pieceSize, bytes.count)])
      let stored = try await engine.publish("\(subject).\(count)", piece, timeout: .seconds(10))
      first = first ?? stored.sequence
      count += 1
    }
    let manifest = Manifest(
      name: name, position: position, first: first ?? 0, pieces: count, digest: ClusterSnapshots.digest(bytes),
      schema: schema)
    _ = try await engine.publish("\(subject).end", controlJSON(manifest), timeout: .seconds(10))
  }

  // MARK: Reading

  /// Returns true if the cluster has a snapshot.
  ///
  /// - Throws: ``StoreError`` when the snapshot has a later version than `schema`.
  package func isThere(for schema: StoreSchema) async throws -> Bool {
    guard let manifest = try await newest() else { return false }
    guard manifest.schema <= schema.version else {
      throw StoreError(
        "this cluster was upgraded to a newer version (its schema is \(manifest.schema), this program's \(schema.version)): "
          + "start this gateway with that version")
    }
    return true
  }

  /// Writes the newest snapshot to a file that does not exist yet.
  ///
  /// - Throws: ``StoreError`` when pieces are missing or the checksum is wrong.
  package func read(to path: String) async throws {
    guard let manifest = try await newest() else { throw StoreError("the cluster has no snapshot") }
    var (bytes, next, found): (Data, UInt64, Int) = (Data(), manifest.first, 0)
    while found < manifest.pieces {
      let batch = try await engine.messages(
        ClusterSnapshots.stream, subject: "cell.snapshot.\(manifest.name).*", from: next,
        limit: min(ClusterSnapshots.batch, manifest.pieces - found))
      guard let last = batch.messages.last else { throw StoreError("the cluster's snapshot is incomplete: try again") }
      for piece in batch.messages where piece.subject == "cell.snapshot.\(manifest.name).\(found)" {
        bytes.append(contentsOf: piece.body)
        found += 1
      }
      next = last.sequence &+ 1
    }
    guard ClusterSnapshots.digest(bytes) == manifest.digest else {
      throw StoreError("the cluster's snapshot fails its checksum: try again")
    }
    try bytes.write(to: URL(fileURLWithPath: path), options: .atomic)
  }

  private func newest() async throws -> Manifest? {
    guard let message = try await engine.leaderMessage(ClusterSnapshots.stream, lastOf: "cell.snapshot.*.end") else {
      return nil
    }
    return try decodeJSON(Manifest.self, from: message.body)
  }

  private static func digest(_ bytes: Data) -> String { Digest.hex(Digest.sha256(Array(bytes))) }
}
