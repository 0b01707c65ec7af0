package import GatewayProtocol
package import PushCore
import PushPolicy
import Queues
import Synchronization

/// A device's session with its gateway, or with one of several that share its pushes. It reconnects without a limit and
/// continues after the last stored push.
///
/// The receiver stores each push on disk, then calls ``store(_:)`` and ``acknowledge(_:)``.
package final class DeviceSession: Sendable {
  private let gateways: DeviceGateways
  private let connect: @Sendable (GatewayAddress) async throws -> any DeviceLink
  /// Suspends between attempts.
  private let sleep: @Sendable (Duration) async -> Void
  /// The Focus that was on at the start; nil: not specified.
  package let focus: String?
  private let route: Mutex<GatewayRoute>
  private let cursor: CursorFile
  private let numbers: Mutex<DeviceNumbers>
  /// The silent switch and the Focus that are sent to the gateway; a nil Focus is not sent.
  let circumstances: Mutex<(isSilent: Bool, focus: String?)>
  let link = Mutex<(any DeviceLink)?>(nil)
  private let broadcasts = Mutex(BroadcastInbox())
  private let opener: Mutex<WebPushOpener>
  /// True if the connected gateway confirms answers.
  let confirmsAnswers = Mutex(false)
  private let failure = Mutex<ClientError?>(nil)
  private let unreached = Mutex<(any Error)?>(nil)
  private let finishing = Mutex(false)
  /// True while there are acknowledgements that the gateway may not have read. Its welcome confirms the number in the
  /// hello, and its goodbye confirms everything that was sent.
  private let unconfirmed = Mutex(false)
  private let end = Mutex(End())
  private let queue = Mutex<DeviceEvents?>(nil)

  /// The end of the events, and the tasks that are suspended until then.
  private struct End {
    var isReached = false
    var waiting: [CheckedContinuation<Void, Never>] = []
    /// The task that ends the events when the gateway does not.
    var limit: Task<Void, Never>?
  }

  /// The time that the gateway has to end its side after ``finish()``. It does so as soon as it has read everything
  /// that was sent; the limit only ends a hang.
  private static let finishLimit = Duration.seconds(10)
  /// The pause between two attempts; nil while there is none.
  private let pause = Mutex<Task<Void, Never>?>(nil)

  /// The reason why the session gave up: the gateway does not accept the device's secret, or is not the trusted one,
  /// and a retry can't help.
  package var permanentFailure: ClientError? { failure.withLock { $0 } }
  package var isRefused: Bool { permanentFailure != nil }

  /// The reason why no gateway could be reached; nil after the first connection.
  package var beginningFailure: (any Error)? { unreached.withLock { $0 } }

  /// The number up to which pushes are stored on this machine.
  package var cursorValue: UInt64 { cursor.position.seq }

  /// - Parameters:
  ///   - folder: the folder of the cursor.
  ///   - pingInterval: the interval of PINGs; nil: half a minute.
  ///   - focus: the Focus that is on, which is sent to the gateway.
  /// - Throws: ``ClientError`` when the cursor can't be written.
  package convenience init(
    _ credentials: Credentials, folder: StateFolder, gateways: DeviceGateways, pingInterval: Duration? = nil,
    focus: String? = nil
  ) throws {
    try self.init(
      name: credentials.name, folder: folder, gateways: gateways, focus: focus,
      webPushKeys: { WebPushKeys.read($0, of: credentials.name, in: folder) },
      sleep: { try? await Task.sleep(for: $0) },
      connect: { address in
        // The credentials may have been replaced since the previous attempt.
        let credentials = (try? Credentials.read(credentials.name, in: folder)) ?? credentials
        return try await ClientLink.connect(
          to: try gateways.endpoint(address), credentials, pingInterval: pingInterval)
      })
  }

  /// - Parameters:
  ///   - name: the name of the device, under which its cursor is stored.
  ///   - webPushKeys: returns the keys of a Web Push endpoint by its tag.
  ///   - sleep: suspends between attempts.
  ///   - connect: makes one attempt.
  /// - Throws: ``ClientError`` when the cursor can't be written.
  init(
    name: String, folder: StateFolder, gateways: DeviceGateways, focus: String? = nil,
    generator: any RandomNumberGenerator & Sendable = SystemRandomNumberGenerator(),
    webPushKeys: @escaping @Sendable (_ tag: String) -> WebPushKeys? = { _ in nil },
    sleep: @escaping @Sendable (Duration) async -> Void,
    connect: @escaping @Sendable (GatewayAddress) async throws -> any DeviceLink
  ) throws {
    self.focus = focus
    opener = Mutex(WebPushOpener(keys: webPushKeys))
    circumstances = Mutex((false, focus))
    self.sleep = sleep
    self.gateways = gateways
    self.connect = connect
    route = Mutex(GatewayRoute(reported: gateways.remembered, generator: generator))
    cursor = try CursorFile(path: folder.devicesPath + "/" + name + ".cursor")
    numbers = Mutex(DeviceNumbers(after: cursor.position))
  }

  /// Records that the receiver has everything up to this number, even if the cursor is behind.
  ///
  /// - Throws: ``ClientError`` when the cursor can't be written.
  package func resume(after position: NumberedPosition) throws {
    numbers.withLock { $0.resume(after: position) }
    if position.seq > 0 { try cursor.write(position) }
  }

  /// Starts the session and returns its events, which end after ``finish()``.
  package func events() -> DeviceEvents {
    let queue = DeviceEvents()
    self.queue.withLock { $0 = queue }
    Task { await receive(into: queue) }
    return queue
  }

  /// The number of attempts after the device's secret was revoked: a process that replaced it may not have
  /// stored it yet.
  static let revokedAttempts = 4

  /// Connects again and again, until this side has finished or no gateway accepts the device.
  private func receive(into queue: DeviceEvents) async {
    var attempts = DeviceAttempts()
    while !finishing.withLock({ $0 }) {
      let reason = await attempt(queue, &attempts)
      link.withLock { $0 = nil }
      numbers.withLock { $0.streamEnded() }
      if finishing.withLock({ $0 }) { break }
      let isNextAtOnce = !attempts.isRevoked && route.withLock { $0.hasUntried }
      let pause = isNextAtOnce ? .zero : attempts.backoff.next()
      await queue.send(.disconnected(reason: reason, retryIn: pause))
      // A retry can't help.
      if isRefused { break }
      if !isNextAtOnce {
        await wait(pause)
        route.withLock { $0.beginRound() }
      }
      await queue.send(.connecting)
    }
    reachEnd(of: queue)
  }

  /// Connects to the next gateway and receives from it.
  ///
  /// - Returns: the reason why the stream ended, for the user.
  private func attempt(_ queue: DeviceEvents, _ attempts: inout DeviceAttempts) async -> String {
    attempts.isRevoked = false
    do {
      let named = try gateways.addresses()
      guard let address = route.withLock({ $0.next(named: named) }) else {
        throw ClientError(.unreachable, "no gateway is named")
      }
      let end = try await receive(queue, from: address) { attempts.noteConnected() }
      guard end == "revoked" else { return "the gateway ended the stream" }
      attempts.noteRevoked()
      return "the gateway has revoked this device's secret"
    } catch let error as ClientError {
      return note(error, &attempts)
    } catch {
      if !attempts.wasConnected { unreached.withLock { $0 = error } }
      return "\(error)"
    }
  }

  /// Records a failed attempt.
  ///
  /// - Returns: the reason, for the user.
  private func note(_ error: ClientError, _ attempts: inout DeviceAttempts) -> String {
    if !attempts.wasConnected, case .unreachable = error.kind { unreached.withLock { $0 = error } }
    let isUnknown = if case .refused(status: 401) = error.kind { true } else { false }
    let isForGood = route.withLock { route in
      if isUnknown || error.isPermanent { route.noteRefusal() }
      return route.isRefusedEverywhere
    }
    guard isUnknown else {
      // A gateway that was trusted before may be changing its certificate.
      if isForGood, !attempts.wasConnected { failure.withLock { $0 = error } }
      return error.description
    }
    let reason = "the gateway does not know this device: it was removed or has another secret; enroll it again"
    if isForGood, attempts.isLastRefusal() { failure.withLock { $0 = ClientError(error.kind, reason) } }
    return reason
  }

  /// Suspends until the time of the next attempt, or until ``retry()``.
  private func wait(_ time: Duration) async {
    let task = Task { await sleep(time) }
    pause.withLock { $0 = task }
    await task.value
    pause.withLock { $0 = nil }
  }

  /// Connects now, if the session pauses before the next attempt.
  package func retry() { pause.withLock { $0 }?.cancel() }

  /// Connects to an address and receives from it.
  ///
  /// - Returns: the reason why the gateway ended the stream; nil if it sent none.
  private func receive(
    _ queue: DeviceEvents, from address: GatewayAddress, connected: () -> Void
  ) async throws -> String? {
    var end: String?
    let link = try await connect(address)
    defer { link.close() }
    self.link.withLock { $0 = link }
    // A push that is being stored at this moment is sent again, and filtered below.
    link.send(hello.text)
    guard !finishing.withLock({ $0 }) else { return nil }
    var isWelcome = false
    let parser = JSONParser(maximumDepth: JSONParser.maximumLineDepth)
    for try await lines in link.lines {
      defer { link.taken(lines.count) }
      for event in DeviceEvent.events(in: lines, after: numbers.withLock { $0.received }, parser: parser) {
        switch event {
        case .connected:
          connected()
          unreached.withLock { $0 = nil }
        case .served: isWelcome = true
        case .ended(let reason, _):
          end = reason
          // The gateway sends this after it has read everything up to the end of this side.
          if isWelcome, reason == "goodbye" { unconfirmed.withLock { $0 = false } }
        default: break
        }
        await take(event, link, parser, queue)
      }
    }
    return end
  }

  /// Handles the session's part of an event, and passes the event to the receiver.
  private func take(_ event: DeviceEvent, _ link: any DeviceLink, _ parser: JSONParser, _ queue: DeviceEvents) async {
    switch event {
    case .connected(_, let version):
      confirmsAnswers.withLock { $0 = version >= DeviceProtocol.confirmsAnswers }
    case .served(let epoch, let others): return await begin(epoch, others, queue)
    case .preferences(let preferences): opener.withLock { $0.preferences = preferences }
    case .caughtUp: return route.withLock { $0.noteCaughtUp() }
    case .ended(_, let others): return route.withLock { $0.recommend(others) }
    // An unreadable push is reported separately from stored ones, which are acknowledged.
    case .unreadable(let seq) where seq > 0:
      numbers.withLock { $0.receive(seq) }
      link.send(DeviceLine.undeliverable(seq: seq).text)
    // The user sees a broadcast at most once.
    case .pushes(let batch):
      numbers.withLock { $0.receive(batch.lastSeq) }
      let news = broadcasts.withLock { $0.take(batch, parser: parser) }
      // The next broadcast replaces this one, so it is acknowledged on arrival. The acknowledgement comes before the
      // receiver has the push, because a receiver of a fixed number of pushes ends the stream with the last one.
      if !news.acknowledgements.isEmpty { unconfirmed.withLock { $0 = true } }
      for acknowledgement in news.acknowledgements { link.send(acknowledgement.text) }
      if !news.batch.lines.isEmpty { await queue.send(.pushes(opener.withLock { $0.open(news.batch) })) }
      return
    default: break
    }
    await queue.send(event)
  }

  /// Handles the gateway's numbering and its list of other gateways.
  private func begin(_ epoch: NumberingEpoch?, _ others: [GatewayAddress], _ queue: DeviceEvents) async {
    // The gateway has read the hello, which contained the number of everything stored at that time.
    unconfirmed.withLock { $0 = false }
    let isNew = numbers.withLock { $0.welcome(epoch) }
    let stored = cursor.position
    if isNew || stored.epoch != epoch {
      await queue.send(.renumbered(epoch))
    } else if let seq = numbers.withLock({ $0.unacknowledged(of: stored) }) {
      unconfirmed.withLock { $0 = true }
      send(.acknowledge(seq: seq))
    }
    // A gateway that has just started may not have the addresses of the others yet.
    guard !others.isEmpty || epoch == nil else { return }
    let news = route.withLock { $0.learn(others) ? $0.reported : nil }
    if let news { gateways.remember(others.isEmpty ? [] : news) }
  }

  private var hello: DeviceLine {
    let (isSilent, focus) = circumstances.withLock { $0 }
    let position = cursor.position
    numbers.withLock { $0.streamBegins(after: position) }
    return .hello(
      version: DeviceProtocol.version, cursor: position.seq, epoch: position.epoch, isSilent: isSilent, focus: focus)
  }

  // MARK: From the device

  /// Records that the receiver has stored all pushes before ``DeviceEvent/renumbered(_:)``. Later numbers belong to the
  /// new numbering.
  package func begin(_ epoch: NumberingEpoch?) throws {
    try cursor.begin(epoch)
    numbers.withLock { $0.begin(epoch) }
  }

  /// Records in the cursor that the device has everything up to `seq`: the end of this process then repeats no push.
  package func store(_ seq: UInt64) throws {
    if seq > 0 { try cursor.write(NumberedPosition(epoch: numbers.withLock { $0.epoch }, seq: seq)) }
  }

  /// Acknowledges everything up to `seq` after the cursor is on disk.
  package func acknowledge(_ seq: UInt64) throws {
    guard seq > 0 else { return }
    try cursor.sync()
    sendAcknowledgement(seq)
  }

  /// Acknowledges everything up to `seq`, for a receiver that keeps its own record on disk.
  package func sendAcknowledgement(_ seq: UInt64) {
    if seq > 0 { unconfirmed.withLock { $0 = true } }
    switch numbers.withLock({ $0.store(seq, at: .now) }) {
    case .acknowledge: sendAcknowledgement()
    case .wait(let time):
      Task {
        try? await Task.sleep(until: time, clock: .continuous)
        sendAcknowledgement()
      }
    case .nothing: break
    }
  }

  private func sendAcknowledgement() {
    if let seq = numbers.withLock({ $0.acknowledge(at: .now) }) { send(.acknowledge(seq: seq)) }
  }

  /// Ends this side of the stream: the gateway reads everything that was sent before, and ends its side.
  ///
  /// The events end with the gateway's side, with the connection, or at a time limit; without a connection
  /// they end at once.
  package func finish() {
    let isFirst = finishing.withLock { isFinishing in
      defer { isFinishing = true }
      return !isFinishing
    }
    retry()
    sendAcknowledgement()
    guard let link = link.withLock({ $0 }) else { return giveUp() }
    link.finish()
    if isFirst { limitEnd() }
  }

  /// Schedules the end of the events at the time limit.
  private func limitEnd() {
    end.withLock { end in
      guard !end.isReached else { return }
      end.limit = Task {
        do { try await Task.sleep(for: DeviceSession.finishLimit) } catch { return }
        giveUp()
      }
    }
  }

  /// Ends the events without the gateway.
  func giveUp() {
    link.withLock { $0 }?.close()
    reachEnd(of: queue.withLock { $0 })
  }

  private func reachEnd(of queue: DeviceEvents?) {
    queue?.finish()
    let waiting = end.withLock { end in
      end.isReached = true
      end.limit?.cancel()
      defer { end.waiting = [] }
      return end.waiting
    }
    for continuation in waiting { continuation.resume() }
  }

  /// Suspends until the end of the events after ``finish()``: until the gateway has ended its side, the connection is
  /// lost, or the time limit.
  ///
  /// - Returns: true if the gateway has read all acknowledgements.
  package func waitUntilFinished() async -> Bool {
    await withCheckedContinuation { continuation in
      let isReached = end.withLock { end in
        if !end.isReached { end.waiting.append(continuation) }
        return end.isReached
      }
      if isReached { continuation.resume() }
    }
    return !unconfirmed.withLock { $0 }
  }

  func send(_ line: DeviceLine) { link.withLock { $0 }?.send(line.text) }
}
