import GatewayClient
import GatewayProtocol
import HTTP2Transport
import Logging
import PushCore
import PushStorage
import Synchronization

/// The counters of all event targets.
final class EventTargetMeter: Sendable {
  /// The accepted and the failed requests.
  let delivered = Counter()
  let failed = Counter()
  /// The events in accepted requests, and the events that were removed before they were sent.
  let events = Counter()
  let skipped = Counter()
}

/// Sends the events of one target, one request at a time.
///
/// It keeps no events: each attempt reads them from the delivery log again, after the position that is stored there
/// (``EventCursor``). So a target that is unreachable costs one read and one connection for each attempt.
final class EventSender: Sendable {
  typealias Post = @Sendable (HTTPPost, EventTarget) async throws -> EventAnswer

  /// The parts of the gateway that it uses.
  struct Parts: Sendable {
    let log: DeliveryLog
    let queries: LogQueries
    let clock: WallClock
    let logger: Logger
    let meter: EventTargetMeter
    /// Sends a request.
    let post: Post
    /// Waits, unless the task is canceled.
    let pause: @Sendable (Duration) async -> Void
    /// Stops the requests to a target, after the answer 410.
    let disable: @Sendable (EventTarget) async throws -> Void
  }

  /// The result of one step.
  enum Step: Sendable, Equatable {
    /// There are no more events now.
    case idle
    /// There may be more events.
    case more
    /// The next step follows after a pause.
    case failed(Duration)
    /// The target gets no more events.
    case ended
  }

  /// The state for lists, health and metrics.
  struct State: Sendable {
    /// The time of the oldest event of a request that has failed, in milliseconds since 1970; nil while none fails.
    var oldest: Int64?
    /// The last error, of the present failure.
    var error: String?
    /// The time of the last accepted request, in milliseconds since 1970, since the start.
    var delivered: Int64?
    /// The number of events that were removed before they were sent.
    var skipped: Int64?
    /// The causes of the present failure, each of which was logged once.
    fileprivate var causes: Set<Cause> = []
    fileprivate var backoff = Backoff(first: .seconds(2), last: .seconds(300))
  }

  /// The cause of a failure.
  fileprivate enum Cause {
    /// The target does not accept a request.
    case target
    /// The gateway can't make a request, or can't store its result.
    case gateway
  }

  let target: EventTarget
  private let parts: Parts
  private let query: DeliveryLog.Query
  private let state = Mutex(State())

  /// The time in which rows are collected before a request.
  private static let gatherTime = Duration.milliseconds(250)

  init(_ target: EventTarget, _ parts: Parts) {
    (self.target, self.parts) = (target, parts)
    var query = DeliveryLog.Query(events: target.events, limit: Limits.maximumEventBatch)
    query.apps = target.apps.map { Set($0) }
    self.query = query
  }

  /// The present state.
  var current: State { state.withLock { $0 } }

  /// Sends events until the task is canceled, or the target gets no more.
  func run() async {
    let follower = parts.log.follow()
    await withTaskCancellationHandler {
      while !Task.isCancelled {
        switch await step() {
        case .idle:
          await follower.next()
          await parts.pause(EventSender.gatherTime)
        case .more: break
        case .failed(let time): await parts.pause(time)
        case .ended: return
        }
      }
    } onCancel: {
      follower.end()
    }
  }

  /// Sends the next request.
  func step() async -> Step {
    var oldest: Int64?
    do {
      let step = try await sendNext(&oldest)
      endFailure(of: .gateway)
      return step
    } catch {
      // The delivery log, the list of the targets, or the trusted certificates: the target has no part in the error.
      return fail(.gateway, "\(error)", oldest, atLeast: nil)
    }
  }

