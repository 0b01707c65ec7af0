import CNats
import Dispatch
import PushCore
import Synchronization

/// A connection to the cluster over libnats, which connects to another broker automatically when one is lost.
///
/// All calls of the library that may block on a socket are made on one dedicated queue, in the order of the requests.
/// Answers are delivered on the library's thread for messages.
package final class NATSConnection: NATSTransport {
  /// A queued call of the library.
  private enum Call {
    case publish(String, reply: String?, headers: [(name: String, value: String)], [UInt8], request: UInt64?)
    case subscribe(Int)
    case cancel(Int)
    case reconnect
    case close

    var size: Int {
      guard case .publish(let subject, _, let headers, let body, _) = self else { return 0 }
      return headers.reduce(subject.utf8.count + body.count) { $0 + $1.name.utf8.count + $1.value.utf8.count }
    }
  }

  private struct Line {
    var calls: [Call] = []
    var size = 0
    var isScheduled = false
    var isClosed = false
    /// The subscribed subjects, by the numbers of their callbacks.
    var subjects: [Int: (subject: String, queue: String?)] = [:]
    var link = LinkState.disconnected
    var listeners: [@Sendable (LinkState) -> Void] = []
  }

  /// The limit in bytes of queued publish calls; beyond it requests are refused immediately.
  private static let maximumLineSize = 64 << 20
  /// The interval in milliseconds at which deadlines are checked.
  private static let sweepInterval = 50

  private let options: NATSOptions
  private let line = Mutex(Line())
  private let table = RequestTable()
  private let inbox: String
  private let inboxNumber: Int
  private let pump = DispatchQueue(label: "pushgateway.nats")
  /// The library's handles, used only on ``pump``.
  private let engine: NATSHandles

  /// Connects to one of the brokers.
  package static func connect(_ options: NATSOptions) async throws(NATSError) -> NATSConnection {
    let connection = NATSConnection(options)
    let result: Result<Void, NATSError> = await withCheckedContinuation { continuation in
      connection.pump.async { continuation.resume(returning: connection.begin()) }
    }
    do { try result.get() } catch {
      connection.close()
      throw error
    }
    return connection
  }

  private init(_ options: NATSOptions) {
    self.options = options
    inbox = "_INBOX.\(Digest.hex(randomBytes(count: 12)))"
    let prefix = inbox.utf8.count + 1
    inboxNumber = NATSLibrary.add(
      NATSLibrary.Callbacks(message: { [table] message in
        guard let number = UInt64(message.subject.dropFirst(prefix)) else { return }
        table.answer(number, message)
      }))
    engine = NATSHandles()
    Self.sweep(table, on: DispatchQueue(label: "pushgateway.nats.deadlines"))
  }

  deinit {
    NATSLibrary.remove(inboxNumber)
    pump.async { [engine] in engine.close() }
  }

  /// Checks deadlines at the sweep interval, as long as the table exists.
  private static func sweep(_ table: RequestTable, on queue: DispatchQueue) {
    queue.asyncAfter(deadline: .now() + .milliseconds(sweepInterval)) { [weak table] in
      guard let table else { return }
      table.sweep()
      sweep(table, on: queue)
    }
  }

  // MARK: NATSTransport

  package func request(
    _ subject: String, headers: [(name: String, value: String)], _ body: [UInt8], timeout: Duration,
    completion: @escaping @Sendable (Result<NATSMessage, NATSError>) -> Void
  ) { send(subject, headers, body, .one(completion), timeout) }

  package func requestMany(
    _ subject: String, _ body: [UInt8], timeout: Duration,
    completion: @escaping @Sendable (Result<[NATSMessage], NATSError>) -> Void
  ) { send(subject, [], body, .many(completion, messages: [], timeout: timeout), timeout) }

  private func send(
    _ subject: String, _ headers: [(name: String, value: String)], _ body: [UInt8],
    _ completion: RequestTable.Completion,
    _ timeout: Duration
  ) {
    guard link.isConnected else { return completion.fail(line.withLock { $0.isClosed } ? .closed : .disconnected) }
    guard let number = table.add(completion, timeout: timeout) else { return }
    let call = Call.publish(subject, reply: "\(inbox).\(number)", headers: headers, body, request: number)
    if !enqueue(call) { table.fail(number, .disconnected) }
  }

  package func publish(_ subject: String, reply: String?, headers: [(name: String, value: String)], _ body: [UInt8]) {
    guard link.isConnected else { return }
    _ = enqueue(.publish(subject, reply: reply, headers: headers, body, request: nil))
  }

  package func subscribe(
    _ subject: String, queue: String?, _ handler: @escaping @Sendable (NATSMessage) -> Void
  ) throws(NATSError) -> @Sendable () -> Void {
    let tokens = subject.split(separator: ".", omittingEmptySubsequences: false)
    guard tokens.allSatisfy({ !$0.isEmpty && !$0.contains(" ") }) else { throw .refused("invalid subject \(subject)") }
    let number = NATSLibrary.add(NATSLibrary.Callbacks(message: handler))
    let isClosed = line.withLock { line in
      line.subjects[number] = (subject, queue)
      return line.isClosed
    }
    guard !isClosed, enqueue(.subscribe(number)) else {
      NATSLibrary.remove(number)
      throw .closed
    }
    return { [weak self] in
      NATSLibrary.remove(number)
      self?.line.withLock { $0.subjects[number] = nil }
      _ = self?.enqueue(.cancel(number))
    }
  }

  package func onLink(_ listener: @escaping @Sendable (LinkState) -> Void) {
    line.withLock { $0.listeners.append(listener) }
  }

  package var link: LinkState { line.withLock { $0.link } }

  package func reconnect() { _ = enqueue(.reconnect) }

  package func close() {
    _ = enqueue(.close)
    line.withLock { $0.isClosed = true }
    table.failAll(.closed, isFinal: true)
  }

  // MARK: The pump

  /// Queues a call of the library.
  ///
  /// - Returns: true if the call was queued; false after a close or beyond the size limit.
  private func enqueue(_ call: Call) -> Bool {
    let size = call.size
    let (isIn, isFirst) = line.withLock { line -> (Bool, Bool) in
      guard !line.isClosed, size == 0 || line.size + size <= Self.maximumLineSize else { return (false, false) }
      line.calls.append(call)
      line.size += size
      defer { line.isScheduled = true }
      return (true, !line.isScheduled)
    }
    if isFirst { pump.async { self.drain() } }
    return isIn
  }

  private func drain() {
    while true {
      let calls = line.withLock { line -> [Call] in
        if line.calls.isEmpty { line.isScheduled = false }
        defer { (line.calls, line.size) = ([], 0) }
        return line.calls
      }
      if calls.isEmpty { return }
      for call in calls { perform(call) }
    }
  }

  private func perform(_ call: Call) {
    switch call {
    case .publish(let subject, let reply, let headers, let body, let request):
      guard let error = engine.publish(subject, reply: reply, headers: headers, body), let request else { return }
      table.fail(request, error)
    case .subscribe(let number):
      if let subject = line.withLock({ $0.subjects[number] }) {
        engine.subscribe(number, subject.subject, queue: subject.queue)
      }
    case .cancel(let number): engine.cancel(number)
    case .reconnect: open(isFirst: false, skipsServer: true)
    case .close:
      engine.close()
      note(.disconnected)
    }
  }

  // MARK: The link

  private func begin() -> Result<Void, NATSError> {
    if let error = open(isFirst: true, skipsServer: false) { return .failure(error) }
    note(.connected(server: engine.server))
    return .success(())
  }

  /// Replaces the current connection with a new one, with all subscriptions.
  @discardableResult
  private func open(isFirst: Bool, skipsServer: Bool) -> NATSError? {
    let last = engine.server
    engine.close()
    if !isFirst { lost() }
    var servers = options.servers.shuffled()
    if skipsServer { servers = servers.filter { $0 != last } + servers.filter { $0 == last } }
    let error = engine.open(options, servers: servers, keepsTrying: !isFirst, callbacks())
    if let error, error != .disconnected || isFirst { return error }
    engine.subscribe(inboxNumber, inbox + ".*", queue: nil)
    for (number, subject) in line.withLock({ $0.subjects }).sorted(by: { $0.key < $1.key }) {
      engine.subscribe(number, subject.subject, queue: subject.queue)
    }
    if !isFirst, error == nil { note(.reconnected(server: engine.server)) }
    return nil
  }

  private func callbacks() -> NATSLibrary.Callbacks {
    let epoch = engine.nextEpoch()
    /// Runs `body` on the pump, unless this connection was replaced or closed: its late events are ignored.
    @Sendable func inTurn(_ body: @escaping @Sendable (NATSConnection) -> Void) {
      pump.async { [weak self] in
        guard let self, engine.epoch == epoch, !line.withLock({ $0.isClosed }) else { return }
        body(self)
      }
    }
    return NATSLibrary.Callbacks(
      connected: { inTurn { $0.note(.reconnected(server: $0.engine.server)) } },
      disconnected: { inTurn { $0.lost() } },
      closed: {
        inTurn { connection in
          connection.lost()
          // The library gives up on a connection after a refusal, which may be temporary, so a new
          // connection is opened.
          connection.pump.asyncAfter(deadline: .now() + .milliseconds(500)) { [weak connection] in
            guard let connection, connection.engine.epoch == epoch else { return }
            connection.open(isFirst: false, skipsServer: false)
          }
        }
      },
      slow: { inTurn { $0.note(.slowConsumer) } })
  }

  private func lost() {
    if link.isConnected { note(.disconnected) }
    table.failAll(.disconnected)
  }

  private func note(_ state: LinkState) {
    let listeners = line.withLock { line in
      // A slow consumer lost messages, but the broker is still connected.
      if state != .slowConsumer { line.link = state }
      return line.listeners
    }
    for listener in listeners { listener(state) }
  }
}
