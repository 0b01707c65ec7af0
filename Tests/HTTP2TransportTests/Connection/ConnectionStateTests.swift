import NIOCore
import PushTesting
import Testing

@testable import HTTP2Transport

/// Every event in every state. Each entry of the table has an event and, for each state, the next state with its
/// actions.
@Suite struct ConnectionStateTests {
  typealias Phase = ConnectionState.Phase
  typealias Event = ConnectionState.Event
  typealias Action = ConnectionState.Action

  static let reason = CloseReason.badCertificate

  static let handshaking = Phase.handshaking
  static let active = Phase.active
  /// The process stops, and open streams continue.
  static let draining = Phase.draining(.init(reason: .shutdown))
  /// All requests are answered, and the peer reads the answers.
  static let settling = Phase.draining(.init(reason: .shutdown, isSettling: true))
  static let drained = Phase.draining(.init(reason: .shutdown, isSettling: true, hasSentGoAway: true))
  /// The peer is refused.
  static let refusing = Phase.draining(.init(reason: reason, isRefusing: true))
  static let refused = Phase.draining(.init(reason: reason, isRefusing: true, hasSentGoAway: true))
  /// Not all data that was read is answered in time.
  static let said = Phase.draining(.init(reason: .shutdown, hasSentGoAway: true))
  static let closing = Phase.closing
  static let closed = Phase.closed

  static let events: [Event] = [
    .connected, .established, .drain(.stop), .end(reason), .idle, .drainTimeout, .settled, .finish, .writeFailed,
    .sessionFinished,
    .close, .disconnected,
  ]

  /// The events that lead to each state.
  static let ways: [(phase: Phase, hasTLS: Bool, events: [Event])] = [
    (handshaking, true, []), (active, true, [.established]), (draining, false, [.drain(.stop)]),
    (settling, false, [.drain(.stop), .idle]), (drained, false, [.drain(.stop), .idle, .settled]),
    (refusing, false, [.end(reason)]),
    (refused, false, [.end(reason), .idle]),
    (closing, false, [.finish]), (closed, false, [.disconnected]),
  ]

  static func state(_ place: Int, isServer: Bool = true) -> ConnectionState {
    var state = ConnectionState(isServer: isServer, hasTLS: ways[place].hasTLS)
    for event in ways[place].events { _ = state.handle(event) }
    return state
  }

  static let linger = Action.schedule(.finish, in: .milliseconds(100))
  static let beginDrain: [Action] = [
    .drainStreams, .flush, .checkIdle, .schedule(.drainTimeout, in: .seconds(3)), .schedule(.close, in: .seconds(7)),
  ]
  static let refuse: [Action] = [
    .schedule(.close, in: .seconds(4)), .drainStreams, .flush, .answerIncomplete(reason), .checkIdle,
  ]
  static func goAway(_ reason: CloseReason) -> [Action] { [.sendGoAway(reason), .flush] }

  /// Returns the next state and the actions after an event, in the order of ``ways``. Nil: the state does not change
  /// and there is no action.
  static func outcomes(_ event: Event) -> [(Phase, [Action])?] {
    switch event {
    case .connected: [(handshaking, [.startHandshakeTimeout]), nil, nil, nil, nil, nil, nil, nil, nil]
    case .established:
      [(active, [.cancelHandshakeTimeout])]
        + [active, draining, settling, drained, refusing, refused, closing, closed].map {
          ($0, [.cancelHandshakeTimeout])
        }
    case .drain: [(draining, beginDrain), (draining, beginDrain), nil, nil, nil, nil, nil, nil, nil]
    case .end:
      [
        (refusing, refuse), (refusing, refuse), (refusing, refuse), (refusing, refuse), (refused, refuse), nil, nil,
        nil,
        nil,
      ]
    case .idle:
      [
        nil, nil, (settling, [.stopReading, .schedule(.settled, in: .milliseconds(50))]), nil, (drained, [linger]),
        (refused, goAway(reason) + [linger]), (refused, [linger]), nil, nil,
      ]
    case .drainTimeout:
      [
        nil, nil,
        (
          draining,
          [.stopReading, .answerIncomplete(.shutdown), .checkIdle, .schedule(.settled, in: .seconds(3))]
        ), nil, nil, (refused, [.answerIncomplete(reason)] + goAway(reason) + [.checkIdle]),
        (refused, [.answerIncomplete(reason), .checkIdle]), nil, nil,
      ]
    case .settled:
      [
        nil, nil, (said, goAway(.shutdown) + [.resumeReading, .checkIdle]),
        (drained, goAway(.shutdown) + [.resumeReading, linger]), nil,
        (refused, goAway(reason) + [.resumeReading, .checkIdle]),
        nil, nil, nil,
      ]
    case .finish: [(Phase, [Action])?](repeating: (closing, [.flush]), count: 8) + [nil]
    case .writeFailed: [(Phase, [Action])?](repeating: (closing, []), count: 8) + [nil]
    case .sessionFinished:
      [
        (closing, []), (closing, []), (closing, []), (closing, []), nil, (closing, []), nil, nil, nil,
      ]
    case .close: [(Phase, [Action])?](repeating: (closing, [.closeSocket]), count: 8) + [nil]
    case .disconnected: [(Phase, [Action])?](repeating: (closed, [.cancelHandshakeTimeout]), count: 8) + [nil]
    }
  }

