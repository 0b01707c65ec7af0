import HTTP2Transport
import Logging
import PushCore
import PushPolicy
import PushStorage
import Synchronization

/// The counters of messages to closed pages.
final class ClosedPageMeter: Sendable {
  /// The messages that push services accepted, the failed requests, the ended subscriptions, and the refusals.
  let accepted = Counter()
  let failed = Counter()
  let gone = Counter()
  let refused = Counter()
}

/// Reaches the browsers whose pages are closed, through their push services (RFC 8030).
///
/// A message is a hint, not a delivery: the push stays in its mailbox until the device acknowledges it by its stream. A
/// message is posted if the push is still pending after ``Limits/pageGrace`` and the device has no open stream. The decision
/// about its parts is the same as for a stream (``Decider``). The queue is in memory only, and without a subscription there
/// is neither a queue nor a task.
final class ClosedPages: Sendable {
  /// The parts of the gateway that it uses.
  struct Parts: Sendable {
    let subscriptions: PushSubscriptions
    let registrations: any Registrations
    let retractions: Retractions
    let conditions: DeviceConditions
    let clock: WallClock
    let logger: Logger
    /// The push services that may be reached.
    let services: PushServicesSetting
    /// The address of the operator for push services; nil: the origin of the page.
    let contact: String?
    /// Returns the pending push of a device with a number; nil if it has left the mailbox.
    let pending: @Sendable (DeviceID, UInt64) async throws -> StoredPush?
    /// Returns the number of open streams of a device.
    let streams: @Sendable (DeviceID) -> Int
    /// Sends a request.
    let post: @Sendable (HTTPPost) async throws -> EventAnswer
  }

  private struct State {
    var queue = PageQueue()
    var tokens = PushServiceTokens()
    /// The task that pauses and begins attempts; nil while no message can be posted.
    var work: Task<Void, Never>?
    /// The pause until the time of the next message.
    var pause: Task<Void, Never>?
    /// The attempts in progress, by their numbers.
    var attempts: [UInt64: Task<Void, Never>] = [:]
    /// The push services that failed last.
    var failing: Set<String> = []
    /// True if an error of the gateway itself ended the last attempt.
    var isDelayed = false
    var isStopped = false
  }

  let parts: Parts
  let meter = ClosedPageMeter()
  private let state = Mutex(State())

  /// The longest pause in milliseconds: a change of the clock takes effect within this time.
  private static let longestPause: Int64 = 10_000
  /// The number of failing push services that are remembered, so that each is logged once.
  private static let maximumFailing = 64

  init(_ parts: Parts) { self.parts = parts }

  /// False if no push can concern a closed page. Each batch of pushes reads it.
  var hasSubscriptions: Bool { parts.subscriptions.count > 0 && parts.services != .off }

  /// The number of queued messages.
  var queued: Int { state.withLock { $0.queue.count } }

  /// The number of messages that were dropped because their device had too many.
  var dropped: UInt64 { state.withLock { $0.queue.dropped } }

  // MARK: The queue

  /// Queues messages about stored pushes, for the devices that have a subscription.
  func note(_ entries: [MailboxEntry]) {
    let concerned = parts.subscriptions.filter(entries) { $0.push.device }
    guard !concerned.isEmpty else { return }
    let due = parts.clock.milliseconds() + Limits.pageGrace
    state.withLock { state in
      for entry in concerned where entry.seq > 0 {
        state.queue.add(
          PageQueue.Item(device: entry.push.device, content: .push(seq: entry.seq, entry.push.id), due: due))
      }
    }
    wake()
  }

  /// Queues the retraction of a push, if the device's push service has it.
  func retract(_ id: APNSID, on device: DeviceID) {
    guard parts.subscriptions.find(device)?.allowsQuiet == true else { return }
    let now = parts.clock.milliseconds()
    state.withLock { $0.queue.retract(id, on: device, at: now) }
    wake()
  }

  /// Forgets the messages of devices that have lost their subscription.
  func forget(_ devices: [DeviceID]) {
    parts.subscriptions.forget(devices)
    state.withLock { state in for device in devices { state.queue.forget(device) } }
  }

  /// Stops all attempts. Messages that are not posted are lost: their pushes are in the mailboxes.
  func stop() async {
    let tasks = state.withLock { state in
      state.isStopped = true
      state.pause?.cancel()
      return state.attempts.values + [state.work].compactMap(\.self)
    }
    for task in tasks { task.cancel() }
    for task in tasks { await task.value }
  }

  /// Starts the task if a message can be posted; a running task computes its pause again.
  private func wake() {
    state.withLock { state in
      state.pause?.cancel()
      if state.isStopped || state.work != nil || state.queue.next == nil { return }
      state.work = Task { await work() }
    }
  }

  private func work() async {
    while let pause = nextPause() {
      await pause.value
      begin()
    }
  }

