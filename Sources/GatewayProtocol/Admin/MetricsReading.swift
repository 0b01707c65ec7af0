/// The figures of the console's charts at one time. Counters count from the start of the gateway.
package struct MetricsReading: Codable, Sendable, Equatable {
  /// RFC 3339, UTC.
  package var at: String
  package var accepted: UInt64
  /// The pushes that devices acknowledged.
  package var delivered: UInt64
  /// The pushes that a rule for senders refused.
  package var refused: UInt64
  /// The present number of pending pushes.
  package var pending: UInt64
  /// The present number of open connections.
  package var connections: UInt64
  /// The upper bounds of the times from a request to the stream of a connected device, in seconds.
  package var bounds: [Double]
  /// The number of pushes within each bound and above the bound before it; the last one is for longer times.
  package var counts: [UInt64]

  package init(
    at: String, accepted: UInt64, delivered: UInt64, refused: UInt64, pending: UInt64, connections: UInt64,
    bounds: [Double], counts: [UInt64]
  ) {
    self.at = at
    self.accepted = accepted
    self.delivered = delivered
    self.refused = refused
    self.pending = pending
    self.connections = connections
    self.bounds = bounds
    self.counts = counts
  }
}
