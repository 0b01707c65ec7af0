import GatewayProtocol
import HTTP2Transport
import NIOCore
import PushCore
import PushPolicy
import PushStorage

/// One open stream of a device: carries out the decisions of its ``DeviceStreamState``, and processes the device's
/// lines.
///
/// Belongs to the event loop of its connection.
final class DeviceStream: StreamConsumer, LiveSubscription, BroadcastReceiver {
  /// The framing of lines: NDJSON, or `text/event-stream` for browsers and curl.
  enum Framing { case lines, events }

  let isEndless = true
  let device: Device
  /// The secret that the stream was opened with; nil after the device's hello.
  var secret: String?
  let shared: LoopParts
  let framing: Framing
  private let stream: StreamReference
  let loop: any EventLoop
  var state = DeviceStreamState()
  var deviceState = Policy.DeviceState()
  /// The pushes that were sent and not acknowledged, for the log.
  var outstanding = OutstandingPushes()
  /// The pushes that were acknowledged on any stream of the device; nil until the first use.
  private var history: DeviceHistory?
  /// The device's reports about pushes that are in neither of the two; nil until the first one.
  var reports: DeviceReports?
  /// The alerts that budgets count, shared by all streams of the device; nil until the first use.
  private var shownAlerts: ShownAlerts?
  let channels: ChannelReceiver
  var registryNumber: UInt64?
  /// The notices for the device, to be sent when it reads again.
  private var postponed = PostponedNotices()
  /// The retractions from before the stream that are not sent yet.
  private var retractionsLeft: ArraySlice<Retractions.Retraction> = []
  /// True while the pushes being sent were read from the mailbox, not handed over on acceptance.
  private var isReading = false
  /// The beginning of an incomplete line.
  var partialLine: [UInt8] = []

  init(device: Device, secret: String, _ shared: LoopParts, framing: Framing, exchange: Exchange) {
    self.device = device
    self.secret = secret
    self.shared = shared
    self.framing = framing
    stream = exchange.reference
    loop = exchange.connection.loop.eventLoop
    channels = ChannelReceiver(device: device.id, shared, loop: loop)
  }

  /// Begins the response and takes over the stream; for an event stream, the request contains the device's position.
  func begin(_ exchange: Exchange) {
    var fields = HeaderFields(status: 200)
    fields.append(.contentType, framing == .lines ? "application/x-ndjson" : "text/event-stream")
    exchange.begin(fields)
    exchange.stream.consumer = self
    shared.meter.deviceStreams.add(1)
    exchange.connection.isWatched = true
    if framing == .events {
      let last = exchange.request.text(.lastEventID).flatMap(NumberedPosition.init)
      let query = ControlRequest(exchange.request, from: exchange.connection.peer).query
      handle(
        .hello(
          cursor: last?.seq ?? 0, epoch: last?.epoch, isSilent: query["silent"] == "true", focus: query["focus"]))
    }
    exchange.stream.message.forgetFields()
  }

  // MARK: From the device

  func drained() {
    sendRetractions()
    for notice in postponed.take() { notify(notice) }
    if let action = state.drained() { perform(action) }
    sendDueBroadcasts()
  }

  func drain() { end(reason: "shutdown", gateways: shared.parts.backend.gateways()) }

  func closed() {
    state.end()
    shared.meter.deviceStreams.add(-1)
    if let number = registryNumber {
      // The time is recorded before the stream is detached, so that a disconnected device always has a last-seen
      // time.
      shared.parts.presence.note(device.id, at: shared.parts.clock.seconds)
      shared.parts.router.detach(device.id, number)
    }
    registryNumber = nil
    retractionsLeft = []
    channels.end()
    // The device may have received these pushes, and may report on them when it reconnects.
    let last = outstanding.suffix(framing == .lines ? Limits.rememberedPushes : 0)
    if !last.isEmpty { remember { ring in for sent in last { ring.add(sent.push) } } }
    outstanding = OutstandingPushes()
    if history != nil { shared.parts.histories.close(device.id) }
    history = nil
    // The reports and this stream reference each other. Lookups in progress are completed.
    reports?.finish()
    reports = nil
  }

