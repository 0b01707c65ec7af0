/// A live connection as it is listed.
package struct ConnectionRecord: Codable, Sendable {
  /// Counted from the start of the gateway.
  package var number: Int
  /// The peer's address; nil on the admin socket.
  package var address: String?
  package var environment: String
  /// Streams that are open.
  package var streams: Int

  package init(number: Int, address: String? = nil, environment: String, streams: Int) {
    self.number = number
    self.address = address
    self.environment = environment
    self.streams = streams
  }
}
