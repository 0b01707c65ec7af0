import GatewayClient
import HTTP2Transport
import NIOCore
import PushCore

/// An error: a connection to the upstream was not ready in time, or a push got no answer in time.
struct UpstreamTimeout: Error {}

/// Forwards the pushes of one event loop to the upstream, over a connection for each provider token.
///
/// A push ends once: with the answer of the upstream, or without one. A push that the upstream may have processed is
/// not sent again. Not `Sendable`: it belongs to its event loop.
final class Forwarder: UpstreamConnectionOwner {
  typealias Dial = (UpstreamTarget, LoopContext, @escaping (Result<Connection, any Error>) -> Void) -> Void

  /// The reason why a push is not taken.
  enum Refusal: Error, Equatable {
    /// There are too many pushes without an answer, or no connection is free.
    case full
    /// The upstream can't be reached for so many seconds.
    case unreachable(seconds: Int)
    /// There were too many new provider tokens.
    case tooManyTokens
  }

  private struct Pending {
    let push: ForwardedPush
    let link: UpstreamLink
    /// The connection on which it was sent; nil while it is queued.
    var carrier: UpstreamConnection?
  }

  /// The time until which an upstream counts as unreachable.
  private struct Outage {
    var backoff = Backoff(first: Limits.firstUpstreamPause, last: Limits.longestUpstreamPause)
    var end = NIODeadline.distantPast
  }

  let upstream: Upstream
  private let loop: any EventLoop
  private let dial: Dial
  private lazy var context = makeContext()
  private var links: [UpstreamLink.Key: UpstreamLink] = [:]
  /// All open connections, also retired ones.
  private var carriers: [ObjectIdentifier: (connection: UpstreamConnection, link: UpstreamLink)] = [:]
  private var pending: [ObjectIdentifier: Pending] = [:]
  /// The bytes of the pending pushes; the number and the bytes of the pushes of unverified senders.
  private var size = 0
  private var unverified = (count: 0, size: 0)
  private var outages: [Environment: Outage] = [:]
  /// The new provider tokens of verified senders, and of all others.
  private var tokens: (verified: TokenBucket, unverified: TokenBucket)
  private var isTicking = false
  private var isClosed = false

  private static let tick = TimeAmount.seconds(1)
  /// The `retry-after` in seconds of a push that is not taken, or got no answer.
  static let retryTime = 1

  /// - Parameter dial: opens a connection on the event loop; it reports the result later, on the event loop.
  init(_ upstream: Upstream, loop: any EventLoop, dial: @escaping Dial) {
    (self.upstream, self.loop, self.dial) = (upstream, loop, dial)
    let now = Forwarder.milliseconds(loop.now)
    tokens = (TokenBucket(Limits.upstreamTokens, at: now), TokenBucket(Limits.upstreamTokens, at: now))
  }

  /// Creates the context of the connections. A drain of the gateway's listeners ends with the connections of their
  /// context, so these connections have another one.
  private func makeContext() -> LoopContext {
    let context = LoopContext(eventLoop: loop)
    context.visitConnections(every: TimeAmount(Limits.pingInterval / 2)) { $0.checkAlive() }
    return context
  }

  private static func milliseconds(_ time: NIODeadline) -> Int64 { Int64(time.uptimeNanoseconds / 1_000_000) }

  // MARK: Sending

  /// Sends a push, or queues it for its connection.
  func send(_ push: ForwardedPush) throws(Refusal) {
    let now = loop.now
    guard !isClosed, hasSpace(for: push) else { throw .full }
    let key = UpstreamLink.Key(environment: push.environment, authorization: push.authorization)
    if links[key]?.connection == nil, let seconds = pause(of: push.environment) { throw .unreachable(seconds: seconds) }
    let link = try link(key, isVerified: push.isVerified, at: now)
    (link.used, push.began) = (now, now)
    push.abandoned = { [weak self, unowned push] in self?.abandon(push) }
    pending[ObjectIdentifier(push)] = Pending(push: push, link: link)
    count(push, 1)
    upstream.meter.begun.add()
    link.append(push)
    pump(link)
    if !isTicking { scheduleTick() }
  }

