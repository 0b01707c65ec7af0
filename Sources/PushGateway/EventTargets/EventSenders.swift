import HTTP2Transport
import Logging
import PushCore
import PushStorage
import Synchronization

/// The senders of all event targets, each with a task of its own. Without a target there is no task.
///
/// In a cluster each gateway sends the events of its own delivery log, in which each event is once. So no gateway depends
/// on another one, and the events of an absent gateway follow when it is back.
final class EventSenders: Sendable {
  private struct State {
    var running: [String: (sender: EventSender, work: Task<Void, Never>)] = [:]
    var isStarted = false
  }

  let targets: EventTargets
  let meter = EventTargetMeter()
  private let log: DeliveryLog
  private let clock: WallClock
  private let parts: EventSender.Parts
  private let state = Mutex(State())

  init(
    _ targets: EventTargets, log: DeliveryLog, queries: LogQueries, clock: WallClock, logger: Logger,
    post: @escaping EventSender.Post = EventTrust().post(_:to:)
  ) {
    (self.targets, self.log, self.clock) = (targets, log, clock)
    parts = EventSender.Parts(
      log: log, queries: queries, clock: clock, logger: logger, meter: meter, post: post,
      pause: { time in _ = try? await Task.sleep(for: time, clock: .continuous) },
      disable: { target in
        // The change cancels the sender's own task.
        try await Task { try await targets.disable(target.name, at: clock.milliseconds()) }.value
        logger.log(
          .eventTargetDisabled, "an event target answered 410: it gets no more events",
          metadata: ["target": "\(target.name)"])
      })
  }

  /// Starts the senders of all targets, and follows changes of the targets.
  func start() async {
    let names = Set(targets.list.map(\.name))
    // Unused positions cost nothing; they are removed at a later start.
    if !names.isEmpty { try? await log.keepCursors(of: names) }
    state.withLock { $0.isStarted = true }
    targets.onChange { [weak self] in self?.update() }
    update()
  }

  /// Stops all senders, and returns after their end. A request that is under way is sent again after the next start.
  func stop() async {
    targets.onChange {}
    let running = state.withLock { state in
      defer { state = State() }
      return state.running
    }
    for (_, work) in running.values { work.cancel() }
    for (_, work) in running.values { await work.value }
  }

  /// Starts the senders of new and changed targets, and stops all others.
  private func update() {
    state.withLock { state in
      guard state.isStarted else { return }
      // Read under the lock: of two updates at the same time, the later one has the newer list.
      let wanted = targets.list.filter { $0.disabled == nil }
      var former: [String: Task<Void, Never>] = [:]
      for (name, (sender, work)) in state.running where !wanted.contains(sender.target) {
        work.cancel()
        former[name] = work
        state.running[name] = nil
      }
      for target in wanted where state.running[target.name] == nil {
        let (sender, before) = (EventSender(target, parts), former[target.name])
        // A target has one request at a time, also when it changes.
        let work = Task {
          await before?.value
          await sender.run()
        }
        state.running[target.name] = (sender, work)
      }
    }
  }

  /// Sends a test to a target, which may be disabled.
  func test(_ target: EventTarget) async throws -> EventAnswer { try await EventSender(target, parts).test() }

  /// Returns the state of a target since the start; nil if it has no sender.
  func state(of target: EventTarget) -> EventSender.State? {
    state.withLock { $0.running[target.name]?.sender.current }
  }

  /// The age in seconds of the oldest event that a target has not accepted; 0 if there is none.
  var lag: Double {
    let oldest = state.withLock { $0.running.values.compactMap { $0.sender.current.oldest }.min() }
    return oldest.map { Double(max(0, clock.milliseconds() - $0)) / 1000 } ?? 0
  }

  /// The late and the disabled targets.
  var warnings: [HealthProblem] {
    let disabled = targets.list.compactMap { target in
      target.disabled.map { time in
        HealthProblem(
          part: "event-targets",
          problem: "the event target \(target.name) answered 410: `pushcli event-targets resume` or `remove` it",
          since: time / 1000)
      }
    }
    let running = state.withLock { $0.running.values.map { ($0.sender.target.name, $0.sender.current) } }
    let now = clock.milliseconds()
    let late = running.sorted { $0.0 < $1.0 }.compactMap { name, state -> HealthProblem? in
      guard let oldest = state.oldest, now - oldest > Limits.lateEventTime * 1000 else { return nil }
      return HealthProblem(
        part: "event-targets",
        problem: "the event target \(name) is late, since \(Timestamp.text(oldest)): \(state.error ?? "it fails")",
        since: oldest / 1000)
    }
    return disabled + late
  }
}

/// The certificates that the system and the targets trust. They are read again after some minutes, so that a renewal needs
/// no restart.
final class EventTrust: Sendable {
  private let known = Mutex<[String: (context: TLSContext, until: ContinuousClock.Instant)]>([:])

  private static let time = Duration.seconds(600)

  /// Sends a request to a target.
  func post(_ request: HTTPPost, to target: EventTarget) async throws -> EventAnswer {
    guard request.url.isSecure else { return try await request.answer(nil) }
    return try await request.answer(try await context(target.authority ?? ""))
  }

  /// - Parameter authority: the certificates of the target, as PEM; empty: none.
  func context(_ authority: String) async throws -> TLSContext {
    let found = known.withLock { known in
      known = known.filter { $0.value.until > ContinuousClock.now }
      return known[authority]?.context
    }
    if let found { return found }
    let context = try await GatewayBackend.onThread {
      try TLSContext.client(trustPath: SystemTrust.path, adding: Array(authority.utf8))
    }
    known.withLock { $0[authority] = (context, ContinuousClock.now + EventTrust.time) }
    return context
  }
}
