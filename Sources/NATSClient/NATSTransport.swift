/// Messages to and from the cluster. Every method returns at once, on any thread; what was asked first is sent first.
///
/// A model of the engine in tests is another one.
package protocol NATSTransport: Sendable {
  /// Sends a request; `completion` is called once, on a thread of the transport, which it must not hold up.
  func request(
    _ subject: String, headers: [(name: String, value: String)], _ body: [UInt8], timeout: Duration,
    completion: @escaping @Sendable (Result<NATSMessage, NATSError>) -> Void)

  /// Sends a request that several messages answer, the last of which has a ``NATSMessage/status``: it is handed over with
  /// them. `timeout` is between two.
  func requestMany(
    _ subject: String, _ body: [UInt8], timeout: Duration,
    completion: @escaping @Sendable (Result<[NATSMessage], NATSError>) -> Void)

  /// Sends a message that nobody confirms. While no broker is connected it is dropped.
  func publish(_ subject: String, reply: String?, headers: [(name: String, value: String)], _ body: [UInt8])

  /// Calls `handler` for each message of a subject, in order, on a thread of the transport, which it must not hold up.
  ///
  /// Requests that are sent afterwards reach the broker after it knows of the subscription. It lasts over reconnects.
  /// - Parameter queue: of the subscriptions with this name, one gets each message.
  func subscribe(_ subject: String, queue: String?, _ handler: @escaping @Sendable (NATSMessage) -> Void)
    throws(NATSError) -> any EngineSubscription

  /// Calls `listener` for each change of the link from now on, one after another.
  func onLink(_ listener: @escaping @Sendable (LinkState) -> Void)

  var link: LinkState { get }

  /// Leaves the broker and takes another, because this one is cut off from the rest. Subscriptions go on there.
  func reconnect()

  /// Ends everything: requests that wait are answered with ``NATSError/closed``.
  func close()
}

/// A subscription, until it is canceled.
package protocol EngineSubscription: Sendable {
  func cancel()
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