  private func hasSpace(for push: ForwardedPush) -> Bool {
    let share = Limits.unverifiedForwardShare
    guard pending.count < Limits.maximumForwards, size + push.size <= Limits.maximumForwardSize else { return false }
    return push.isVerified
      || unverified.count < Limits.maximumForwards / share
        && unverified.size + push.size <= Limits.maximumForwardSize / share
  }

  /// Adds a pending push to the sums, or subtracts it.
  private func count(_ push: ForwardedPush, _ sign: Int) {
    size += sign * push.size
    guard !push.isVerified else { return }
    unverified.count += sign
    unverified.size += sign * push.size
  }

  /// Returns the seconds for which an upstream is not tried; nil if it may be tried now.
  private func pause(of environment: Environment) -> Int? {
    let now = loop.now
    guard let end = outages[environment]?.end, end > now else { return nil }
    return Int((end - now).nanoseconds / 1_000_000_000) + 1
  }

  /// Returns the link of a provider token; a new link may replace an unused one.
  private func link(
    _ key: UpstreamLink.Key, isVerified: Bool, at now: NIODeadline
  ) throws(Refusal) -> UpstreamLink {
    if let link = links[key] {
      if isVerified { link.isVerified = true }
      return link
    }
    let replaced = try replacedLink(isVerified: isVerified)
    let time = Forwarder.milliseconds(now)
    if isVerified {
      guard tokens.verified.take(at: time) else { throw .tooManyTokens }
    } else {
      guard tokens.unverified.take(at: time) else { throw .full }
    }
    if let replaced { remove(replaced) }
    let link = UpstreamLink(key, isVerified: isVerified, at: now)
    links[key] = link
    return link
  }

  /// Returns the unused link that a new link replaces; nil if there is space for another one.
  private func replacedLink(isVerified: Bool) throws(Refusal) -> UpstreamLink? {
    if !isVerified, links.values.count(where: { !$0.isVerified }) >= Limits.maximumUnverifiedConnections {
      return try oldestIdle { !$0.isVerified }
    }
    guard links.count >= Limits.maximumUpstreamConnections else { return nil }
    return try oldestIdle { _ in true }
  }

  /// Returns the unused link with the oldest last push.
  private func oldestIdle(_ isCandidate: (UpstreamLink) -> Bool) throws(Refusal) -> UpstreamLink {
    let candidates = links.values.filter { isCandidate($0) && $0.isIdle }
    guard let oldest = candidates.min(by: { $0.used < $1.used }) else { throw .full }
    return oldest
  }

  private func remove(_ link: UpstreamLink) {
    links[link.key] = nil
    link.connection?.retire()
    link.connection = nil
  }

  /// Sends the queued pushes of a link as far as its connection takes them, and opens a connection if there is none.
  private func pump(_ link: UpstreamLink) {
    while let connection = link.connection, connection.hasCapacity, let push = link.next() {
      switch connection.send(push) {
      case .sent:
        push.attempts += 1
        pending[ObjectIdentifier(push)]?.carrier = connection
      case .usedUp:
        link.prepend(push)
        link.connection = nil
      case .failed(let error):
        finish(push, .failed(retryAfter: Forwarder.retryTime, wasSent: false))
        link.connection = nil
        failed(link, error)
        return connection.close(error)
      }
    }
    guard link.connection == nil, link.hasNext() else { return }
    if let seconds = pause(of: link.key.environment) { failQueue(of: link, retryAfter: seconds) } else { open(link) }
  }

  private func open(_ link: UpstreamLink) {
    guard !link.isDialing, !isClosed else { return }
    link.isDialing = true
    dial(upstream.targets[link.key.environment], context) { [weak self] result in self?.dialed(link, result) }
  }

  private func dialed(_ link: UpstreamLink, _ result: Result<Connection, any Error>) {
    link.isDialing = false
    switch result {
    case .success(let connection):
      guard !isClosed, connection.channel != nil, !connection.isClosing else {
        connection.close(nil)
        return failed(link, nil)
      }
      let carrier = UpstreamConnection(connection, owner: self, opened: loop.now)
      link.connection = carrier
      carriers[ObjectIdentifier(carrier)] = (carrier, link)
      upstream.meter.opened.add()
      if !isTicking { scheduleTick() }
    case .failure(let error): failed(link, error)
    }
  }

