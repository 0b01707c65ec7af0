import DequeModule
package import NIOCore
import PushCore

/// What all connections of one event loop share: storage that is used again, and the end of each turn.
///
/// Not `Sendable`: it never leaves its loop.
@safe package final class LoopContext {
  package let eventLoop: any EventLoop
  package let streams: StreamPool
  package let frameBuffer = FrameBuffer()
  /// What the loop counts.
  package let meter = LoopMeter()
  /// Plaintext on its way to or from OpenSSL; used within one call only.
  package let scratch: UnsafeMutableRawBufferPointer
  package var plaintext: [UInt8] = []

  package private(set) var connections: [ObjectIdentifier: Connection] = [:]
  private var dirty: [Connection] = []
  private var endings: [() -> Void] = []
  private var isTurnEndScheduled = false
  /// When the last turn began that had something to send, store or log.
  package private(set) var turnBegan = NIODeadline.distantPast
  /// Set while the process ends: when the last connection is gone, and how long they may take.
  private var drainage: (whenEmpty: EventLoopPromise<Void>, times: DrainTimes)?
  /// Looks after the times of connections while there are some.
  private var ticking: RepeatedTask?

  package init(eventLoop: any EventLoop) {
    self.eventLoop = eventLoop
    streams = StreamPool(open: meter.streams)
    unsafe scratch = .allocate(byteCount: Limits.recordSize, alignment: 16)
  }

  deinit { unsafe scratch.deallocate() }

  // MARK: Turns

  /// Sends what a connection has to say when this turn of the loop ends, together with all else it will have by then.
  package func flushAtEndOfTurn(_ connection: Connection) {
    dirty.append(connection)
    scheduleTurnEnd()
  }

  /// Calls `action` at the end of every turn in which something asked for it.
  package func onTurnEnd(_ action: @escaping () -> Void) { endings.append(action) }

  /// Sees to it that this turn ends with the actions and flushes above.
  package func scheduleTurnEnd() {
    assert(eventLoop.inEventLoop)
    guard !isTurnEndScheduled else { return }
    isTurnEndScheduled = true
    turnBegan = eventLoop.now
    let this = NIOLoopBound(self, eventLoop: eventLoop)
    // Runs after the events that this turn of the loop has already gathered.
    eventLoop.execute { this.value.endTurn() }
  }

  private func endTurn() {
    isTurnEndScheduled = false
    for ending in endings { ending() }
    let connections = dirty
    dirty.removeAll(keepingCapacity: true)
    for connection in connections where connection.needsFlush { connection.flush() }
    let now = eventLoop.now
    if hasModestRequest { (lastModestRequest, hasModestRequest) = (now, false) }
    turnCount &+= 1
    giveTurn()
    meter.turns.record((now - turnBegan).nanoseconds)
  }

  // MARK: Fairness

  /// Those that sent more than fits into a turn, in the order in which they read on.
  private var waiting: Deque<Connection> = []
  private var isTurnDue = false

  /// Has a connection read on when those that wait already have done so: one in each turn, so that whoever sends little
  /// waits for no more than one of them, however many there are.
  package func awaitTurn(_ connection: Connection) {
    waiting.append(connection)
    scheduleTurnEnd()
  }

  /// Whether those that sent more than fits into a turn wait for something else, too: who set this calls
  /// ``scheduleTurnEnd()`` when it is over.
  package var holdsTurns: () -> Bool = { false }

  private var hasModestRequest = false
  private var lastModestRequest: NIODeadline?

  /// Somebody who sends little has sent a request in this turn.
  package func noteSmallRequest() {
    hasModestRequest = true
    scheduleTurnEnd()
  }

  /// Whether somebody who sends little has sent a request a short while ago, and may send the next at any time. Where nobody
  /// does, those who send much take larger turns, each of which costs less.
  package var isShared: Bool { lastModestRequest.map { turnBegan - $0 < LoopContext.modestTime } ?? false }

  private static let modestTime = TimeAmount.seconds(2)
  private static let readsWhenAlone = 4

  /// Turns that have ended, modulo 2⁶⁴.
  private var turnCount: UInt64 = 0

  /// Lets one connection that sent more than fits into a turn read on: one in each iteration of the loop, which also reads
  /// what all others have sent.
  private func giveTurn() {
    guard !holdsTurns(), !waiting.isEmpty else { return }
    waiting.removeFirst().takeTurn(reads: isShared ? 1 : LoopContext.readsWhenAlone)
    ensureTurn()
  }

  /// Gives the next turn also when the connection that had the last one has sent nothing more, so that no turn ends.
  private func ensureTurn() {
    guard !waiting.isEmpty, !isTurnDue else { return }
    isTurnDue = true
    let (this, count) = (NIOLoopBound(self, eventLoop: eventLoop), turnCount)
    eventLoop.scheduleTask(in: LoopContext.turnTime) {
      this.value.isTurnDue = false
      if this.value.turnCount == count { this.value.giveTurn() } else { this.value.ensureTurn() }
    }
  }

  /// As soon as possible, but after what has arrived was read: a timer without delay would run before that.
  private static let turnTime = TimeAmount.microseconds(100)

  // MARK: Handshakes

  /// Connections with bytes for their TLS handshakes.
  private var handshakes = FairLine<UnauthenticatedConnections.Source, Connection>()
  /// Whether handshakes go on by themselves, at the end of this turn or after a pause.
  private var isHandshakeDue = false
  /// The time for handshakes in one iteration of the loop, exceeded by one of them at most.
  private static let handshakeShare = TimeAmount(Limits.handshakeShare)

  /// Has a connection go on with its handshake in its turn. Addresses take turns, and between the handshakes of two iterations
  /// the loop reads what all its connections have sent.
  func awaitHandshake(_ connection: Connection) {
    handshakes.append(connection, from: connection.source)
    guard !isHandshakeDue else { return }
    isHandshakeDue = true
    let this = NIOLoopBound(self, eventLoop: eventLoop)
    // Runs after the events that this turn of the loop has already gathered.
    eventLoop.execute { this.value.continueHandshakes() }
  }

  /// Goes on with handshakes for a bounded time, and then pauses: while others send requests, for as long as that took.
  private func continueHandshakes() {
    let began = eventLoop.now
    var spent = TimeAmount.zero
    isHandshakeDue = false
    while spent < LoopContext.handshakeShare, let connection = handshakes.popFirst() {
      isHandshakeDue = true
      connection.continueHandshake()
      spent = eventLoop.now - began
    }
    guard isHandshakeDue else { return }
    let this = NIOLoopBound(self, eventLoop: eventLoop)
    eventLoop.scheduleTask(in: isShared ? max(spent, LoopContext.turnTime) : LoopContext.turnTime) {
      this.value.continueHandshakes()
    }
  }

  // MARK: Closing

  /// Connections whose sockets are gone, and whose streams are not ended yet.
  private var leaving: Deque<Connection> = []
  /// The number of connections that can be taken apart before the loop reads from its sockets.
  private var closingsLeft = Limits.closingSlice
  private var isClosingDue = false

  /// Takes a connection apart whose socket is gone: at once, or in a later slice where many end together.
  func takeApart(_ connection: Connection) {
    if closingsLeft > 0, leaving.isEmpty {
      closingsLeft -= 1
      connection.takeApart()
    } else {
      leaving.append(connection)
    }
    scheduleClosings()
  }

  private func scheduleClosings() {
    guard !isClosingDue else { return }
    isClosingDue = true
    let this = NIOLoopBound(self, eventLoop: eventLoop)
    eventLoop.scheduleTask(in: LoopContext.turnTime) { this.value.continueClosings() }
  }

  private func continueClosings() {
    isClosingDue = false
    closingsLeft = Limits.closingSlice
    while closingsLeft > 0, let connection = leaving.popFirst() {
      closingsLeft -= 1
      connection.takeApart()
    }
    if closingsLeft < Limits.closingSlice { scheduleClosings() }
  }

  // MARK: Time

  /// Notes that something was to be done at some time, or was handed to the loop then, and is done now.
  ///
  /// - Returns: now.
  @discardableResult
  package func noteLag(since time: NIODeadline) -> NIODeadline {
    assert(eventLoop.inEventLoop)
    let now = eventLoop.now
    meter.lag.record((now - time).nanoseconds)
    return now
  }

  // MARK: Rounds

  /// Something that is done to each connection once in every interval, to a share of them at a time.
  private struct Round {
    let step: TimeAmount
    let shares: Int
    let action: (Connection) -> Void
    /// The number of the next share, from 0.
    var next = 0
    var isRunning = false
  }

  private var rounds: [Round] = []
  /// How long a step of a round is at least.
  private static let stepTime = TimeAmount.seconds(1)
  /// The number of connections in one turn, and the pause before the next turn. A push waits for the PINGs of one turn: 30 ms
  /// where one turn had 667.
  static let visitsAtOnce = 64
  private static let visitPause = TimeAmount.milliseconds(10)

  /// Calls `action` for each connection once in every `interval`, in steps of about a second, or of the interval if that is
  /// shorter. No timer is set while there are no connections.
  package func visitConnections(every interval: TimeAmount, _ action: @escaping (Connection) -> Void) {
    let shares = max(1, Int(interval.nanoseconds / LoopContext.stepTime.nanoseconds))
    rounds.append(Round(step: .nanoseconds(interval.nanoseconds / Int64(shares)), shares: shares, action: action))
    if !connections.isEmpty { startRounds() }
  }

  private func startRounds() {
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

  /// The share of a connection, the same in every round: by the upper half of a product, since addresses of objects have the
  /// lowest bits in common.
  static func share(of key: ObjectIdentifier, among shares: Int) -> Int {
    let mixed = UInt64(UInt(bitPattern: key)) &* 0x9E37_79B9_7F4A_7C15
    return Int(mixed.multipliedFullWidth(by: UInt64(shares)).high)
  }

  // MARK: Connections

  package func add(_ connection: Connection) {
    assert(eventLoop.inEventLoop)
    connections[ObjectIdentifier(connection)] = connection
    meter.open(connection.peer, connection.kind)
    if ticking == nil { startTicking() }
    startRounds()
  }

  private func startTicking() {
    let this = NIOLoopBound(self, eventLoop: eventLoop)
    let interval = TimeAmount.seconds(Int64(Limits.tick))
    ticking = eventLoop.scheduleRepeatedTask(initialDelay: interval, delay: interval) { _ in this.value.tick() }
  }

  private func tick() {
    for connection in connections.values { connection.tick() }
    guard connections.isEmpty else { return }
    ticking?.cancel()
    ticking = nil
  }

  package func remove(_ connection: Connection) {
    assert(eventLoop.inEventLoop)
    if connections.removeValue(forKey: ObjectIdentifier(connection)) != nil {
      meter.close(connection.peer, connection.kind)
    }
    if connections.isEmpty { drainage?.whenEmpty.succeed() }
  }

  /// How long connections may still take, once all of them are to end.
  var drainTimes: DrainTimes? { drainage?.times }

  /// Ends every connection in good order; the future succeeds when none is left.
  package func drain(within times: DrainTimes = .stop) -> EventLoopFuture<Void> {
    let promise = drainage?.whenEmpty ?? eventLoop.makePromise(of: Void.self)
    drainage = (promise, times)
    if connections.isEmpty { promise.succeed() }
    for connection in connections.values { connection.drain(within: times) }
    return promise.futureResult
  }
}