  /// Returns the pause until the time of the next message; nil if no message can be posted, which ends the task.
  private func nextPause() -> Task<Void, Never>? {
    let now = parts.clock.milliseconds()
    return state.withLock { state in
      guard !state.isStopped, let next = state.queue.next else {
        (state.work, state.pause) = (nil, nil)
        return nil
      }
      let left = min(max(next - now, 0), ClosedPages.longestPause)
      let pause = Task { _ = try? await Task.sleep(for: .milliseconds(left)) }
      state.pause = pause
      return pause
    }
  }

  /// Begins the attempts whose time has come.
  private func begin() {
    let now = parts.clock.milliseconds()
    state.withLock { state in
      guard !state.isStopped else { return }
      for begun in state.queue.take(at: now) {
        state.attempts[begun.number] = Task {
          let result = await attempt(begun.item)
          finish(begun, result)
        }
      }
    }
  }

  private func finish(_ begun: PageQueue.Attempt, _ result: PageQueue.Result) {
    let now = parts.clock.milliseconds()
    state.withLock { state in
      state.attempts[begun.number] = nil
      state.queue.finish(begun, result, at: now)
      assert(state.queue.brokenInvariant() == nil, state.queue.brokenInvariant() ?? "")
    }
    wake()
  }

  // MARK: One message

  /// Posts a message, if the device still needs it.
  func attempt(_ item: PageQueue.Item) async -> PageQueue.Result {
    guard let subscription = parts.subscriptions.find(item.device), subscription.refused == nil else { return .done }
    do {
      let result = try await attempt(item, to: subscription)
      state.withLock { $0.isDelayed = false }
      return result
    } catch let error as EventError {
      return fail("\(error)", subscription, item, retryAfter: nil)
    } catch {
      // The storage, a key, or the trusted certificates: the push service has no part in the error.
      return delay(item, error)
    }
  }

  private func attempt(
    _ item: PageQueue.Item, to subscription: PushSubscription
  ) async throws -> PageQueue.Result {
    switch item.content {
    case .push(let seq, _): return try await attempt(item, seq, to: subscription)
    case .retraction(let id, let topic):
      guard parts.streams(item.device) == 0 else { return .done }
      return try await post(
        PageMessage.retraction(id), PushServiceFields(retracting: topic), to: subscription, for: item, success: .done)
    }
  }

  private func attempt(
    _ item: PageQueue.Item, _ seq: UInt64, to subscription: PushSubscription
  ) async throws -> PageQueue.Result {
    // The device has acknowledged the push, or it was replaced, retracted or has expired.
    guard let push = try await parts.pending(item.device, seq) else { return .done }
    let now = parts.clock.milliseconds()
    if !item.isLate, parts.streams(item.device) > 0 {
      var late = item
      (late.isLate, late.due) = (true, now + Limits.frozenPageGrace - Limits.pageGrace)
      return .again(late)
    }
    guard let (decision, app, level) = decide(push, for: subscription, at: now),
      isShown(decision.presentation, by: subscription)
    else { return .done }
    let size = item.isShort ? Limits.shortPageMessage : Limits.maximumPageMessage
    let preferences = parts.registrations.preferences(of: push.device)
    let allowsBadge = Policy.allows(.badge, topic: app.topic, category: nil, preferences: preferences)
    guard
      let content = PageMessage.push(
        push, of: app, decision.presentation, allowsBadge: allowsBadge, maximumSize: size)
    else { return .done }
    let fields = PushServiceFields(push, level: level, to: subscription, at: now / 1000)
    let result = try await post(
      content, fields, to: subscription, for: item, success: .posted(push.id, topic: fields.topic))
    if decision.isAlertCounted, case .posted = result {
      parts.conditions.alerts(on: item.device, at: now).note(push.id, of: app.id, at: now)
    }
    return result
  }

  /// Returns true if the worker of the page shows a part. A badge alone shows nothing that browsers require.
  private func isShown(_ presentation: Presentation, by subscription: PushSubscription) -> Bool {
    presentation.alert != nil || subscription.allowsQuiet && presentation.badge != nil
  }

  /// Decides about a push as a stream of the device would do now.
  ///
  /// - Returns: nil if the push is not sent, or can't be read.
  private func decide(
    _ push: StoredPush, for subscription: PushSubscription, at now: Int64
  ) -> (DeliveryDecision, App, InterruptionLevel)? {
    let (registrations, conditions) = (parts.registrations, parts.conditions)
    guard push.expires > now / 1000, let device = registrations.device(push.device),
      let app = registrations.app(of: push),
      !parts.retractions.contains(push.id, of: device.person, app: push.app),
      let content = PayloadReader(parser: JSONParser(maximumDepth: Limits.maximumStoredDepth)).content(of: push)
    else { return nil }
    let preferences = registrations.preferences(of: push.device)
    let decider = Decider(preferences: preferences, device: subscription.state, isCatchingUp: false, now: now)
    let decision = decider.decide(
      push, content, of: app, ads: AdFilter(),
      recentAlerts: { conditions.alerts(on: push.device, at: now).count(of: app.id, except: push.id, at: now) },
      actions: { registrations.actions(of: app.id, $0) },
      isQuestion: { registrations.isQuestion(app.id, $0) })
    return (decision, app, ClosedPages.level(of: content.notification, preferences.apps[app.topic]))
  }

