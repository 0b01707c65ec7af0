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
}