  /// Changes the device's history, and opens it on first use.
  func remember(_ change: (inout DeviceHistory.Ring) -> Void) {
    let history = history ?? shared.parts.histories.open(device.id)
    self.history = history
    history.change(change)
  }

  // MARK: To the device

  func deliver(_ entry: MailboxEntry) {
    assert(loop.inEventLoop)
    // The read that follows waits until retractions by other gateways are known.
    guard entry.seq == 0 || shared.parts.backend.isCurrent() else { return resync() }
    if let action = state.stored(entry, hasCapacity: hasCapacity) { perform(action) }
  }

  func pack() { stream.exchange?.connection.pack() }

  func flush() { stream.exchange?.connection.flushIfNeeded() }

  func resync() {
    if let action = state.resync() { perform(action) }
  }

  func notify(_ notice: DeviceNotice) {
    assert(loop.inEventLoop)
    if case .channels = notice {
      channels.refresh()
      return sendDueBroadcasts()
    }
    if case .acknowledged(let seq) = notice {
      return logAcknowledged(through: min(seq, state.cursor), now: shared.parts.clock.milliseconds())
    }
    if case .revoked = notice { return end(reason: "revoked") }
    if case .cutOff = notice {
      return end(reason: "mailbox-unavailable", gateways: shared.parts.backend.gateways())
    }
    // The log has the last event of a push that was replaced or has expired. Lines of the device ask the mailbox.
    if case .retract(let id) = notice, framing == .events { outstanding.remove { $0.push.id == id } }
    guard hasCapacity else { return postponed.add(notice) }
    switch notice {
    case .retract(let id): write(PushLine.retract(id))
    case .answered(let id, let answer): write(PushLine.retract(id, answer))
    case .takenBack(let id, let topic): write(PushLine.takenBack(id, topic: topic))
    case .preferences(let json): write(PushLine.preferences(json))
    case .acknowledged, .channels, .revoked, .cutOff: break
    }
  }

  // MARK: Broadcasts

  func deliver(_ message: BroadcastMessage) { send(message, fromStorage: false) }

  /// Sends the stored messages that the device has not received.
  func sendDueBroadcasts() {
    if channels.isEmpty { return }
    for message in channels.due(now: shared.parts.clock.milliseconds()) { send(message, fromStorage: true) }
  }

  /// Sends a message. If the stream has no capacity, a stored message stays due and is sent after the device has
  /// read.
  private func send(_ message: BroadcastMessage, fromStorage: Bool) {
    assert(loop.inEventLoop)
    guard state.isOpen else { return }
    guard hasCapacity else {
      if message.number == 0 { perform(.drop(MailboxEntry(seq: 0, push: message.push(to: device.id)))) }
      return
    }
    guard channels.takes(message, fromStorage: fromStorage) else { return }
    send(MailboxEntry(seq: 0, push: message.push(to: device.id)), of: message)
    // An event stream carries no acknowledgments: a sent message counts as received.
    if framing == .events, message.number > 0 {
      acknowledge(message.channel, message.number, now: shared.parts.clock.milliseconds())
    }
  }

  func acknowledge(_ channel: ChannelID, _ number: UInt64, now: Int64) {
    guard let (message, isFromStorage) = channels.acknowledge(channel, number) else { return }
    let detail: DeliveryDetail = isFromStorage ? .fact(.fromStorage) : .nothing
    shared.log.append(message.push(to: device.id).event(.acknowledged, at: now, detail: detail))
  }

  /// The number of bytes that the stream accepts before the device lags.
  private var capacity: Int { Limits.maximumStreamBacklog - (stream.exchange?.stream.outboundSize ?? 0) }

  var hasCapacity: Bool { (stream.exchange?.stream.outboundSize ?? .max) < Limits.maximumStreamBacklog }

  func perform(_ action: DeviceStreamState.Action) {
    assert(loop.inEventLoop)
    switch action {
    case .read(let seq): read(after: seq)
    case .send(let entry): send(entry)
    case .drop(let entry):
      shared.meter.reached(.streamBacklog)
      shared.log.append(
        entry.push.event(.dropped, at: shared.parts.clock.milliseconds(), detail: .fact(.deviceLags)))
    case .announceGap(let gap): write(PushLine.gap(gap))
    case .announceCaughtUp(let seq):
      write(PushLine.caughtUp(seq))
      shared.parts.summaries.deliver(to: device.id, hasCaughtUp: true)
    case .acknowledge(let seq): acknowledge(seq, now: shared.parts.clock.milliseconds())
    }
  }

