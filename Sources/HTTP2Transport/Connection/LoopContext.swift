import DequeModule
package import NIOCore
import PushCore

/// The shared state of all connections of one event loop: reused storage, and the actions at the end of each
/// iteration.
///
/// Not `Sendable`: it never leaves its loop.
@safe package final class LoopContext {
  package let eventLoop: any EventLoop
  package let streams: StreamPool
  package let frameBuffer = FrameBuffer()
  package let meter = LoopMeter()
  /// The buffer for plaintext to or from OpenSSL; used within one call only.
  package let scratch: UnsafeMutableRawBufferPointer
  package var plaintext: [UInt8] = []

  package internal(set) var connections: [ObjectIdentifier: Connection] = [:]
  private var dirty: [Connection] = []
  private var endings: [() -> Void] = []
  private var isIterationEndScheduled = false
  /// The start of the last iteration that had data to send, store or log.
  package private(set) var iterationBegan = NIODeadline.distantPast
  /// The `EventLoopPromise` for the end of the last connection, and the time limits; set while the process ends.
  private var drainage: (whenEmpty: EventLoopPromise<Void>, times: DrainTimes)?
  /// The timer that checks the timeouts of connections; nil while there are no connections.
  var ticking: RepeatedTask?

  package init(eventLoop: any EventLoop) {
    self.eventLoop = eventLoop
    streams = StreamPool(open: meter.streams)
    unsafe scratch = .allocate(byteCount: Limits.recordSize, alignment: 16)
  }

  deinit { unsafe scratch.deallocate() }

  // MARK: Event-loop iterations

  /// Flushes the output of a connection at the end of this iteration, together with all further output until then.
  package func flushAtIterationEnd(_ connection: Connection) {
    dirty.append(connection)
    scheduleIterationEnd()
  }

  /// Adds an action that runs at the end of every iteration for which ``scheduleIterationEnd()`` was called.
  package func onIterationEnd(_ action: @escaping () -> Void) { endings.append(action) }

  /// Schedules the actions and flushes for the end of this iteration.
  package func scheduleIterationEnd() {
    assert(eventLoop.inEventLoop)
    guard !isIterationEndScheduled else { return }
    isIterationEndScheduled = true
    iterationBegan = eventLoop.now
    let this = NIOLoopBound(self, eventLoop: eventLoop)
    // Runs after the events that this iteration of the loop has already collected.
    eventLoop.execute { this.value.endIteration() }
  }

  private func endIteration() {
    isIterationEndScheduled = false
    for ending in endings { ending() }
    let connections = dirty
    dirty.removeAll(keepingCapacity: true)
    for connection in connections where connection.needsFlush { connection.flush() }
    let now = eventLoop.now
    if hasSmallRequest { (lastSmallRequest, hasSmallRequest) = (now, false) }
    iterationCount &+= 1
    resumeNext()
    meter.iterations.record((now - iterationBegan).nanoseconds)
  }

  // MARK: Fairness

  /// The connections that used their share of an iteration, in the order in which they resume reading.
  private var waiting: Deque<Connection> = []
  private var isIterationDue = false

  /// Resumes reading of a connection after all connections queued before it: one in each iteration, so that a client
  /// that sends little is delayed by at most one of them, however many there are.
  package func enqueue(_ connection: Connection) {
    waiting.append(connection)
    scheduleIterationEnd()
  }

  /// Returns true while queued connections must also be delayed for another reason; its owner calls
  /// ``scheduleIterationEnd()`` when that reason ends.
  package var isPaused: () -> Bool = { false }

  private var hasSmallRequest = false
  private var lastSmallRequest: NIODeadline?

  /// Records that a connection that sends little sent a request in this iteration.
  package func noteSmallRequest() {
    hasSmallRequest = true
    scheduleIterationEnd()
  }

  /// True if a connection that sends little recently sent a request, and may send the next at any time. While false,
  /// the connections that send much get larger shares, each of which costs less.
  package var isShared: Bool { lastSmallRequest.map { iterationBegan - $0 < LoopContext.smallRequestTime } ?? false }

  private static let smallRequestTime = TimeAmount.seconds(2)
  private static let readsWhenAlone = 4

  /// The number of completed iterations, modulo 2⁶⁴.
  private var iterationCount: UInt64 = 0

  /// Resumes reading of one queued connection: one in each iteration of the loop, which also reads the data of all
  /// other connections.
  private func resumeNext() {
    guard !isPaused(), !waiting.isEmpty else { return }
    waiting.removeFirst().resume(reads: isShared ? 1 : LoopContext.readsWhenAlone)
    ensureIteration()
  }

  /// Schedules the next resumption even if the last resumed connection sent nothing more, so that no iteration ends.
  private func ensureIteration() {
    guard !waiting.isEmpty, !isIterationDue else { return }
    isIterationDue = true
    let (this, count) = (NIOLoopBound(self, eventLoop: eventLoop), iterationCount)
    eventLoop.scheduleTask(in: LoopContext.iterationTime) {
      this.value.isIterationDue = false
      if this.value.iterationCount == count { this.value.resumeNext() } else { this.value.ensureIteration() }
    }
  }

  /// The shortest delay that still runs after received data is read: a timer without delay would run before it.
  static let iterationTime = TimeAmount.microseconds(100)

  // MARK: Handshakes

  /// The connections with pending bytes of their TLS handshakes.
  var handshakes = FairQueue<UnauthenticatedConnections.Source, Connection>()
  /// True if the processing of handshakes is scheduled, at the end of this iteration or after a pause.
  var isHandshakeDue = false
  /// The end of the pause after the last handshakes.
  var nextHandshakes = NIODeadline.distantPast
  /// The time for handshakes in one iteration of the loop; at most one handshake exceeds it.
  static let handshakeShare = TimeAmount(Limits.handshakeShare)

  // MARK: Closing

  /// The connections with closed sockets whose streams are not ended yet.
  private var leaving: Deque<Connection> = []
  /// The number of connections that can still be released before a timer, so before the loop reads from its sockets.
  /// The timer runs only after a whole slice, because each timer wakes the loop.
  private var closingsLeft = Limits.closingSlice
  private var isClosingDue = false

  /// Releases a connection whose socket is closed: at once, or in a later slice if many end together.
  func takeApart(_ connection: Connection) {
    if closingsLeft > 0, leaving.isEmpty {
      closingsLeft -= 1
      connection.takeApart()
    } else {
      leaving.append(connection)
    }
    if closingsLeft == 0 { scheduleClosings() }
  }

  private func scheduleClosings() {
    guard !isClosingDue else { return }
    isClosingDue = true
    let this = NIOLoopBound(self, eventLoop: eventLoop)
    eventLoop.scheduleTask(in: LoopContext.iterationTime) { this.value.continueClosings() }
  }

  private func continueClosings() {
    isClosingDue = false
    closingsLeft = Limits.closingSlice
    while closingsLeft > 0, let connection = leaving.popFirst() {
      closingsLeft -= 1
      connection.takeApart()
    }
    if closingsLeft == 0 { scheduleClosings() }
  }

  // MARK: Time

  /// Records the delay of work: the time since its due time, or since it was handed to the loop.
  ///
  /// - Returns: the current time.
  @discardableResult
  package func noteLag(since time: NIODeadline) -> NIODeadline {
    assert(eventLoop.inEventLoop)
    let now = eventLoop.now
    meter.lag.record((now - time).nanoseconds)
    return now
  }

  // MARK: Periodic visits

  /// An action for each connection once in every interval, performed for a share of the connections at a time.
  private struct Round {
    let step: TimeAmount
    let shares: Int
    let action: (Connection) -> Void
    /// The index of the next share, from 0.
    var next = 0
    var isRunning = false
  }

  private var rounds: [Round] = []
  /// The minimum duration of one step.
  private static let stepTime = TimeAmount.seconds(1)
  /// The number of connections visited in one iteration, and the pause before the next. A push is delayed by the
  /// PINGs of one iteration: by 30 ms when one iteration had 667.
  static let visitsAtOnce = 64
  private static let visitPause = TimeAmount.milliseconds(10)

  /// Calls `action` for each connection once in every `interval`, in steps of about a second, or of the interval if
  /// that is shorter. Without connections no timer runs.
  package func visitConnections(every interval: TimeAmount, _ action: @escaping (Connection) -> Void) {
    let shares = max(1, Int(interval.nanoseconds / LoopContext.stepTime.nanoseconds))
    rounds.append(Round(step: .nanoseconds(interval.nanoseconds / Int64(shares)), shares: shares, action: action))
    if !connections.isEmpty { startRounds() }
  }

  func startRounds() {
    for index in rounds.indices where !rounds[index].isRunning {
      rounds[index].isRunning = true
      scheduleStep(of: index)
    }
  }

  private func scheduleStep(of index: Int) {
    let due = eventLoop.now + rounds[index].step
    let this = NIOLoopBound(self, eventLoop: eventLoop)
    eventLoop.scheduleTask(deadline: due) {
      this.value.noteLag(since: due)
      this.value.step(of: index)
    }
  }

  private func step(of index: Int) {
    let round = rounds[index]
    rounds[index].next = (round.next + 1) % round.shares
    visit(connections.keys.filter { LoopContext.share(of: $0, among: round.shares) == round.next }[...], round.action)
    rounds[index].isRunning = !connections.isEmpty
    if rounds[index].isRunning { scheduleStep(of: index) }
  }

  private func visit(_ keys: ArraySlice<ObjectIdentifier>, _ action: @escaping (Connection) -> Void) {
    for key in keys.prefix(LoopContext.visitsAtOnce) {
      if let connection = connections[key] { action(connection) }
    }
    let rest = keys.dropFirst(LoopContext.visitsAtOnce)
    guard !rest.isEmpty else { return }
    let this = NIOLoopBound((self, action), eventLoop: eventLoop)
    eventLoop.scheduleTask(in: LoopContext.visitPause) { this.value.0.visit(rest, this.value.1) }
  }

  /// Returns the share of a connection, the same in every round. It uses the upper half of a product, since addresses
  /// of objects have the lowest bits in common.
  static func share(of key: ObjectIdentifier, among shares: Int) -> Int {
    let mixed = UInt64(UInt(bitPattern: key)) &* 0x9E37_79B9_7F4A_7C15
    return Int(mixed.multipliedFullWidth(by: UInt64(shares)).high)
  }

  // MARK: Connections

  package func remove(_ connection: Connection) {
    assert(eventLoop.inEventLoop)
    if connections.removeValue(forKey: ObjectIdentifier(connection)) != nil {
      meter.close(connection.peer, connection.kind)
    }
    if connections.isEmpty { drainage?.whenEmpty.succeed() }
  }

  /// The time limits of the current drain; nil while connections are not ending.
  var drainTimes: DrainTimes? { drainage?.times }

  /// Ends every connection in an orderly way; the future succeeds when none is left.
  package func drain(within times: DrainTimes = .stop) -> EventLoopFuture<Void> {
    let promise = drainage?.whenEmpty ?? eventLoop.makePromise(of: Void.self)
    drainage = (promise, times)
    if connections.isEmpty { promise.succeed() }
    for connection in connections.values { connection.drain(within: times) }
    return promise.futureResult
  }
}