  // MARK: Connections

  func ready(_ connection: UpstreamConnection) {
    guard let link = carriers[ObjectIdentifier(connection)]?.link else { return }
    if link.fruitless == 0 { reached(link.key.environment) }
    pump(link)
    // A connection without a provider token has no further use.
    if links[link.key] == nil { remove(link) }
  }

  func answered(_ push: ForwardedPush, _ answer: UpstreamAnswer?, on connection: UpstreamConnection) {
    let link = pending[ObjectIdentifier(push)]?.link
    finish(push, answer.map { ForwardOutcome.answered($0) } ?? .failed(retryAfter: Forwarder.retryTime, wasSent: true))
    guard let link else { return }
    link.fruitless = 0
    reached(link.key.environment)
    pump(link)
  }

  func lost(_ push: ForwardedPush, wasRefused: Bool, on connection: UpstreamConnection) {
    guard let link = pending[ObjectIdentifier(push)]?.link else { return }
    guard wasRefused, push.attempts < Limits.forwardAttempts else {
      return finish(push, .failed(retryAfter: Forwarder.retryTime, wasSent: !wasRefused))
    }
    pending[ObjectIdentifier(push)]?.carrier = nil
    link.prepend(push)
    pump(link)
  }

  func goingAway(_ connection: UpstreamConnection) {
    guard let link = carriers[ObjectIdentifier(connection)]?.link, link.connection === connection else { return }
    link.connection = nil
    noteEnd(of: connection, link, nil)
  }

  func ended(_ connection: UpstreamConnection, _ error: (any Error)?) {
    guard let link = carriers.removeValue(forKey: ObjectIdentifier(connection))?.link, link.connection === connection
    else { return }
    link.connection = nil
    if connection.isReady { noteEnd(of: connection, link, error) } else { failed(link, error) }
  }

  /// Opens another connection for the queue, unless several ended without an answer.
  private func noteEnd(of connection: UpstreamConnection, _ link: UpstreamLink, _ error: (any Error)?) {
    if connection.isFruitless { link.fruitless += 1 }
    if link.fruitless >= Limits.forwardAttempts { return failed(link, error) }
    pump(link)
  }

  /// Handles that the upstream could not be reached: fails the queues that have no connection, and tries again later.
  private func failed(_ link: UpstreamLink, _ error: (any Error)?) {
    let (environment, now) = (link.key.environment, loop.now)
    upstream.meter.failed.add()
    var outage = outages[environment] ?? Outage()
    if outage.end <= now {
      let pause = TimeAmount(outage.backoff.next())
      outage.end = now + pause
      outages[environment] = outage
      upstream.lost(environment, error)
      let this = NIOLoopBound(self, eventLoop: loop)
      loop.scheduleTask(in: pause) { this.value.retry(environment) }
    }
    let seconds = pause(of: environment) ?? Forwarder.retryTime
    for link in links.values where link.key.environment == environment && link.connection == nil {
      failQueue(of: link, retryAfter: seconds)
    }
  }

  private func failQueue(of link: UpstreamLink, retryAfter seconds: Int) {
    while let push = link.next() { finish(push, .failed(retryAfter: seconds, wasSent: false)) }
  }

  /// Opens a connection after the pause of an outage, also without a push, so that its end is noticed. If no link lacks
  /// a connection, the new one belongs to no provider token, and ends when it is ready.
  private func retry(_ environment: Environment) {
    guard !isClosed, outages[environment] != nil else { return }
    let link = links.values.first { $0.key.environment == environment && $0.connection == nil }
    let trial = UpstreamLink.Key(environment: environment, authorization: [])
    open(link ?? UpstreamLink(trial, isVerified: true, at: loop.now))
  }

  private func reached(_ environment: Environment) {
    outages[environment] = nil
    upstream.reached(environment)
  }

