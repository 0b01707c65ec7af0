import Dispatch
import Glibc
import NATSClient
import PushCore
import Synchronization

/// A model of a cluster of NATS with JetStream, in memory: what ``JetStream`` asks for, and the messages of core NATS.
///
/// In a ``SimulatedTime`` it does what a cluster does that fails, by chance from a seed: answers and messages are late, lost,
/// repeated and in another order. Without one all is done at once, in order, by a thread of its own.
package final class ModelEngine: Sendable {
  struct Subscription: Sendable {
    var subject: String
    var pattern: SubjectPattern
    var queue: String?
    var link: Int
    var handler: @Sendable (NATSMessage) -> Void
  }

  /// Where an answer goes.
  enum Answering {
    case one(@Sendable (Result<NATSMessage, NATSError>) -> Void)
    case many(@Sendable (Result<[NATSMessage], NATSError>) -> Void, [NATSMessage])

    func fail(_ error: NATSError) {
      switch self {
      case .one(let completion): completion(.failure(error))
      case .many(let completion, _): completion(.failure(error))
      }
    }
  }

  struct State {
    var random: SplitMix64
    var faults: ModelFaults
    var streams: [String: ModelStream] = [:]
    /// What replicas that lag may have, by stream.
    var past: [String: [(time: Duration, stream: ModelStream)]] = [:]
    var subscriptions = ModelSubscriptions()
    var waiting: [Int: Answering] = [:]
    var last = 0
    /// No stream has a leader until then.
    var electedAt = Duration.zero
    /// When the last message of each link arrives: what was asked first is done first.
    var arrivals: [Int: Duration] = [:]
    var level: Int? = 1
    /// Of every message that was ever stored, unless it is reliable.
    var storedIDs: Set<String> = []
    /// Whether nothing is ever lost.
    let isReliable: Bool

    mutating func number() -> Int {
      last += 1
      return last
    }

    mutating func happens(_ probability: Double) -> Bool {
      probability > 0 && Double.random(in: 0..<1, using: &random) < probability
    }

    mutating func delay() -> Duration {
      if happens(faults.longDelays) { return faults.longDelay }
      let most = faults.delay.components.attoseconds / 1_000_000_000_000_000
      return most > 0 ? .milliseconds(Int64.random(in: 0...most, using: &random)) : .zero
    }
  }

  let state: Mutex<State>
  private let time: SimulatedTime?
  private let clock: @Sendable () -> Duration
  private let queue = DispatchQueue(label: "pushgateway.test.engine")
  /// Whether nothing is ever lost, and no time is simulated: then it costs less.
  let isReliable: Bool
  /// How long an answer is waited for that another client has to give, where it is reliable.
  private static let patience = Duration.seconds(2)
  private let timeUsed = Atomic<UInt64>(0)

  /// - Parameters:
  ///   - isReliable: nothing is ever lost, so that millions of messages can be sent.
  ///   - clock: by which messages grow old, where time is not simulated.
  package init(
    _ time: SimulatedTime? = nil, seed: UInt64 = 0, faults: ModelFaults = .none, isReliable: Bool = false,
    clock: @escaping @Sendable () -> Duration = { .zero }
  ) {
    self.time = time
    self.clock = clock
    self.isReliable = isReliable
    state = Mutex(State(random: SplitMix64(state: seed), faults: faults, isReliable: isReliable))
  }

  /// The time of a processor that its thread has taken, with what clients do on it: where it is reliable.
  package var processorTime: Duration { .nanoseconds(Int64(timeUsed.load(ordering: .relaxed))) }

  /// Its clock.
  var now: Duration { time?.now ?? clock() }

  func after(_ delay: Duration, _ body: @escaping @Sendable () -> Void) {
    if let time { return time.after(delay, body) }
    guard delay > .zero else {
      guard isReliable else { return queue.async(execute: body) }
      return queue.async { [self] in
        let start = threadTime()
        body()
        timeUsed.add(threadTime() &- start, ordering: .relaxed)
      }
    }
    queue.asyncAfter(deadline: .now() + .milliseconds(Int(delay / .milliseconds(1))), execute: body)
  }

  /// Waits until everything that was sent has arrived, where it is no simulation.
  package func flush() { for _ in 0..<4 { queue.sync {} } }

  /// What happens from now on.
  package func set(_ faults: ModelFaults) { state.withLock { $0.faults = faults } }

  /// As a broker says it; nil: one before 2.11.
  package func set(level: Int?) { state.withLock { $0.level = level } }

  /// Takes the leader from every stream, for so long.
  package func elect(for time: Duration) { state.withLock { [now] in $0.electedAt = now + time } }

  /// Ends every broker and starts it again.
  package func restart() {
    state.withLock { [now] state in
      for name in state.streams.keys { state.streams[name]?.restart(now) }
    }
  }

  /// A client of its own.
  package func connect() -> ModelLink { ModelLink(self, number: state.withLock { $0.number() }) }

  /// Whether a message of this id was stored, whatever became of it.
  package func hasStored(_ id: String) -> Bool { state.withLock { $0.storedIDs.contains(id) } }

  /// How many messages a subject has.
  package func count(of subject: String) -> Int {
    state.withLock { $0.streams.values.reduce(0) { $0 + $1.numbers(of: subject, from: 0).count } }
  }

  // MARK: What arrives

  /// A message of a client: a stream stores it, the API answers it, or whoever listens gets it.
  func take(_ message: NATSMessage) {
    guard message.subject.hasPrefix("_INBOX.") else {
      let (answers, published) = state.withLock { [now] state in state.take(message, now: now) }
      for message in published { deliver(message) }
      if let answers {
        // Who listens to a subject gets what is sent there, also where a stream stores it.
        if !message.subject.hasPrefix("$JS.") { deliver(message) }
        return answers.isEmpty ? () : answer(message.reply, answers)
      }
      guard deliver(message) || message.reply == nil else { return fail(message.reply, .noResponders) }
      if isReliable, let number = number(message.reply) { after(Self.patience) { [self] in end(number, .timedOut) } }
      return
    }
    answer(message.subject, [message])
  }

  /// - Returns: whether somebody listens.
  @discardableResult
  private func deliver(_ message: NATSMessage) -> Bool {
    let (all, isHeard) = state.withLock { state in state.listeners(of: message.subject) }
    for (delay, listener) in all {
      after(delay) { [self] in
        // It may have been canceled meanwhile.
        state.withLock { $0.subscriptions[listener]?.handler }?(message)
      }
    }
    return isHeard
  }

  // MARK: Answers

  private func number(_ inbox: String?) -> Int? { inbox.flatMap { Int($0.dropFirst("_INBOX.".count)) } }

  private func answer(_ inbox: String?, _ messages: [NATSMessage]) {
    guard let number = number(inbox) else { return }
    guard let delay = state.withLock({ $0.happens($0.faults.lostAnswers) ? nil : $0.delay() }) else { return }
    after(delay) { [self] in complete(number, messages) }
  }

  private func complete(_ number: Int, _ messages: [NATSMessage]) {
    let ended = state.withLock { state -> (() -> Void)? in
      switch state.waiting[number] {
      case nil: return nil
      case .one(let completion):
        state.waiting[number] = nil
        return messages.first.map { message in { completion(.success(message)) } }
      case .many(let completion, let earlier):
        let all = earlier + messages
        state.waiting[number] = messages.last?.status == nil ? .many(completion, all) : nil
        return messages.last?.status == nil ? nil : { completion(.success(all)) }
      }
    }
    ended?()
  }

  private func fail(_ inbox: String?, _ error: NATSError) {
    guard let number = number(inbox) else { return }
    after(state.withLock { $0.delay() }) { [self] in end(number, error) }
  }

  func end(_ number: Int, _ error: NATSError) {
    state.withLock { $0.waiting.removeValue(forKey: number) }?.fail(error)
  }
}

extension ModelEngine.State {
  /// Who gets a message, and when; of a queue one does.
  mutating func listeners(of subject: String) -> (all: [(Duration, Int)], isHeard: Bool) {
    let all = subscriptions.matching(subject)
    var listeners = all.filter { $0.value.queue == nil }.map(\.key)
    for (_, group) in Dictionary(grouping: all.filter { $0.value.queue != nil }, by: { $0.value.queue ?? "" }) {
      if let one = group.map(\.key).sorted().randomElement(using: &random) { listeners.append(one) }
    }
    var due: [(Duration, Int)] = []
    for listener in listeners.sorted() where !happens(faults.losses) {
      due.append((delay(), listener))
      if happens(faults.repeats) { due.append((delay(), listener)) }
    }
    return (due, !listeners.isEmpty)
  }
}

/// What the processor has done for this thread, in nanoseconds.
package func threadTime() -> UInt64 {
  var time = timespec()
  _ = unsafe clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time)
  return UInt64(time.tv_sec) * 1_000_000_000 + UInt64(time.tv_nsec)
}
