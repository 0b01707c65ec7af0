import PushCore
import PushStorage

/// A gateway's membership in a cluster: its connections to the other gateways, apart from the storage backend.
protocol Cluster: Sendable {
  /// Makes changes by other gateways reach the streams of this one.
  func join(channels: Channels, liveChannels: LiveChannels, router: any PushRouter, schedule: Schedule) throws
  /// Announces the addresses of this gateway for devices.
  func announce(_ addresses: [String])
  /// Announces that this gateway accepts no more work.
  func leave()
  /// Sends a broadcast that is never stored to the streams of the other gateways.
  func broadcast(_ message: BroadcastMessage)
  /// Publishes the changed CA of a state folder to the other gateways.
  func publishAuthority(_ folder: StateFolder) async throws
  /// Saves all data of the cluster, and a gateway's state folder.
  func save(_ store: SQLiteStore, _ folder: StateFolder, to path: String) async throws -> Backup.Summary

  /// This gateway.
  var gateway: ClusterMember { get }
  /// The other gateways that were present within the last hour, the present ones first.
  var others: [ClusterMember] { get }
  /// True for a short time after the start, when this gateway may not have found an absent gateway yet.
  var isNew: Bool { get }
  /// Registers a handler for requests of other gateways under a name.
  ///
  /// - Parameter body: returns the response; an empty one means that there is none.
  func answer(_ name: String, _ body: @escaping @Sendable (_ question: [UInt8]) async -> [UInt8]) throws
  /// Sends a request to another gateway.
  ///
  /// - Returns: nil if the gateway has not answered in time, or is absent.
  func ask(_ gateway: ClusterMember, _ name: String, _ question: [UInt8], within time: Duration) async -> [UInt8]?
  /// Registers a handler for messages that other gateways send to all under a name.
  func subscribe(_ name: String, _ body: @escaping @Sendable (_ message: [UInt8]) -> Void) throws
  /// Sends a message to all other gateways. A gateway that is not connected at the moment misses it.
  func publish(_ name: String, _ message: [UInt8])
}

/// A gateway of a cluster, as seen by the others.
struct ClusterMember: Sendable, Equatable {
  /// The id of its state folder, which survives restarts.
  var id: String
  /// The id of its process; nil while it is absent.
  var process: String?
  /// The display name: its address for devices.
  var name: String
}