  // MARK: Ends

  private func finish(_ push: ForwardedPush, _ outcome: ForwardOutcome) {
    guard pending.removeValue(forKey: ObjectIdentifier(push)) != nil else { return }
    count(push, -1)
    let meter = upstream.meter
    meter.ended.add()
    switch outcome {
    case .answered(let answer):
      meter.count(status: answer.status)
      meter.times.record((loop.now - push.began).nanoseconds)
    case .failed(_, wasSent: true), .abandoned(wasSent: true): meter.count(status: nil)
    case .failed, .abandoned: break
    }
    checkInvariants()
    push.end(outcome)
  }

  /// Handles that the sender has ended the stream of a push.
  private func abandon(_ push: ForwardedPush) {
    guard let entry = pending[ObjectIdentifier(push)] else { return }
    entry.carrier?.cancel(push)
    finish(push, .abandoned(wasSent: entry.carrier != nil))
    guard entry.carrier != nil else { return entry.link.noteOver() }
    // A sender's connection ends with all its pushes: its queued ones must not get the streams of the others.
    let this = NIOLoopBound((self, entry.link), eventLoop: loop)
    loop.execute { this.value.0.pump(this.value.1) }
  }

  /// Ends a push without an answer of the upstream.
  private func fail(_ entry: Pending) {
    entry.carrier?.cancel(entry.push)
    finish(entry.push, .failed(retryAfter: Forwarder.retryTime, wasSent: entry.carrier != nil))
  }

  // MARK: Times

  private func scheduleTick() {
    isTicking = true
    let this = NIOLoopBound(self, eventLoop: loop)
    loop.scheduleTask(in: Forwarder.tick) { this.value.checkTimes() }
  }

  /// Ends the pushes without an answer in time, and the connections that are not ready in time or not used any more.
  private func checkTimes() {
    let now = loop.now
    for entry in pending.values where now - entry.push.began >= .seconds(Limits.forwardTime) {
      // The connection may be dead: further pushes get another one.
      if let carrier = entry.carrier, entry.link.connection === carrier {
        entry.link.connection = nil
        carrier.retire()
      }
      fail(entry)
    }
    for (connection, _) in carriers.values
    where !connection.isReady && now - connection.opened >= .seconds(Limits.upstreamConnectTime) {
      connection.close(UpstreamTimeout())
    }
    for link in links.values
    where link.isIdle && now - link.used >= .seconds(Limits.upstreamIdleTime) && outages[link.key.environment] == nil {
      remove(link)
    }
    for link in links.values { pump(link) }
    isTicking = false
    if !pending.isEmpty || !links.isEmpty || !carriers.isEmpty, !isClosed { scheduleTick() }
  }

  /// Answers the pushes on their way within the times of a drain.
  func drain(within times: DrainTimes) {
    // The rest of the time is for the responses to the senders.
    let time = times.requests + .nanoseconds(times.answers.nanoseconds / 4 * 3)
    let this = NIOLoopBound(self, eventLoop: loop)
    loop.scheduleTask(in: time) { this.value.failAll() }
  }

  private func failAll() { for entry in pending.values { fail(entry) } }

  /// Ends all pushes and connections.
  func close() {
    isClosed = true
    failAll()
    for (connection, _) in carriers.values { connection.close(nil) }
  }

  // MARK: Invariants

  /// Returns a description of an invariant that does not hold; nil if all hold.
  func brokenInvariant() -> String? {
    let pushes = pending.values.map(\.push)
    let sum = pushes.reduce(0) { $0 + $1.size }
    if sum != size { return "\(sum) bytes are pending, and \(size) are counted" }
    let strangers = pushes.count { !$0.isVerified }
    if strangers != unverified.count { return "\(strangers) are unverified, and \(unverified.count) are counted" }
    if pushes.contains(where: \.isOver) { return "a push that is over is pending" }
    return nil
  }

  /// Ends a debug build in which an invariant does not hold, while few pushes are pending.
  private func checkInvariants() {
    assert(pending.count > 64 || brokenInvariant() == nil, brokenInvariant() ?? "")
  }
}
