/// An open connection as lists show it.
package struct ConnectionRecord: Codable, Sendable {
  /// The number of the connection since the start of the gateway.
  package var number: Int
  /// The peer's address; nil on the admin socket.
  package var address: String?
  package var environment: String
  /// The number of open streams.
  package var streams: Int

  package init(number: Int, address: String? = nil, environment: String, streams: Int) {
    self.number = number
    self.address = address
    self.environment = environment
    self.streams = streams
  }
}