  /// Returns the interruption level that the recipient permits: it decides about the power of the device.
  private static func level(of notification: PushNotification, _ app: AppPreferences?) -> InterruptionLevel {
    let claimed: InterruptionLevel = notification.sound?.isCritical == true ? .critical : notification.level
    let isPermitted =
      switch claimed {
      case .passive, .active: true
      case .timeSensitive: app?.timeSensitive == true
      case .critical: app?.critical == true
      }
    return isPermitted ? claimed : .active
  }

  // MARK: The push service

  private func post(
    _ content: [UInt8], _ fields: PushServiceFields, to subscription: PushSubscription, for item: PageQueue.Item,
    success: PageQueue.Result
  ) async throws -> PageQueue.Result {
    let key = try await parts.subscriptions.key()
    let now = parts.clock.seconds
    let (audience, address) = (try EventURL(subscription.endpoint).origin, contact(of: subscription))
    let identification = try state.withLock { state in
      try state.tokens.field(audience: audience, contact: address, by: key, at: now)
    }
    var request = try fields.request(content, to: subscription, identification: identification)
    request.isPublicOnly = parts.services == .public
    try Task.checkCancellation()
    let answer = try await parts.post(request)
    let outcome = answer.pushServiceOutcome(at: now)
    if !outcome.isFailure { _ = state.withLock { $0.failing.remove(audience) } }
    switch outcome {
    case .accepted:
      meter.accepted.add()
      return success
    case .gone:
      meter.gone.add()
      try await parts.subscriptions.remove(subscription.device, endpoint: subscription.endpoint)
      log(.pushSubscriptionEnded, "a push service answered \(answer.status): the subscription has ended", subscription)
      return .done
    case .tooLarge:
      guard !item.isShort else {
        meter.failed.add()
        return .done
      }
      var short = item
      (short.isShort, short.due) = (true, 0)
      return .again(short)
    case .failed(let pause):
      return fail("it answered \(answer.status)", subscription, item, retryAfter: pause)
    case .refused:
      meter.refused.add()
      try await parts.subscriptions.refuse(subscription, status: answer.status)
      log(.pushServiceRefuses, "a push service refused a message with \(answer.status)", subscription)
      return .done
    }
  }

  private func contact(of subscription: PushSubscription) -> String {
    if let contact = parts.contact { return contact }
    return subscription.origin.hasPrefix("https://") ? subscription.origin : "mailto:pushgateway@localhost"
  }

  /// Counts a failure, which is logged once for each push service.
  private func fail(
    _ words: String, _ subscription: PushSubscription, _ item: PageQueue.Item, retryAfter: Duration?
  ) -> PageQueue.Result {
    if Task.isCancelled { return .done }
    meter.failed.add()
    let service = (try? EventURL(subscription.endpoint).origin) ?? ""
    let isNew = state.withLock { state in
      state.failing.count < ClosedPages.maximumFailing && state.failing.insert(service).inserted
    }
    if isNew {
      parts.logger.log(
        .pushServiceFailing, "a push service does not accept messages: \(words)", metadata: ["service": "\(service)"])
    }
    return postponed(item, retryAfter: retryAfter)
  }

  /// Logs an error of the gateway itself, once until an attempt has none.
  private func delay(_ item: PageQueue.Item, _ error: any Error) -> PageQueue.Result {
    if Task.isCancelled { return .done }
    let isNew = state.withLock { state in
      defer { state.isDelayed = true }
      return !state.isDelayed
    }
    if isNew { parts.logger.log(.sendingDelayed, "messages about closed pages are delayed: \(error)") }
    return postponed(item, retryAfter: nil)
  }

  private func postponed(_ item: PageQueue.Item, retryAfter: Duration?) -> PageQueue.Result {
    // A push ends with its expiration, and a retraction when its push service would no longer keep it.
    let end = item.due + Limits.pageRetractionTime * 1000
    if case .retraction = item.content, parts.clock.milliseconds() >= end { return .done }
    return .failed(item, retryAfter: retryAfter)
  }

  private func log(_ event: LoggedEvent, _ words: String, _ subscription: PushSubscription) {
    let device = parts.registrations.device(subscription.device)?.name ?? ""
    parts.logger.log(event, "\(words)", metadata: ["device": "\(device)"])
  }

  /// A warning if push services refuse the messages to some devices.
  var warnings: [HealthProblem] {
    let refused = parts.subscriptions.refused
    guard let first = refused.first else { return [] }
    let name = parts.registrations.device(first.device)?.name ?? "a device"
    let others = refused.count > 1 ? " and of \(refused.count - 1) others" : ""
    return [
      HealthProblem(
        part: "push-services",
        problem: "push services refuse the messages to the closed page of \(name)\(others) (\(first.refused ?? 0)): "
          + "check `push_contact` and the clock, then turn the switch in the page's settings off and on",
        since: first.created / 1000)
    ]
  }
}
