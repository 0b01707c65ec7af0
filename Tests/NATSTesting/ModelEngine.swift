import Dispatch
import Glibc
import NATSClient
import PushCore
import Synchronization

/// A model of a NATS cluster with JetStream, in memory: the requests of ``JetStream`` and the messages of core NATS.
///
/// With a ``SimulatedTime`` it behaves like a failing cluster, at random from a seed: answers and messages are late,
/// lost, repeated or reordered. Without it, all work is done at once and in order, on its own thread.
package final class ModelEngine: Sendable {
  struct Subscription: Sendable {
    var subject: String
    var pattern: SubjectPattern
    var queue: String?
    var link: Int
    var handler: @Sendable (NATSMessage) -> Void
  }

  /// The receiver of an answer.
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
    /// Earlier states of each stream that a lagging replica may have.
    var past: [String: [(time: Duration, stream: ModelStream)]] = [:]
    var subscriptions = ModelSubscriptions()
    var waiting: [Int: Answering] = [:]
    var last = 0
    /// The time until which no stream has a leader.
    var electedAt = Duration.zero
    /// The arrival time of the last message of each link: requests of a link are processed in order.
    var arrivals: [Int: Duration] = [:]
    var level: Int? = 1
    /// The ids of all messages that were ever stored. Empty if the model is reliable.
    var storedIDs: Set<String> = []
    /// True if no message is ever lost.
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
  /// True if no message is ever lost and no time is simulated, which costs less.
  let isReliable: Bool
  /// The timeout for an answer that another client has to give, in a reliable model.
  private static let timeout = Duration.seconds(2)
  private let timeUsed = Atomic<UInt64>(0)

  /// - Parameters:
  ///   - isReliable: True if no message is ever lost, so that millions of messages can be sent.
  ///   - clock: The clock for the age of messages if time is not simulated.
  package init(
    _ time: SimulatedTime? = nil, seed: UInt64 = 0, faults: ModelFaults = .none, isReliable: Bool = false,
    clock: @escaping @Sendable () -> Duration = { .zero }
  ) {
    self.time = time
    self.clock = clock
    self.isReliable = isReliable
    state = Mutex(State(random: SplitMix64(state: seed), faults: faults, isReliable: isReliable))
  }

  /// The processor time of the model's thread, including the code of its clients on that thread. Measured in a reliable
  /// model only.
  package var processorTime: Duration { .nanoseconds(Int64(timeUsed.load(ordering: .relaxed))) }

  /// The current time of the model.
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

  /// Waits until all sent messages have arrived. For a model without simulated time.
  package func flush() { for _ in 0..<4 { queue.sync {} } }

  /// Sets the faults from now on.
  package func set(_ faults: ModelFaults) { state.withLock { $0.faults = faults } }

  /// Sets the API level that the brokers report. Nil: a broker before version 2.11.
  package func set(level: Int?) { state.withLock { $0.level = level } }

  /// Leaves every stream without a leader for the given time.
  package func elect(for time: Duration) { state.withLock { [now] in $0.electedAt = now + time } }

  /// Restarts every broker.
  package func restart() {
    state.withLock { [now] state in
      for name in state.streams.keys { state.streams[name]?.restart(now) }
    }
  }

  /// Returns a new client connection.
  package func connect() -> ModelLink { ModelLink(self, number: state.withLock { $0.number() }) }

  /// Returns true if a message with this id was ever stored, even if it was deleted since.
  package func hasStored(_ id: String) -> Bool { state.withLock { $0.storedIDs.contains(id) } }

  /// Returns the number of messages of a subject.
  package func count(of subject: String) -> Int {
    state.withLock { $0.streams.values.reduce(0) { $0 + $1.numbers(of: subject, from: 0).count } }
  }

  // MARK: Arriving messages

  /// Processes a message of a client: a stream stores it, the API answers it, or subscribers receive it.
  func take(_ message: NATSMessage) {
    guard message.subject.hasPrefix("_INBOX.") else {
      let (answers, published) = state.withLock { [now] state in state.take(message, now: now) }
      for message in published { deliver(message) }
      if let answers {
        // Subscribers of a subject receive its messages, even if a stream stores them.
        if !message.subject.hasPrefix("$JS.") { deliver(message) }
        return answers.isEmpty ? () : answer(message.reply, answers)
      }
      guard deliver(message) || message.reply == nil else { return fail(message.reply, .noResponders) }
      if isReliable, let number = number(message.reply) { after(Self.timeout) { [self] in end(number, .timedOut) } }
      return
    }
    answer(message.subject, [message])
  }

  /// - Returns: True if there is a subscriber.
  @discardableResult
  private func deliver(_ message: NATSMessage) -> Bool {
    let (all, isHeard) = state.withLock { state in state.listeners(of: message.subject) }
    for (delay, listener) in all {
      after(delay) { [self] in
        // The subscription may have been canceled since.
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
  /// Returns the subscriptions that receive a message, with their delays. One member of each queue group receives it.
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

/// Returns the processor time of this thread, in nanoseconds.
package func threadTime() -> UInt64 {
  var time = timespec()
  _ = unsafe clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time)
  return UInt64(time.tv_sec) * 1_000_000_000 + UInt64(time.tv_nsec)
}
