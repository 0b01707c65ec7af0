package import NIOCore
import PushCore

/// The state machine of one connection: its phase, the reasons for paused reading, and the stream limit of the peer.
/// A value without a socket, a session or a clock.
///
/// It receives events and returns actions. A connection that ends in an orderly way answers open requests and sends a
/// PING. After the peer's answer, which shows that it has read all responses, it sends GOAWAY (RFC 9113 §6.8), and closes
/// a little later, so that the peer reads the reason before it finds a closed socket.
package struct ConnectionState {
  package enum Phase: Equatable {
    /// The TLS handshake is in progress.
    case handshaking
    /// Requests and responses are exchanged.
    case active
    /// The connection ends in an orderly way.
    case draining(Draining)
    /// Pending output is sent, then the socket closes; nothing is read any more.
    case closing
    case closed
  }

  /// The progress of an orderly end.
  package struct Draining: Equatable {
    /// The reason of the end, sent in GOAWAY.
    package var reason: CloseReason
    /// True if the peer is refused: its input is read and dropped, so that it can still read the reason.
    package var isRefusing = false
    /// True if the time for requests is over; then input is read only for the answer to a PING.
    package var isLate = false
    package var responses = Responses.unread
    /// The number of PINGs that were sent to learn whether the peer reads.
    package var pings: UInt64 = 0
    /// True if the peer has read all responses, and gets a little time to process them before GOAWAY.
    package var isSettling = false
    package var hasSentGoAway = false
    package var times = DrainTimes.stop
  }

  /// The peer's progress in reading the responses.
  package enum Responses {
    /// A response was sent after the last PING.
    case unread
    /// The PING after the last response is not answered yet.
    case asked
    /// The peer answered the PING, or did not do so in time, or received no response lately.
    case read
  }

  package enum Event: Equatable {
    case connected
    /// The TLS handshake is complete.
    case established
    /// The process stops. A quiet peer had no request lately, so it has read all responses.
    case drain(DrainTimes, isQuiet: Bool)
    /// The gateway ends this connection.
    case end(CloseReason)
    /// A request was answered.
    case answered
    /// No stream has an outstanding response.
    case idle
    /// The peer answered the PING of this number, or the time for the answer is over.
    case pong(UInt64)
    /// The time for streams to complete before GOAWAY is over.
    case drainTimeout
    /// The time for the peer to process the responses is over.
    case settled
    /// The peer announced its close, the owner ends the connection, or the input was invalid.
    case finish
    /// Output could not be written.
    case writeFailed
    /// The session has nothing left to send or receive.
    case sessionFinished
    /// A failure or a timeout.
    case close
    /// The socket is closed.
    case disconnected
  }

  package enum Action: Equatable {
    case startHandshakeTimeout
    case cancelHandshakeTimeout
    /// Notify streams without a natural end, so that they complete.
    case drainStreams
    /// Leave requests that begin later without a response; GOAWAY excludes them.
    case excludeRequests
    /// Answer the incomplete requests now.
    case answerIncomplete(CloseReason)
    /// Check for outstanding responses; if there are none, ``Event/idle`` follows.
    case checkIdle
    /// Send a PING of this number.
    case ping(UInt64)
    case sendGoAway(CloseReason)
    /// Leave input in the socket, where it is certainly not processed, until reading resumes.
    case stopReading
    case resumeReading
    /// Send pending output at the end of this event-loop iteration.
    case flush
    case closeSocket
    /// Deliver the event after this time, independently of other events.
    case schedule(Event, in: TimeAmount)
  }

  /// The time that a peer has to process the last responses before GOAWAY: several clients discard responses that are
  /// not processed when they receive it, and some close the connection.
  package static let settleTime = TimeAmount.milliseconds(50)
  /// The time from GOAWAY to the close of the socket of a connection without open streams.
  package static let linger = TimeAmount.milliseconds(100)
  /// The times that the socket stays open for a peer that has not read the end of the connection.
  ///
  /// Data for a closed socket is answered with a reset, after which several clients read nothing more, not even
  /// received responses. A silent peer gets the shorter time; a peer that continues to send gets the longer one, up
  /// to `times` times.
  package static let lateTime = (silent: TimeAmount.milliseconds(200), sending: TimeAmount.seconds(1), times: 3)

  private let isServer: Bool
  package private(set) var phase: Phase
  /// True if the peer should read the end before the socket closes: it caused no error, and may still be sending.
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

  /// True while the connection ends in an orderly way.
  package var isDraining: Bool {
    guard case .draining = phase else { return false }
    return true
  }

  /// True if nothing is read any more, and the socket closes once pending output is sent.
  package var isClosing: Bool {
    switch phase {
    case .handshaking, .active, .draining: false
    case .closing, .closed: true
    }
  }

  /// True if the peer is refused.
  package var isRefusing: Bool {
    guard case .draining(let draining) = phase else { return false }
    return draining.isRefusing
  }

  /// True if input of the peer is read and dropped: the peer is refused, or all of its requests are answered and GOAWAY is
  /// sent. A frame after this GOAWAY, as WINDOW_UPDATE, makes clients on h2 drop the answers that they read with it.
  package var dropsInput: Bool {
    guard case .draining(let draining) = phase else { return false }
    return draining.isRefusing || draining.isSettling && draining.hasSentGoAway
  }

  package mutating func handle(_ event: Event) -> [Action] {
    let before = self
    defer { checkInvariants(since: before) }
    switch event {
    case .connected: return isHandshaking ? [.startHandshakeTimeout] : []
    case .established:
      if isHandshaking { phase = .active }
      return [.cancelHandshakeTimeout]
    case .drain(let times, let isQuiet): return drain(within: times, isQuiet)
    case .end(let reason): return end(reason)
    case .answered: return update { $0.responses = .unread }
    case .idle: return settle()
    case .pong(let number): return read(number)
    case .drainTimeout:
      guard case .draining(let draining) = phase else { return [] }
      if draining.isRefusing { return [.answerIncomplete(draining.reason)] + sendGoAway() + [.checkIdle] }
      guard !draining.hasSentGoAway, !draining.isSettling else { return [] }
      // For a sender that never pauses: requests that were read are answered, and no more are read until then.
      return update { $0.isLate = true } + [
        .stopReading, .excludeRequests, .answerIncomplete(draining.reason), .checkIdle,
        .schedule(.settled, in: draining.times.answerTime),
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

  private mutating func drain(within times: DrainTimes, _ isQuiet: Bool) -> [Action] {
    guard isServer, phase == .handshaking || phase == .active else { return [] }
    phase = .draining(Draining(reason: .shutdown, responses: isQuiet ? .read : .unread, times: times))
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
    // A peer that exceeded a limit is notified at once: it may have open streams that are never answered.
    return begin + (reason.errorCode == .noError ? [] : sendGoAway()) + [.checkIdle]
  }

  private mutating func settle() -> [Action] {
    guard case .draining(var draining) = phase else { return [] }
    if draining.isRefusing || draining.hasSentGoAway {
      return sendGoAway() + [.schedule(.finish, in: ConnectionState.linger)]
    }
    guard !draining.isSettling else { return [] }
    let resume: [Action] = draining.isLate ? [.resumeReading] : []
    switch draining.responses {
    case .unread:
      draining.pings += 1
      draining.responses = .asked
      phase = .draining(draining)
      let number = draining.pings
      return [.ping(number), .flush] + resume + [.schedule(.pong(number), in: draining.times.answerTime)]
    case .asked: return resume
    case .read:
      draining.isSettling = true
      phase = .draining(draining)
      return [.stopReading, .schedule(.settled, in: ConnectionState.settleTime)]
    }
  }

  private mutating func read(_ number: UInt64) -> [Action] {
    guard case .draining(let draining) = phase, draining.responses == .asked, draining.pings == number else {
      return []
    }
    return update { $0.responses = .read } + [.checkIdle]
  }

  private mutating func update(_ change: (inout Draining) -> Void) -> [Action] {
    guard case .draining(var draining) = phase else { return [] }
    change(&draining)
    phase = .draining(draining)
    return []
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

  /// The reason for which reading a socket is paused.
  package enum Pause: CaseIterable {
    /// The receiver of the data has no capacity for more.
    case reader
    /// The peer does not read pending output.
    case backlog
    /// The connection ends, and new input is not processed.
    case drain
  }

  private var pauses: Set<Pause> = []
  /// True while reading the socket is paused.
  package var isPaused: Bool { !pauses.isEmpty }
  /// True while reading is paused because the peer does not read pending output.
  package var hasBacklog: Bool { pauses.contains(.backlog) }

  /// Pauses reading for a reason, or removes that reason; reading resumes when none is left.
  ///
  /// - Returns: true if reading is paused or resumed by this call.
  package mutating func setPaused(_ paused: Bool, for pause: Pause = .reader) -> Bool {
    let before = isPaused
    if paused { pauses.insert(pause) } else { pauses.remove(pause) }
    return isPaused != before
  }

  // MARK: The stream limit (APNs reference §5.3)

  /// The maximum number of open streams of a peer before its first accepted request.
  private let initialStreams: Int
  /// True if the stream limit of the peer is at its maximum.
  package private(set) var allowsAllStreams = false

  /// The current maximum number of open streams of the peer.
  package var streamLimit: Int { allowsAllStreams ? Limits.maximumConcurrentStreams : initialStreams }

  /// Raises the stream limit to its maximum. It never falls: several clients keep the lowest announced limit forever.
  ///
  /// - Returns: true if the new limit has to be announced.
  package mutating func allowAllStreams() -> Bool {
    guard !allowsAllStreams else { return false }
    allowsAllStreams = true
    return initialStreams != Limits.maximumConcurrentStreams
  }

  // MARK: Invariants

  /// Returns a description of an invariant that does not hold, in this state or in the change from an earlier state;
  /// nil if all hold.
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

  /// Ends a debug build in which an invariant does not hold; a release build does not contain this check.
  private func checkInvariants(since before: ConnectionState) {
    assert(brokenInvariant(since: before) == nil, brokenInvariant(since: before) ?? "")
  }
}

/// The time limits for ending the connections of a process that stops.
package struct DrainTimes: Equatable, Sendable {
  /// The time in which new requests are still answered; GOAWAY ends it before if the peer has read all responses.
  package let requests: TimeAmount
  /// The time after ``requests`` until the socket closes, unless all requests are answered before.
  package let answers: TimeAmount

  /// The part of ``answers`` after which GOAWAY is sent, even if requests are not answered, and the time for the answer to
  /// a PING. Several clients drop responses that follow GOAWAY, so a slow disk and a slow peer get most of the time.
  package var answerTime: TimeAmount { .nanoseconds(answers.nanoseconds / 4 * 3) }

  /// The time limits for a stop: no other process follows, so clients get time to connect to another gateway.
  package static let stop = DrainTimes(requests: .seconds(3), answers: .seconds(4))
  /// The time limits for a restart, which delay the next process and all clients that connect in the meantime.
  package static let restart = DrainTimes(requests: .milliseconds(300), answers: .milliseconds(1200))
}
