package import NATSClient

extension JetStream {
  /// Waits for an answer as long as a loaded machine may need for one, in tests in which no answer is lost.
  package static func patient(_ transport: any NATSTransport) -> JetStream {
    JetStream(transport, timeout: .seconds(120))
  }
}