  @Test(arguments: events) func `a server's states take an event`(_ event: Event) {
    let outcomes = ConnectionStateTests.outcomes(event)
    #expect(outcomes.count == ConnectionStateTests.ways.count)
    for (place, outcome) in outcomes.enumerated() {
      var state = ConnectionStateTests.state(place)
      let before = state.phase
      #expect(before == ConnectionStateTests.ways[place].phase)
      let actions = state.handle(event)
      #expect(actions == outcome?.1 ?? [], "\(event) while \(before)")
      #expect(state.phase == outcome?.0 ?? before, "\(event) while \(before)")
    }
  }

  @Test func `a restart has less time for answers than a stop`() {
    for (times, answers) in [(DrainTimes.stop, TimeAmount.seconds(3)), (.restart, .milliseconds(900))] {
      var state = ConnectionState(isServer: true, hasTLS: false)
      #expect(state.handle(.drain(times)).contains(.schedule(.close, in: times.requests + times.answers)))
      #expect(state.handle(.drainTimeout).contains(.schedule(.settled, in: answers)))
    }
  }

  @Test func `whoever breaks a limit is told at once, and once`() {
    for reason in [CloseReason.excess(.resets), .settingsTimeout] {
      var state = ConnectionState(isServer: true, hasTLS: false)
      #expect(state.handle(.end(reason)).filter { $0 == .sendGoAway(reason) }.count == 1)
      #expect(!state.handle(.idle).contains(.sendGoAway(reason)))
      #expect(state.isRefusing)
    }
  }

  @Test(arguments: events) func `a client ends by closing alone`(_ event: Event) {
    for (place, phase) in [(0, ConnectionStateTests.handshaking), (1, ConnectionStateTests.active)] {
      var state = ConnectionStateTests.state(place, isServer: false)
      let actions = state.handle(event)
      #expect(!state.isDraining)
      if [.drain(.stop), .end(ConnectionStateTests.reason), .idle, .drainTimeout, .settled].contains(event) {
        #expect(actions.isEmpty && state.phase == phase)
      }
    }
  }

  @Test func `the questions of each state`() {
    let answers = ConnectionStateTests.ways.indices.map { place in
      let state = ConnectionStateTests.state(place)
      let flags = [state.isHandshaking, state.isDraining, state.isRefusing, state.dropsInput, state.isClosing]
      return flags.map { $0 ? "+" : "-" }.joined()
    }
    #expect(answers == ["+----", "-----", "-+---", "-+---", "-+-+-", "-+++-", "-+++-", "----+", "----+"])
  }

  /// A connection whose peer is refused while the process stops sends GOAWAY once, with the first reason. No later
  /// event makes it active again.
  @Test func `GOAWAY is sent once on every way through all events`() {
    func walk(_ state: ConnectionState, _ depth: Int, _ goAways: Int) {
      #expect(goAways <= 1)
      guard depth > 0 else { return }
      for event in ConnectionStateTests.events {
        var next = state
        let sent = next.handle(event).count { if case .sendGoAway = $0 { true } else { false } }
        walk(next, depth - 1, goAways + sent)
      }
    }
    walk(ConnectionState(isServer: true, hasTLS: true), 5, 0)
  }

  @Test func `what is paused is paused once`() {
    var state = ConnectionState(isServer: false, hasTLS: false)
    #expect([true, true, false, false].map { state.setPaused($0) } == [true, false, true, false])
  }

  @Test func `a socket is read again when no reason is left to leave it`() {
    var state = ConnectionState(isServer: true, hasTLS: false)
    let steps: [(Bool, ConnectionState.Pause)] = [
      (true, .backlog), (true, .reader), (false, .backlog), (false, .reader),
    ]
    let seen = steps.map { paused, pause in
      let isChange = state.setPaused(paused, for: pause)
      return [isChange, state.isPaused, state.hasBacklog]
    }
    #expect(seen == [[true, true, true], [false, true, true], [false, true, false], [true, false, false]])
  }

  @Test(arguments: [(1, [true, false]), (1000, [false, false])])
  func `the stream limit rises once, and only a change is announced`(_ initial: Int, _ announced: [Bool]) {
    var state = ConnectionState(isServer: true, hasTLS: false, initialStreams: initial)
    #expect(state.streamLimit == initial)
    #expect(announced.map { _ in state.allowAllStreams() } == announced)
    #expect(state.streamLimit == 1000)
  }
}
