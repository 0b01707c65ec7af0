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
  /// All requests are answered, and a PING asks if the peer has read the answers.
  static let asked = Phase.draining(.init(reason: .shutdown, responses: .asked, pings: 1))
  /// The same after the time for requests.
  static let late = Phase.draining(.init(reason: .shutdown, isLate: true, responses: .asked, pings: 1))
  /// The peer has read the answers.
  static let settling = Phase.draining(.init(reason: .shutdown, responses: .read, pings: 1, isSettling: true))
  static let drained = Phase.draining(
    .init(reason: .shutdown, responses: .read, pings: 1, isSettling: true, hasSentGoAway: true))
  /// The peer is refused.
  static let refusing = Phase.draining(.init(reason: reason, isRefusing: true))
  static let refused = Phase.draining(.init(reason: reason, isRefusing: true, hasSentGoAway: true))
  /// Returns a phase after a change of its drain.
  static func after(_ phase: Phase, _ change: (inout ConnectionState.Draining) -> Void) -> Phase {
    guard case .draining(var draining) = phase else { return phase }
    change(&draining)
    return .draining(draining)
  }

  /// Not all data that was read is answered in time, or not all answers are read.
  static func said(_ phase: Phase) -> Phase { after(phase) { $0.hasSentGoAway = true } }
  static func unread(_ phase: Phase) -> Phase { after(phase) { $0.responses = .unread } }
  static func overdue(_ phase: Phase) -> Phase { after(phase) { $0.isLate = true } }
  static let closing = Phase.closing
  static let closed = Phase.closed

  static let events: [Event] = [
    .connected, .established, .drain(.stop, isQuiet: false), .end(reason), .answered, .idle, .pong(1), .drainTimeout,
    .settled, .finish, .writeFailed, .sessionFinished, .close, .disconnected,
  ]

  /// The events that lead to each state.
  static let ways: [(phase: Phase, hasTLS: Bool, events: [Event])] = [
    (handshaking, true, []), (active, true, [.established]), (draining, false, [drain]),
    (asked, false, [drain, .idle]), (late, false, [drain, .drainTimeout, .idle]),
    (settling, false, [drain, .idle, .pong(1), .idle]), (drained, false, [drain, .idle, .pong(1), .idle, .settled]),
    (refusing, false, [.end(reason)]),
    (refused, false, [.end(reason), .idle]),
    (closing, false, [.finish]), (closed, false, [.disconnected]),
  ]

  static func state(_ place: Int, isServer: Bool = true) -> ConnectionState {
    var state = ConnectionState(isServer: isServer, hasTLS: ways[place].hasTLS)
    for event in ways[place].events { _ = state.handle(event) }
    return state
  }

  static let drain = Event.drain(.stop, isQuiet: false)
  static let settle: [Action] = [.stopReading, .schedule(.settled, in: .milliseconds(50))]
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
    let none = [(Phase, [Action])?](repeating: nil, count: ways.count)
    func only(_ changes: (at: Int, to: (Phase, [Action]))...) -> [(Phase, [Action])?] {
      var outcomes = none
      for change in changes { outcomes[change.at] = change.to }
      return outcomes
    }
    func unlessClosed(_ phase: Phase, _ actions: [Action]) -> [(Phase, [Action])?] {
      [(Phase, [Action])?](repeating: (phase, actions), count: ways.count - 1) + [nil]
    }
    let (draining, asked, late, settling, drained, refusing, refused) = (2, 3, 4, 5, 6, 7, 8)
    let all = ConnectionStateTests.self
    let timeout: [Action] = [
      .stopReading, .excludeRequests, .answerIncomplete(.shutdown), .checkIdle, .schedule(.settled, in: .seconds(3)),
    ]
    let say = goAway(.shutdown) + [.resumeReading]
    return switch event {
    case .connected: only((0, (handshaking, [.startHandshakeTimeout])))
    case .established:
      [(active, [.cancelHandshakeTimeout])] + ways.dropFirst().map { ($0.phase, [.cancelHandshakeTimeout]) }
    case .drain: only((0, (all.draining, beginDrain)), (1, (all.draining, beginDrain)))
    case .end:
      [(Phase, [Action])?](repeating: (all.refusing, refuse), count: 6) + [(all.refused, refuse), nil, nil, nil, nil]
    case .answered:
      only(
        (asked, (unread(all.asked), [])), (late, (unread(all.late), [])), (settling, (unread(all.settling), [])),
        (drained, (unread(all.drained), [])))
    case .idle:
      only(
        (draining, (all.asked, [.ping(1), .flush, .schedule(.pong(1), in: .seconds(3))])),
        (late, (all.late, [.resumeReading])), (drained, (all.drained, [linger])),
        (refusing, (all.refused, goAway(reason) + [linger])), (refused, (all.refused, [linger])))
    case .pong:
      only(
        (asked, (after(all.asked) { $0.responses = .read }, [.checkIdle])),
        (late, (after(all.late) { $0.responses = .read }, [.checkIdle])))
    case .drainTimeout:
      only(
        (draining, (overdue(all.draining), timeout)), (asked, (overdue(all.asked), timeout)),
        (late, (all.late, timeout)),
        (refusing, (all.refused, [.answerIncomplete(reason)] + goAway(reason) + [.checkIdle])),
        (refused, (all.refused, [.answerIncomplete(reason), .checkIdle])))
    case .settled:
      only(
        (draining, (said(all.draining), say + [.checkIdle])), (asked, (said(all.asked), say + [.checkIdle])),
        (late, (said(all.late), say + [.checkIdle])), (settling, (all.drained, say + [linger])),
        (refusing, (all.refused, goAway(reason) + [.resumeReading, .checkIdle])))
    case .finish: unlessClosed(closing, [.flush])
    case .writeFailed: unlessClosed(closing, [])
    case .sessionFinished:
      [(Phase, [Action])?](repeating: (closing, []), count: 6) + [nil, (closing, []), nil, nil, nil]
    case .close: unlessClosed(closing, [.closeSocket])
    case .disconnected: unlessClosed(closed, [.cancelHandshakeTimeout])
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
      #expect(
        state.handle(.drain(times, isQuiet: false)).contains(.schedule(.close, in: times.requests + times.answers)))
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
      if ![.connected, .established, .finish, .writeFailed, .sessionFinished, .close, .disconnected].contains(event) {
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
    #expect(
      answers == [
        "+----", "-----", "-+---", "-+---", "-+---", "-+---", "-+-+-", "-+++-", "-+++-", "----+", "----+",
      ])
  }

  @Test func `a quiet peer is not asked if it has read the answers`() {
    var state = ConnectionState(isServer: true, hasTLS: false)
    #expect(state.handle(.drain(.stop, isQuiet: true)) == ConnectionStateTests.beginDrain)
    #expect(state.handle(.idle) == ConnectionStateTests.settle)
  }

  @Test func `only the PING after the last answer shows that the answers are read`() {
    var state = ConnectionState(isServer: true, hasTLS: false)
    for event in [ConnectionStateTests.drain, .idle, .answered] { _ = state.handle(event) }
    #expect(state.handle(.pong(1)).isEmpty)
    #expect(state.handle(.idle).contains(.ping(2)))
    #expect(state.handle(.pong(1)).isEmpty)
    #expect(state.handle(.pong(2)) == [.checkIdle])
    #expect(state.handle(.idle) == ConnectionStateTests.settle)
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
