package import NATSClient

extension JetStream {
  /// Returns a client with a timeout that is long enough for a loaded machine. For tests in which no answer is lost.
  package static func patient(_ transport: any NATSTransport) -> JetStream {
    JetStream(transport, timeout: .seconds(120))
  }
}
