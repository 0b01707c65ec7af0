package import NATSClient
import Synchronization

/// A client's connection to a ``ModelEngine``.
package final class ModelLink: NATSTransport {
  private let engine: ModelEngine
  private let number: Int

  private struct State {
    var link = LinkState.connected(server: "model")
    var isClosed = false
    var listeners: [@Sendable (LinkState) -> Void] = []
  }

  private let state = Mutex(State())

  init(_ engine: ModelEngine, number: Int) { (self.engine, self.number) = (engine, number) }

  // MARK: Requests

  package func request(
    _ subject: String, headers: [(name: String, value: String)], _ body: [UInt8], timeout: Duration,
    completion: @escaping @Sendable (Result<NATSMessage, NATSError>) -> Void
  ) { send(subject, headers, body, timeout, .one(completion)) }

  package func requestMany(
    _ subject: String, _ body: [UInt8], timeout: Duration,
    completion: @escaping @Sendable (Result<[NATSMessage], NATSError>) -> Void
  ) { send(subject, [], body, timeout, .many(completion, [])) }

  private func send(
    _ subject: String, _ headers: [(name: String, value: String)], _ body: [UInt8], _ timeout: Duration,
    _ completion: ModelEngine.Answering
  ) {
    let (link, isClosed) = state.withLock { ($0.link, $0.isClosed) }
    guard !isClosed else { return completion.fail(.closed) }
    guard link.isConnected else { return completion.fail(.disconnected) }
    let waiting = engine.state.withLock { state in
      let waiting = state.number()
      state.waiting[waiting] = completion
      return waiting
    }
    if !engine.isReliable { engine.after(timeout) { [engine] in engine.end(waiting, .timedOut) } }
    send(NATSMessage(subject: subject, reply: "_INBOX.\(waiting)", headers: headers, body: body))
  }

  package func publish(_ subject: String, reply: String?, headers: [(name: String, value: String)], _ body: [UInt8]) {
    guard state.withLock({ $0.link.isConnected && !$0.isClosed }) else { return }
    send(NATSMessage(subject: subject, reply: reply, headers: headers, body: body))
  }

  /// Sends a message. Messages that arrive do so in the order in which they were sent.
  private func send(_ message: NATSMessage) {
    let message = NATSMessage(
      subject: message.subject, reply: message.reply, headers: message.headers.filter { !$0.value.isEmpty },
      body: message.body)
    let now = engine.now
    let delay = engine.state.withLock { state -> Duration? in
      guard !state.happens(state.faults.lostRequests) else { return nil }
      let arrival = max(now + state.delay(), state.arrivals[number] ?? .zero)
      state.arrivals[number] = arrival
      return arrival - now
    }
    if let delay { engine.after(delay) { [engine] in engine.take(message) } }
  }

  // MARK: Subscriptions

  package func subscribe(
    _ subject: String, queue: String?, _ handler: @escaping @Sendable (NATSMessage) -> Void
  ) throws(NATSError) -> @Sendable () -> Void {
    guard subject.split(separator: ".", omittingEmptySubsequences: false).allSatisfy({ !$0.isEmpty }) else {
      throw .refused("invalid subject \(subject)")
    }
    guard !state.withLock({ $0.isClosed }) else { throw .closed }
    let own = number
    let number = engine.state.withLock { state in
      let number = state.number()
      let added = ModelEngine.Subscription(
        subject: subject, pattern: SubjectPattern(subject), queue: queue, link: own, handler: handler)
      state.subscriptions.add(number, added)
      return number
    }
    return { [engine] in engine.state.withLock { $0.subscriptions.remove(number) } }
  }

  // MARK: The link

  package func onLink(_ listener: @escaping @Sendable (LinkState) -> Void) {
    state.withLock { $0.listeners.append(listener) }
  }

  package var link: LinkState { state.withLock { $0.link } }

  /// Disconnects the link or connects it again.
  package func set(_ link: LinkState) {
    let listeners = state.withLock { state in
      state.link = link
      return state.listeners
    }
    for listener in listeners { listener(link) }
  }

  package func reconnect() {
    set(.disconnected)
    set(.reconnected(server: "model"))
  }

  package func close() {
    state.withLock { $0.isClosed = true }
    let own = number
    engine.state.withLock { $0.subscriptions.remove(link: own) }
  }
}
