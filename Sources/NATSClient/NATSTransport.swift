/// The transport of messages to and from the cluster. Every method returns immediately, on any thread; requests are
/// sent in the order of the calls.
///
/// Tests use a model of the broker as another transport.
package protocol NATSTransport: Sendable {
  /// Sends a request; `completion` is called once, on a thread of the transport, which it must not block.
  func request(
    _ subject: String, headers: [(name: String, value: String)], _ body: [UInt8], timeout: Duration,
    completion: @escaping @Sendable (Result<NATSMessage, NATSError>) -> Void)

  /// Sends a request that several messages answer. The last one has a ``NATSMessage/status`` and is part of the result.
  /// `timeout` is the maximum time between two messages.
  func requestMany(
    _ subject: String, _ body: [UInt8], timeout: Duration,
    completion: @escaping @Sendable (Result<[NATSMessage], NATSError>) -> Void)

  /// Sends a message without a confirmation. While no broker is connected, the message is dropped.
  func publish(_ subject: String, reply: String?, headers: [(name: String, value: String)], _ body: [UInt8])

  /// Calls `handler` for each message of a subject, in order, on a thread of the transport, which it must not block.
  ///
  /// The broker processes the subscription before requests that are sent later. Reconnects keep the subscription.
  ///
  /// - Parameter queue: the name of a queue group; one subscription of the group receives each message.
  /// - Returns: a function that cancels the subscription.
  func subscribe(_ subject: String, queue: String?, _ handler: @escaping @Sendable (NATSMessage) -> Void)
    throws(NATSError) -> @Sendable () -> Void

  /// Calls `listener` for each later change of the link, one after another.
  func onLink(_ listener: @escaping @Sendable (LinkState) -> Void)

  var link: LinkState { get }

  /// Disconnects from the broker and connects to another, because this one can't reach the rest of the cluster.
  /// Subscriptions continue at the new broker.
  func reconnect()
}

extension NATSTransport {
  package func publish(_ subject: String, headers: [(name: String, value: String)] = [], _ body: [UInt8]) {
    publish(subject, reply: nil, headers: headers, body)
  }

  package func request(
    _ subject: String, headers: [(name: String, value: String)] = [], _ body: [UInt8], timeout: Duration
  ) async throws(NATSError) -> NATSMessage {
    try await withCheckedContinuation { continuation in
      request(subject, headers: headers, body, timeout: timeout) { continuation.resume(returning: $0) }
    }.get()
  }

  package func requestMany(
    _ subject: String, _ body: [UInt8], timeout: Duration
  ) async throws(NATSError) -> [NATSMessage] {
    try await withCheckedContinuation { continuation in
      requestMany(subject, body, timeout: timeout) { continuation.resume(returning: $0) }
    }.get()
  }
}
