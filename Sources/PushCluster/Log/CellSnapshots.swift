import Foundation
package import NATSClient
import PushCore
package import PushStorage

/// Copies of what a cell shares, as a database file in pieces in a stream: whoever comes new, or was away for long, begins
/// with one, and the log before it is not needed.
///
/// The pieces of a snapshot have the subjects `cell.snapshot.NAME.NUMBER`; when all are there, `cell.snapshot.NAME.end` says
/// what they are together. What lacks that, since its author was killed, is never read. Two snapshots are kept.
package struct CellSnapshots: Sendable {
  static let stream = "CELL_SNAPSHOTS"
  private static let pieceSize = 512 << 10
  private static let batch = 16

  /// What a snapshot is, as its last message says.
  private struct Manifest: Codable {
    /// Of no other: two gateways may write one at a time.
    var name: String
    /// The last entry of the log that is in it.
    var position: UInt64
    /// Where its pieces begin in the stream, and how many there are.
    var first: UInt64
    var pieces: Int
    /// SHA-256 of the file, in hexadecimal.
    var digest: String
    /// How many migrations its schema has.
    var schema: Int
  }

  private let engine: JetStream

  package init(_ engine: JetStream) { self.engine = engine }

  /// How the stream is kept.
  package static func configuration(replicas: Int) -> StreamConfiguration {
    var configuration = StreamConfiguration(name: stream, subjects: ["cell.snapshot.>"], replicas: replicas)
    configuration.allowsDirect = true
    return configuration
  }

  // MARK: Writing

  /// Stores a snapshot of a replica, and then lets go of what is not needed any longer: older snapshots but one, and the log
  /// before that one.
  ///
  /// A gateway that lacks what later versions have shared stores none: who begins with it would lack that for ever.
  ///
  /// - Parameter folder: where the file is made, which is removed again.
  package func write(_ store: SQLiteStore, in folder: String) async throws {
    guard try await !store.isPartialReplica() else { return }
    let path = folder + "/cell-snapshot.sqlite"
    defer { try? FileManager.default.removeItem(atPath: path) }
    let position = try await store.copyReplica(to: path)
    let before = try await newest()
    guard position > before?.position ?? 0 else { return }
    try await write(path, position: position, schema: store.schema.version)
    guard let before else { return }
    try await engine.purge(CellSnapshots.stream, below: before.first)
    try await engine.purge(CellLog.stream, below: before.position + 1)
  }

  /// Stores a file as a snapshot.
  ///
  /// - Parameter position: the last entry of the log that is in it.
  func write(_ path: String, position: UInt64, schema: Int) async throws {
    let bytes = try Data(contentsOf: URL(fileURLWithPath: path), options: .alwaysMapped)
    let name = randomUUID()
    let subject = "cell.snapshot.\(name)"
    var (first, count): (UInt64?, Int) = (nil, 0)
    for start in stride(from: 0, to: bytes.count, by: CellSnapshots.pieceSize) {
      let piece = Array(bytes[start..<min(start + CellSnapshots.pieceSize, bytes.count)])
      let stored = try await engine.publish("\(subject).\(count)", piece, timeout: .seconds(10))
      first = first ?? stored.sequence
      count += 1
    }
    let manifest = Manifest(
      name: name, position: position, first: first ?? 0, pieces: count, digest: CellSnapshots.digest(bytes),
      schema: schema)
    _ = try await engine.publish("\(subject).end", controlJSON(manifest), timeout: .seconds(10))
  }

  // MARK: Reading

  /// Whether there is one to begin with.
  ///
  /// - Throws: ``StoreError`` when it is of a later version than a schema.
  package func isThere(for schema: StoreSchema) async throws -> Bool {
    guard let manifest = try await newest() else { return false }
    guard manifest.schema <= schema.version else {
      throw StoreError(
        "this cluster was upgraded to a newer version (its schema is \(manifest.schema), this program's \(schema.version)): "
          + "start this gateway with that version")
    }
    return true
  }

  /// Writes the newest snapshot to a file, which is not there.
  ///
  /// - Throws: ``StoreError`` when it is not as it was written.
  package func read(to path: String) async throws {
    guard let manifest = try await newest() else { throw StoreError("the cluster has no snapshot") }
    var (bytes, next, found): (Data, UInt64, Int) = (Data(), manifest.first, 0)
    while found < manifest.pieces {
      let batch = try await engine.messages(
        CellSnapshots.stream, subject: "cell.snapshot.\(manifest.name).*", from: next,
        limit: min(CellSnapshots.batch, manifest.pieces - found))
      guard let last = batch.messages.last else { throw StoreError("the cluster's snapshot is incomplete: try again") }
      for piece in batch.messages where piece.subject == "cell.snapshot.\(manifest.name).\(found)" {
        bytes.append(contentsOf: piece.body)
        found += 1
      }
      next = last.sequence &+ 1
    }
    guard CellSnapshots.digest(bytes) == manifest.digest else {
      throw StoreError("the cluster's snapshot fails its checksum: try again")
    }
    try bytes.write(to: URL(fileURLWithPath: path), options: .atomic)
  }

  private func newest() async throws -> Manifest? {
    guard let message = try await engine.leaderMessage(CellSnapshots.stream, lastOf: "cell.snapshot.*.end") else {
      return nil
    }
    return try decodeJSON(Manifest.self, from: message.body)
  }

  private static func digest(_ bytes: Data) -> String {
    Digest.sha256(Array(bytes)).map { String(decoding: [hexDigit($0 >> 4), hexDigit($0 & 15)], as: UTF8.self) }.joined()
  }
}