  /// - Parameter oldest: gets the time of the oldest unsent event, if there is one.
  private func sendNext(_ oldest: inout Int64?) async throws -> Step {
    let unsent = try await parts.log.unsent(for: target.name, since: target.created, query)
    note(skipped: unsent.cursor.skipped)
    guard let first = unsent.records.first else {
      if unsent.end != unsent.cursor.position { try await parts.log.pass(unsent.cursor, to: unsent.end) }
      return unsent.cursor.pending == nil ? .idle : .more
    }
    oldest = first.row.at
    let body = EventBody.make(
      parts.queries.described(unsent.records), target: target.name, skipped: unsent.cursor.skipped)
    let isWhole = body.count == unsent.records.count
    let end = isWhole ? unsent.end : unsent.records[body.count - 1].number
    if unsent.cursor.pending != end {
      guard try await parts.log.begin(unsent.cursor, through: end) else { return .more }
    }
    switch try await attempt(id: "\(unsent.cursor.series)-\(end)", body.bytes) {
    case .delivered:
      try await parts.log.finish(unsent.cursor)
      noteDelivered(body.count)
      return isWhole && unsent.records.count < query.limit && unsent.cursor.pending == nil ? .idle : .more
    case .gone:
      try await parts.disable(target)
      return .ended
    case .failed(let words, let time): return fail(.target, words, first.row.at, atLeast: time)
    }
  }

  /// Sends a test with an example of an event.
  func test() async throws -> EventAnswer {
    let body = EventBody.test(target: target.name, at: parts.clock.milliseconds())
    return try await parts.post(try request(id: "test-\(Digest.hex(randomBytes(count: 8)))", body), target)
  }

  private func attempt(id: String, _ body: [UInt8]) async throws -> EventAnswer.Outcome {
    do {
      return try await parts.post(try request(id: id, body), target).outcome(at: parts.clock.seconds)
    } catch let error as EventError {
      return .failed("\(error)", retryAfter: nil)
    }
  }

  private func request(id: String, _ body: [UInt8]) throws -> HTTPPost {
    let now = parts.clock.seconds
    let signature = WebhookSignature.field(id: id, timestamp: now, body: body, secrets: target.secrets(at: now))
    return HTTPPost(
      url: try EventURL(target.url),
      fields: [("webhook-id", id), ("webhook-timestamp", "\(now)"), ("webhook-signature", signature)], body: body)
  }

  // MARK: State

  private func noteDelivered(_ count: Int) {
    parts.meter.delivered.add()
    parts.meter.events.add(UInt64(count))
    let now = parts.clock.milliseconds()
    let hadFailed = state.withLock { state in
      defer { (state.error, state.oldest, state.delivered, state.causes) = (nil, nil, now, []) }
      state.backoff.reset()
      return state.causes.contains(.target)
    }
    if hadFailed {
      parts.logger.log(.eventTargetBack, "an event target accepts events again", metadata: ["target": "\(target.name)"])
    }
  }

  /// Ends the failure of a cause; the last error stays while another cause fails.
  private func endFailure(of cause: Cause) {
    state.withLock { state in
      guard state.causes.remove(cause) != nil, state.causes.isEmpty else { return }
      (state.error, state.oldest) = (nil, nil)
    }
  }

  private func fail(_ cause: Cause, _ words: String, _ oldest: Int64?, atLeast time: Duration?) -> Step {
    if Task.isCancelled { return .failed(.zero) }
    let (pause, isNew) = state.withLock { state in
      (state.error, state.oldest) = (words, oldest ?? state.oldest)
      return (max(state.backoff.next(), time ?? .zero), state.causes.insert(cause).inserted)
    }
    switch cause {
    case .target:
      parts.meter.failed.add()
      if isNew {
        parts.logger.log(
          .eventTargetFailing, "an event target does not accept events: \(words)",
          metadata: ["target": "\(target.name)"])
      }
    case .gateway:
      if isNew {
        parts.logger.log(
          .sendingDelayed, "the events for an event target are delayed: \(words)",
          metadata: ["target": "\(target.name)"])
      }
    }
    return .failed(pause)
  }

  private func note(skipped: Int64) {
    let before = state.withLock { state in
      defer { state.skipped = skipped }
      return state.skipped
    }
    guard let before, skipped > before else { return }
    parts.meter.skipped.add(UInt64(skipped - before))
    parts.logger.log(
      .eventsSkipped, "events were removed from the delivery log before an event target accepted them",
      metadata: ["target": "\(target.name)", "events": "\(skipped - before)"])
  }
}