  private func read(after seq: UInt64, since begun: NIODeadline = .now()) {
    let this = NIOLoopBound(self, eventLoop: loop)
    let (backend, device) = (shared.parts.backend, device.id)
    let limit = DeviceStreamState.batch(capacity: capacity)
    Task {
      do {
        try await backend.becomeCurrent()
        let pending = try await backend.mailbox.pending(for: device, after: seq, limit: limit)
        this.eventLoop.execute { this.value.found(pending, since: begun) }
      } catch {
        this.eventLoop.execute { this.value.couldNotRead(after: seq, since: begun) }
      }
    }
  }

  /// Tries again while the backend may recover, so that the device stays connected.
  private func couldNotRead(after seq: UInt64, since begun: NIODeadline) {
    guard state.isOpen else { return }
    guard .now() < begun + shared.parts.backend.readTimeout else { return notify(.cutOff) }
    // A random pause prevents that all streams read at once.
    let this = NIOLoopBound(self, eventLoop: loop)
    loop.scheduleTask(in: .milliseconds(.random(in: 1000...2000))) {
      if this.value.state.isOpen { this.value.read(after: seq, since: begun) }
    }
  }

  private func found(_ pending: PendingPushes, since begun: NIODeadline) {
    // This gateway may have been stopped during the read.
    guard pending.entries.isEmpty || shared.parts.backend.isCurrent() else {
      if state.isOpen { read(after: state.cursor, since: begun) }
      return
    }
    isReading = true
    for action in state.found(pending, capacity: capacity) { perform(action) }
    isReading = false
    if let action = state.performed(pending, hasCapacity: hasCapacity) { perform(action) }
  }

  private func send(_ entry: MailboxEntry, of message: BroadcastMessage? = nil) {
    let push = entry.push
    let now = shared.parts.clock.milliseconds()
    // The expiration is checked as late as possible.
    guard !entry.isExpired(at: now), let app = shared.parts.registrations.app(of: push) else { return }
    if !shared.parts.retractions.isEmpty, message == nil,
      shared.parts.retractions.contains(push.id, of: device.person, app: push.app)
    {
      return withhold(entry, now: now)
    }
    guard let content = shared.payloads.content(of: push) else { return giveUp(entry, of: app, message, now: now) }
    let decision = decide(push, content, of: app, now: now)
    if decision.isAlertCounted { alerts(at: now).note(push.id, of: app.id, at: now) }
    if let cluster = shared.parts.backend.cluster, message == nil { publishSent(push, content, cluster, at: now) }
    if let hold = decision.hold {
      shared.parts.held.add(entry, hold, content.notification, decision.presentation.center)
    }
    shared.log.append(decision.transmitted, keeping: decision.keptText, isForSenders: decision.textReaders == .senders)
    if let suppressed = decision.suppressed { shared.log.append(suppressed) }
    for removal in decision.removed { shared.meter.policy.remove(by: removal.rule) }
    shared.meter.stages.transmit(received: push.received, at: now, isStored: isReading)
    let sent = SentPush(
      id: push.id, sent: ShortTime(now), app: push.app, category: content.notification.category)
    // Reports in requests find a push in the history only.
    if message == nil, entry.seq == 0 || framing == .events { remember { $0.add(sent) } }
    if entry.seq > 0 {
      outstanding.append(
        .init(
          seq: entry.seq, push: sent, isFromStorage: isReading, isReplaceable: !push.collapseID.isEmpty))
    }
    // The first marketing of an app may be sent before it is stored that the app sends marketing.
    let shown = content.parsed.isMarketing && !app.sendsMarketing ? app.withMarketing : app
    if let message, framing == .lines {
      return send(line: shared.broadcastLines.line(of: message, push, app: shown, presentation: decision.presentation))
    }
    write(PushLine.push(entry, app: shown, presentation: decision.presentation, of: message), eventID: entry.seq)
  }

