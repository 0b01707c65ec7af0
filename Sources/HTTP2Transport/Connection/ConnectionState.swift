package import NIOCore
import PushCore

/// The phase of one connection, and beside it whether its socket is read and how many streams its peer may have: a value,
/// without a socket, a session or a clock.
///
/// It is fed events and says what is to be done. A connection that ends in good order answers what is open, says GOAWAY
/// (RFC 9113 §6.8) and hangs up a little later, so that the peer reads why before it meets a closed socket.
package struct ConnectionState {
  package enum Phase: Equatable {
    /// The TLS handshake is under way.
    case handshaking
    /// Requests and answers go to and fro.
    case active
    /// It ends in good order.
    case draining(Draining)
    /// The output that waits is sent, then the socket closes; nothing is read any more.
    case closing
    /// The socket is gone.
    case closed
  }

  /// How far the end in good order is.
  package struct Draining: Equatable {
    /// Why it ends; the peer reads it in GOAWAY.
    package var reason: CloseReason
    /// Whether the peer is refused: what it still sends is read, so that it gets to read why, and dropped.
    package var isRefusing = false
    /// Whether all is answered, and the peer has a while to read that before GOAWAY.
    package var isSettling = false
    package var hasSentGoAway = false
  }

  package enum Event: Equatable {
    /// The socket is connected.
    case connected
    /// The TLS handshake is done.
    case established
    /// The process stops.
    case drain(DrainTimes)
    /// The gateway ends this connection.
    case end(CloseReason)
    /// No stream waits for anything of ours.
    case idle
    /// The time is over in which streams may end by themselves before GOAWAY.
    case drainTimeout
    /// The peer had its time to read the answers.
    case settled
    /// The peer has said that it closes, the owner wants no more, or what came could not be read.
    case finish
    /// What was to be sent could not be written.
    case writeFailed
    /// The session has nothing left to say or hear.
    case sessionFinished
    /// A failure, or a time that is over.
    case close
    /// The socket is gone.
    case disconnected
  }

  package enum Action: Equatable {
    case startHandshakeTimeout
    case cancelHandshakeTimeout
    /// Streams that would stay open for ever end themselves.
    case drainStreams
    /// Requests that are not complete are answered now.
    case answerIncomplete(CloseReason)
    /// The owner looks whether no stream waits for anything (``Event/idle``).
    case checkIdle
    case sendGoAway(CloseReason)
    /// What the peer sends stays in the socket, and is surely not processed; until it is read again.
    case stopReading
    case resumeReading
    /// The output that waits is sent at the end of this turn.
    case flush
    case closeSocket
    /// The event comes after this time, whatever happens until then.
    case schedule(Event, in: TimeAmount)
  }

  /// What was read is answered within this time, or GOAWAY comes before the answer.
  package static let answerTimeout = TimeAmount.seconds(1)
  /// How long a peer has to read the last answers before GOAWAY: several clients forget what they have not looked at when
  /// they meet that, and some hang up.
  package static let settleTime = TimeAmount.milliseconds(50)
  /// How long after GOAWAY the socket of a connection without open streams closes.
  package static let linger = TimeAmount.milliseconds(100)
  /// How long the socket stays open for a peer that has not read the end of the connection: what comes to a closed one is
  /// answered with a reset, after which several clients read nothing any more, not even the answers that they have. One that
  /// was silent meanwhile is given less time than one that went on sending, which gets it again when it does, some times.
  package static let lateTime = (silent: TimeAmount.milliseconds(200), sending: TimeAmount.seconds(1), times: 3)

  private let isServer: Bool
  package private(set) var phase: Phase
  /// Whether the peer is to read the end before the socket closes: it did nothing wrong, and may be sending.
  package private(set) var endsGently = false

  package init(isServer: Bool, hasTLS: Bool, initialStreams: Int = Limits.maximumConcurrentStreams) {
    self.isServer = isServer
    self.initialStreams = initialStreams
    phase = hasTLS ? .handshaking : .active
  }

  package var isHandshaking: Bool {
    guard case .handshaking = phase else { return false }
    return true
  }

  /// Whether the connection ends in good order.
  package var isDraining: Bool {
    guard case .draining = phase else { return false }
    return true
  }

  /// Whether nothing is read any more, and the socket closes once the waiting output is sent.
  package var isClosing: Bool {
    switch phase {
    case .handshaking, .active, .draining: false
    case .closing, .closed: true
    }
  }

  /// Whether what the peer sends is dropped.
  package var isRefusing: Bool {
    guard case .draining(let draining) = phase else { return false }
    return draining.isRefusing
  }

  package mutating func handle(_ event: Event) -> [Action] {
    let before = self
    defer { checkInvariants(since: before) }
    switch event {
    case .connected: return isHandshaking ? [.startHandshakeTimeout] : []
    case .established:
      if isHandshaking { phase = .active }
      return [.cancelHandshakeTimeout]
    case .drain(let times): return drain(within: times)
    case .end(let reason): return end(reason)
    case .idle: return settle()
    case .drainTimeout:
      guard case .draining(let draining) = phase else { return [] }
      if draining.isRefusing { return [.answerIncomplete(draining.reason)] + sendGoAway() + [.checkIdle] }
      guard !draining.hasSentGoAway, !draining.isSettling else { return [] }
      // A sender that never pauses gets an answer to what was read, and no more is.
      return [
        .stopReading, .answerIncomplete(draining.reason), .checkIdle,
        .schedule(.settled, in: ConnectionState.answerTimeout),
      ]
    case .settled:
      guard case .draining(let draining) = phase, !draining.hasSentGoAway else { return [] }
      let rest = draining.isSettling ? Action.schedule(.finish, in: ConnectionState.linger) : .checkIdle
      return sendGoAway() + [.resumeReading, rest]
    case .sessionFinished:
      // After its GOAWAY a session counts as finished; the socket stays open a little longer.
      if case .draining(let draining) = phase, draining.hasSentGoAway { return [] }
      return close(with: [])
    case .finish:
      if case .draining(let draining) = phase {
        endsGently = draining.hasSentGoAway && draining.reason.errorCode == .noError
      }
      return close(with: [.flush])
    case .writeFailed: return close(with: [])
    case .close: return close(with: [.closeSocket])
    case .disconnected:
      guard phase != .closed else { return [] }
      phase = .closed
      return [.cancelHandshakeTimeout]
    }
  }

  private mutating func drain(within times: DrainTimes) -> [Action] {
    guard isServer, phase == .handshaking || phase == .active else { return [] }
    phase = .draining(Draining(reason: .shutdown))
    return [
      .drainStreams, .flush, .checkIdle, .schedule(.drainTimeout, in: times.requests),
      .schedule(.close, in: times.requests + times.answers),
    ]
  }

  private mutating func end(_ reason: CloseReason) -> [Action] {
    guard isServer, !isClosing, !isRefusing else { return [] }
    var hasSentGoAway = false
    if case .draining(let draining) = phase { hasSentGoAway = draining.hasSentGoAway }
    phase = .draining(Draining(reason: reason, isRefusing: true, hasSentGoAway: hasSentGoAway))
    let begin: [Action] = [
      .schedule(.close, in: DrainTimes.stop.answers), .drainStreams, .flush, .answerIncomplete(reason),
    ]
    // Whoever breaks a limit is told at once: it may have open what is never answered.
    return begin + (reason.errorCode == .noError ? [] : sendGoAway()) + [.checkIdle]
  }

  private mutating func settle() -> [Action] {
    guard case .draining(var draining) = phase else { return [] }
    if draining.isRefusing || draining.hasSentGoAway {
      return sendGoAway() + [.schedule(.finish, in: ConnectionState.linger)]
    }
    guard !draining.isSettling else { return [] }
    draining.isSettling = true
    phase = .draining(draining)
    return [.stopReading, .schedule(.settled, in: ConnectionState.settleTime)]
  }

  private mutating func sendGoAway() -> [Action] {
    guard case .draining(var draining) = phase, !draining.hasSentGoAway else { return [] }
    draining.hasSentGoAway = true
    phase = .draining(draining)
    return [.sendGoAway(draining.reason), .flush]
  }

  private mutating func close(with actions: [Action]) -> [Action] {
    guard phase != .closed else { return [] }
    phase = .closing
    return actions
  }

  // MARK: Reading

  /// Why a socket is not read for now.
  package enum Pause: CaseIterable {
    /// Whoever reads what came has enough of it.
    case reader
    /// The peer does not take what is to be sent.
    case backlog
    /// The connection ends, and what comes now is not processed.
    case drain
  }

  private var pauses: Set<Pause> = []
  /// Whether the socket is not read for now.
  package var isPaused: Bool { !pauses.isEmpty }
  /// Whether the socket is not read since the peer does not take what is to be sent.
  package var hasBacklog: Bool { pauses.contains(.backlog) }

  /// Pauses for a reason, or reads on when it was the only one.
  ///
  /// - Returns: whether that changes whether the socket is read.
  package mutating func setPaused(_ paused: Bool, for pause: Pause = .reader) -> Bool {
    let before = isPaused
    if paused { pauses.insert(pause) } else { pauses.remove(pause) }
    return isPaused != before
  }

  // MARK: The stream limit (reference §5.3)

  /// Streams that a peer may have open before anything of it was accepted.
  private let initialStreams: Int
  /// Whether the peer may have as many streams open as the gateway ever allows.
  package private(set) var allowsAllStreams = false

  /// Streams that the peer may have open now.
  package var streamLimit: Int { allowsAllStreams ? Limits.maximumConcurrentStreams : initialStreams }

  /// Raises the limit to its full height. It never falls: several clients count with the lowest they were told, for ever.
  ///
  /// - Returns: whether the peer is to be told another.
  package mutating func allowAllStreams() -> Bool {
    guard !allowsAllStreams else { return false }
    allowsAllStreams = true
    return initialStreams != Limits.maximumConcurrentStreams
  }

  // MARK: Invariants

  /// What does not fit, or not to what was before; nil when all does.
  package func brokenInvariant(since before: ConnectionState? = nil) -> String? {
    if isDraining, !isServer { return "a client drains" }
    if allowsAllStreams, !isServer { return "a client limits streams" }
    guard let before else { return nil }
    if before.phase == .closed, phase != .closed { return "a closed connection is \(phase)" }
    if before.isClosing, !isClosing { return "a closing connection is \(phase)" }
    if before.isDraining, !isDraining, !isClosing { return "a draining connection is \(phase)" }
    if !before.isHandshaking, isHandshaking { return "the handshake begins again" }
    guard case .draining(let past) = before.phase, case .draining(let draining) = phase else { return nil }
    if past.hasSentGoAway, !draining.hasSentGoAway { return "GOAWAY would be sent twice" }
    return past.isRefusing && !draining.isRefusing ? "data of a refused peer is read again" : nil
  }

  /// Ends a debug build in which something does not fit; a release build has no trace of this.
  private func checkInvariants(since before: ConnectionState) {
    assert(brokenInvariant(since: before) == nil, brokenInvariant(since: before) ?? "")
  }
}

/// How long the connections of a process that ends may take.
package struct DrainTimes: Equatable, Sendable {
  /// GOAWAY comes when no stream is open, or after this time in any case; until then new requests are answered, too.
  package let requests: TimeAmount
  /// After that the socket closes when all is answered, or after this time in any case.
  package let answers: TimeAmount

  /// Nobody comes after it: clients get the time to go elsewhere.
  package static let stop = DrainTimes(requests: .seconds(3), answers: .seconds(4))
  /// The next process waits for it, and so do all who connect meanwhile.
  package static let restart = DrainTimes(requests: .milliseconds(300), answers: .milliseconds(1200))
}
