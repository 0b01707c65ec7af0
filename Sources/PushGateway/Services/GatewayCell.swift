import PushCore
import PushStorage

/// A gateway's part in a cell: what joins it to the others beside its backend.
protocol GatewayCell: Sendable {
  /// Has what other gateways change reach the streams of this one.
  func join(channels: Channels, liveChannels: LiveChannels, router: any PushRouter, schedule: Schedule) throws
  /// Says where devices reach this gateway.
  func announce(_ addresses: [String])
  /// Says that this gateway takes on nothing more.
  func leave()
  /// Hands a broadcast that is never stored to the streams of the other gateways.
  func broadcast(_ message: BroadcastMessage)
  /// Tells the others that the folder's authority has changed.
  func publishAuthority(_ folder: StateFolder) async throws
  /// Saves all that the cell has, and a gateway's folder.
  func save(_ store: SQLiteStore, _ folder: StateFolder, to path: String) async throws -> Backup.Summary

  /// This gateway.
  var gateway: ClusterMember { get }
  /// The other gateways that were heard of in the last hour, those first that are there now.
  var others: [ClusterMember] { get }
  /// Whether this gateway began a moment ago, so that it may not have heard of one that is away.
  var isNew: Bool { get }
  /// Answers what other gateways ask of this one under a name.
  ///
  /// - Parameter body: makes the answer; an empty one says that there is none.
  func answer(_ name: String, _ body: @escaping @Sendable (_ question: [UInt8]) async -> [UInt8]) throws
  /// Asks another gateway.
  ///
  /// - Returns: nil when it has not answered in time, or is not there.
  func ask(_ gateway: ClusterMember, _ name: String, _ question: [UInt8], within time: Duration) async -> [UInt8]?
  /// Calls `body` with what other gateways tell all of them under a name.
  func hear(_ name: String, _ body: @escaping @Sendable (_ message: [UInt8]) -> Void) throws
  /// Tells all other gateways; what they miss meanwhile is lost.
  func tell(_ name: String, _ message: [UInt8])
}

/// A gateway of a cell, as the others know it.
struct ClusterMember: Sendable, Equatable {
  /// Its state folder's, which stays over restarts.
  var id: String
  /// Of this process; nil: it is not there now.
  var process: String?
  /// What people call it: where devices reach it.
  var name: String
}