  /// Announces a push with actions to the other gateways of a cluster: the user may pick one after this gateway is
  /// gone.
  private func publishSent(_ push: StoredPush, _ content: PushContent, _ cluster: any Cluster, at now: Int64) {
    guard let category = content.notification.category,
      !shared.parts.registrations.actions(of: push.app, category).isEmpty
    else { return }
    SentPushMessages(cluster: cluster).publish(push.id, of: push.app, category: category, to: device.id, at: now)
  }

  private func decide(_ push: StoredPush, _ content: PushContent, of app: App, now: Int64) -> DeliveryDecision {
    let registrations = shared.parts.registrations
    let decider = Decider(
      preferences: registrations.preferences(of: device.id), device: deviceState,
      isCatchingUp: !state.hasAnnouncedCaughtUp, now: now)
    return decider.decide(
      push, content, of: app, ads: shared.ads,
      recentAlerts: { alerts(at: now).count(of: app.id, except: push.id, at: now) },
      actions: { registrations.actions(of: app.id, $0) },
      isQuestion: { registrations.isQuestion(app.id, $0) })
  }

  private func alerts(at now: Int64) -> ShownAlerts {
    if let shownAlerts { return shownAlerts }
    let alerts = shared.parts.conditions.alerts(on: device.id, at: now)
    shownAlerts = alerts
    return alerts
  }

  /// Removes an unreadable push from the mailbox, logs that once, and notifies the device instead.
  private func giveUp(_ entry: MailboxEntry, of app: App, _ message: BroadcastMessage?, now: Int64) {
    if let message {
      guard channels.acknowledge(message.channel, message.number) != nil else { return }
      shared.log.append(entry.push.event(.undeliverable, at: now, detail: .fact(.unreadable)))
    } else {
      shared.parts.mailbox.discard(device.id, seq: entry.seq)
    }
    write(PushLine.undeliverable(entry.push.id, app: app))
  }

  func sendWelcome() {
    let apps = shared.parts.registrations.registrations(of: device.id).map(\.1)
    let preferences = controlJSON(shared.parts.registrations.preferences(of: device.id))
    write(
      PushLine.welcome(
        device: device, apps: apps, preferences: preferences, epoch: shared.parts.backend.epoch,
        gateways: shared.parts.backend.gateways(), standing: { shared.parts.standings.shown(of: $0) }))
  }

  /// Sends the retractions, including those from the time when the device was offline.
  func sendRetractionNotice() {
    if shared.parts.retractions.isEmpty { return }
    retractionsLeft = shared.parts.retractions.retractions(of: device.person)[...]
    sendRetractions()
  }

  /// Sends retractions from before the stream, as many as the stream accepts: the rest after the device has read them.
  private func sendRetractions() {
    while hasCapacity, !state.isEnded, let one = retractionsLeft.popFirst() {
      notify(DeviceNotice(takenBack: one.id, topic: one.app.flatMap { shared.parts.registrations.app($0)?.topic }))
    }
    // An empty slice would keep its array.
    if retractionsLeft.isEmpty { retractionsLeft = [] }
  }

  /// Removes a retracted push from the mailbox instead of sending it, if it came too late for the retraction to
  /// remove it.
  private func withhold(_ entry: MailboxEntry, now: Int64) {
    guard entry.seq == 0 else {
      return shared.parts.mailbox.retract(entry.push.id, app: entry.push.app, from: [device.id]) { _ in }
    }
    shared.log.append(entry.push.event(.dropped, at: now, detail: .fact(.retracted)))
  }

  func end(reason: String, gateways: [GatewayAddress] = []) {
    guard !state.isEnded else { return }
    write(PushLine.bye(reason, gateways: gateways), ending: true)
    state.end()
  }

  func write(_ line: consuming [UInt8], eventID: UInt64 = 0, ending: Bool = false) {
    switch framing {
    case .lines:
      line.append(UInt8(ascii: "\n"))
      send(line: line, ending: ending)
    case .events:
      let position = NumberedPosition(epoch: shared.parts.backend.epoch, seq: eventID)
      let head = eventID > 0 ? "id: \(position)\ndata: " : "data: "
      send(line: head.utf8 + line + "\n\n".utf8, ending: ending)
    }
  }

  /// Sends a line that includes its terminator.
  private func send(line: consuming [UInt8], ending: Bool = false) {
    guard let exchange = stream.exchange, !state.isEnded else { return }
    exchange.write(line, ending: ending)
  }
}
