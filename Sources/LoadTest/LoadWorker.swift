import DequeModule
package import GatewayProtocol
package import HTTP2Transport
package import NIOCore
import PushCore

/// One event loop of a load test with its own devices, providers, rate and counts; loops share nothing.
///
/// Use it only on its event loop. At the end of an event-loop iteration it acknowledges the received pushes and sends
/// new requests, in one flush per connection.
package final class LoadWorker: ProviderWorker {
  package let plan: LoadPlan
  package let target: LoadTarget
  package let run: UInt16
  /// The seconds since 1970 at the start.
  package let wallStart: Int
  /// The first 18 characters of every `apns-id` of this worker.
  package let idPrefix: String
  package var tally = LoadTally()
  /// The devices to be acknowledged at the end of this event-loop iteration.
  private var acknowledgements: [LoadDevice] = []
  /// A reused buffer for the acknowledgement line.
  package var acknowledgement = LoadWorker.acknowledgementHead
  package static let acknowledgementHead = Array("\(DeviceLine.acknowledgementHead)".utf8)
  /// True if devices that reconnect resume their TLS session.
  package let resumesSessions: Bool

  private let context: LoopContext
  private let dialer: LoadDialer
  private let secrets: [String]
  /// 64 hex digits for each device, one after another.
  private let tokens: [UInt8]
  private var providers: [LoadProvider] = []
  package private(set) var devices: [LoadDevice] = []
  private var ledger: DeliveryLedger
  private var available = AvailableProviders()
  private var retries = Deque<(LoadProvider, LoadProvider.Request)>()
  private var lastID: UInt64 = 0
  private var start: UInt64 = 0
  private var isSending = false
  private var isOver = false
  /// The devices that are still to connect; `connecting` counts the connections that are being opened.
  private var waiting = Deque<LoadDevice>()
  private var connecting = 0
  private var liveCount = 0
  private var readyProviders = 0
  private var expectedDevices = 0
  private var failure: String?
  /// The state of a storm, in which all devices disconnect and reconnect at once.
  private var storm: (began: UInt64, missing: Int, allLive: UInt64?, caughtUp: UInt64?)?
  private var churnIndex = 0
  /// The time at which the device of a catch-up began to connect, in nanoseconds after the start.
  package private(set) var catchUpBegan: UInt64 = 0

  /// The maximum number of connections opened at once. Beyond the listener's backlog, the kernel would drop connections
  /// and wait one second.
  private static let maximumConnecting = 512
  /// The shortest pause between two sending iterations, in nanoseconds. Shorter pauses would measure the wake-ups of
  /// the load side.
  private static let shortestTick: UInt64 = 200_000

  package init(
    index: Int, plan: LoadPlan, target: LoadTarget, run: UInt16, wallStart: Int, credentials: [BatchDevice],
    addresses: [SocketAddress], tls: TLSContext, loop: any EventLoop
  ) {
    self.plan = plan
    self.target = target
    self.run = run
    self.wallStart = wallStart
    context = LoopContext(eventLoop: loop)
    dialer = LoadDialer(context: context, target: target, addresses: addresses, tls: tls)
    secrets = credentials.map(\.secret)
    tokens = credentials.flatMap { Array($0.token.utf8) }
    ledger = DeliveryLedger(providers: plan.providers, devices: plan.devices)
    resumesSessions = plan.kind == .storm || plan.churn > 0
    // Eight digits of the run and the loop, then the group with the version digit of a UUID.
    var prefix: [UInt8] = []
    for shift in stride(from: 28, through: 0, by: -4) {
      prefix.append(hexDigit(UInt8(truncatingIfNeeded: (UInt32(run) << 16 | UInt32(index)) >> UInt32(shift)) & 15))
    }
    idPrefix = String(decoding: prefix, as: UTF8.self) + "-0000-4000"
    providers = (0..<plan.providers).map { LoadProvider(index: $0, worker: self) }
    let connected = plan.kind == .accept || plan.isCatchUp ? 0 : plan.devices
    devices = (0..<plan.devices).map { index in
      LoadDevice(index: index, isSlow: LoadPlan.isOf(plan.slow, index), worker: self)
    }
    waiting = Deque(devices.prefix(connected).filter { !LoadPlan.isOf(plan.offline, plan.devices - 1 - $0.index) })
    expectedDevices = waiting.count
    context.onIterationEnd { [weak self] in self?.endIteration() }
  }

  /// Returns the nanoseconds since the start.
  package func elapsed() -> UInt64 { NIODeadline.now().uptimeNanoseconds &- start }

  /// Calls `body` with the hex digits of a device's token; does nothing if no devices were enrolled.
  package func withToken(of device: Int, _ body: (UnsafeRawBufferPointer) -> Void) {
    guard !tokens.isEmpty else { return }
    unsafe tokens.withUnsafeBytes { unsafe body(.init(rebasing: $0[(64 * device)..<(64 * device + 64)])) }
  }

  /// Records the reason why the test can't continue; only the first reason is kept.
  package func fail(_ reason: String) { failure = failure ?? reason }

  // MARK: Connecting

  /// Opens all provider connections.
  package func connectProviders(authorization: String?) {
    setAuthorization(authorization)
    for provider in providers { connect(provider) }
  }

  /// Renews the value of `authorization` that providers send.
  package func setAuthorization(_ authorization: String?) {
    for provider in providers { provider.setHead(authorization: authorization) }
  }

  private func connect(_ provider: LoadProvider) {
    let addressIndex = target.addressIndex(of: provider.index)
    dialer.open(
      addressIndex, slowly: false, attach: { connection, _ in provider.attach(connection) },
      finished: { [self] error in
        if let error { fail(target.reason(of: error, at: addressIndex)) } else { tally.connections += 1 }
      })
  }

  /// Opens the streams of the devices in ``waiting``, at most ``maximumConnecting`` at once.
  package func connectDevices() {
    while connecting < LoadWorker.maximumConnecting, let device = waiting.popFirst() {
      connecting += 1
      device.begin()
      let session = device.tlsSession
      dialer.open(
        target.addressIndex(of: device.index), slowly: device.isSlow,
        attach: { [self] connection, tls in
          if let session { tls.resume(session) }
          try device.attach(connection, tls, secret: secrets[device.index])
        },
        finished: { [self] error in
          tally.connections += error == nil ? 1 : 0
          guard let error else { return }
          connecting -= 1
          note(error, of: device.index)
          again(device)
        })
    }
  }

  /// Connects the one device of a catch-up.
  package func connectFirstDevice() {
    catchUpBegan = elapsed()
    waiting = [devices[0]]
    expectedDevices = 1
    connectDevices()
  }

  /// Records the error of a lost connection, and ends the test if a repetition can't succeed.
  private func note(_ error: any Error, of index: Int) {
    tally.lastLoss = "\(error)"
    guard let error = error as? TLSError, error.isFinal else { return }
    fail(target.reason(of: error, at: target.addressIndex(of: index)))
  }

  /// Counts a provider that has received its stream limit and can send.
  package func providerReady(_ provider: LoadProvider) {
    readyProviders += 1
    noteCapacity(provider)
  }

  package func providerLost(_ provider: LoadProvider, _ error: (any Error)?) {
    guard !isOver else { return }
    readyProviders -= 1
    tally.connectionsLost += 1
    if let error { note(error, of: provider.index) }
    guard failure == nil else { return }
    let this = NIOLoopBound((self, provider), eventLoop: context.eventLoop)
    context.eventLoop.scheduleTask(in: .milliseconds(100)) { this.value.0.connect(this.value.1) }
  }

  package func deviceLive(_ device: LoadDevice) {
    connecting -= 1
    liveCount += 1
    if liveCount == expectedDevices { storm?.allLive = elapsed() }
    connectDevices()
  }

  package func deviceCaughtUp(_ device: LoadDevice) {
    storm?.missing -= 1
    if storm?.missing == 0 { storm?.caughtUp = elapsed() }
  }

  package func deviceLost(_ device: LoadDevice, wasLive: Bool, _ error: (any Error)?) {
    if wasLive { liveCount -= 1 } else { connecting -= 1 }
    guard !isOver else { return }
    if let error {
      tally.connectionsLost += 1
      note(error, of: device.index)
    }
    again(device)
  }

  private func again(_ device: LoadDevice) {
    guard !isOver, failure == nil else { return }
    let this = NIOLoopBound((self, device), eventLoop: context.eventLoop)
    // No pause after a storm; otherwise a pause for a gateway that refuses connections.
    let pause = storm == nil ? TimeAmount.milliseconds(20) : .zero
    context.eventLoop.scheduleTask(in: pause) {
      this.value.0.waiting.append(this.value.1)
      this.value.0.connectDevices()
    }
  }

  /// Disconnects all devices, which then reconnect at once.
  package func beginStorm() {
    storm = (began: elapsed(), missing: expectedDevices, allLive: nil, caughtUp: nil)
    for device in devices where device.state == .live { device.drop() }
  }

  // MARK: Sending

  /// Begins to send; `start` is the start of the test on NIO's clock, in nanoseconds.
  package func begin(start: UInt64) {
    self.start = start
    isSending = true
    tick()
    if plan.churn > 0 { churn() }
  }

  /// Stops new pushes; requests in flight can still be answered.
  package func stopSending() { isSending = false }

  private func tick() {
    guard isSending else { return }
    pump()
    guard isSending else { return }
    let now = NIODeadline.now().uptimeNanoseconds
    var next = now + 50_000_000
    if plan.pace != .flatOut {
      next = max(start + plan.intended(tally.pushes.sent), now + LoadWorker.shortestTick)
    }
    let this = NIOLoopBound(self, eventLoop: context.eventLoop)
    context.eventLoop.scheduleTask(deadline: .uptimeNanoseconds(next)) { this.value.tick() }
  }

  private func churn() {
    let this = NIOLoopBound(self, eventLoop: context.eventLoop)
    context.eventLoop.scheduleRepeatedTask(
      initialDelay: .zero, delay: .nanoseconds(Int64(1e9 / plan.churn))
    ) { task in
      let worker = this.value
      guard worker.isSending, !worker.devices.isEmpty else { return task.cancel() }
      for _ in 0..<worker.devices.count {
        worker.churnIndex = (worker.churnIndex + 1) % worker.devices.count
        let device = worker.devices[worker.churnIndex]
        guard device.state == .live else { continue }
        device.drop()
        break
      }
    }
  }

  private func endIteration() {
    for device in acknowledgements { device.acknowledge() }
    acknowledgements.removeAll(keepingCapacity: true)
    if isSending { pump() }
  }

  /// Sends the due pushes, as far as the providers have capacity.
  private func pump() {
    guard !available.isEmpty, start > 0 else { return }
    let now = elapsed()
    let isTimeOver = plan.pushes == nil && Double(now) / 1e9 >= plan.warmUp + plan.duration
    var due = plan.pushes ?? LoadPlan.maximumPushes
    if plan.pace == .flatOut {
      if isTimeOver { due = 0 }
    } else {
      due = min(due, plan.due(at: Double(now) / 1e9))
    }
    while let (provider, request) = retries.first, provider.hasCapacity {
      retries.removeFirst()
      provider.send(request)
      _ = request
    }
    while tally.pushes.sent < due, let provider = available.next() {
      let device = tally.pushes.sent % plan.devices
      let intended = plan.pace == .flatOut ? now : plan.intended(tally.pushes.sent)
      let number = ledger.send(provider: provider.index, device: device)
      lastID += 1
      tally.pushes.sent += 1
      tally.second(now) { $0.sent += 1 }
      provider.send(.init(device: device, number: number, intended: intended, id: lastID))
      if provider.hasCapacity { available.add(provider) }
    }
    if isTimeOver, tally.pushes.sent >= due || plan.pace == .flatOut { isSending = false }
    if let pushes = plan.pushes, tally.pushes.sent >= pushes { isSending = false }
  }

  /// Notes that a provider can send again; it does so at the end of this event-loop iteration.
  private func noteCapacity(_ provider: LoadProvider) {
    available.add(provider)
    context.scheduleIterationEnd()
  }

  /// Schedules the acknowledgement of all pushes that the device has received by the end of this event-loop iteration.
  package func acknowledgeLater(_ device: LoadDevice) {
    acknowledgements.append(device)
    context.scheduleIterationEnd()
  }

  /// Schedules the acknowledgement of all pushes that the device has received by `time`.
  package func acknowledge(_ device: LoadDevice, at time: ContinuousClock.Instant) {
    let device = NIOLoopBound(device, eventLoop: context.eventLoop)
    context.eventLoop.scheduleTask(in: TimeAmount(ContinuousClock.now.duration(to: time))) {
      device.value.sendAcknowledgement()
    }
  }

  // MARK: Answers and deliveries

  package func accepted(_ request: LoadProvider.Request, by provider: LoadProvider) {
    let now = elapsed()
    tally.accept(at: now, intended: request.intended, plan)
    if plan.isExpected(request.device) { tally.pushes.expected += 1 }
    noteCapacity(provider)
  }

  package func refused(_ request: LoadProvider.Request, by provider: LoadProvider, _ message: Message) {
    let status = message.text(.status) ?? "no status"
    let body = String(decoding: message.body, as: UTF8.self)
    let reason = body.split(separator: "\"").dropFirst(3).first.map { " \($0)" } ?? ""
    tally.pushes.refusals[status + reason, default: 0] += 1
    tally.lastAnswer = elapsed()
    ledger.refuse(provider: provider.index, device: request.device, number: request.number)
    noteCapacity(provider)
  }

  /// Sends a request again, or counts it as unanswered: its connection was lost before the answer.
  package func giveUp(_ request: LoadProvider.Request, of provider: LoadProvider, isRetriable: Bool) {
    if isRetriable, !isOver {
      tally.pushes.retried += 1
      ledger.retry(provider: provider.index, device: request.device, number: request.number)
      retries.append((provider, request))
    } else {
      tally.pushes.unanswered += 1
      ledger.refuse(provider: provider.index, device: request.device, number: request.number)
    }
  }

  package func delivered(_ mark: LoadTag, to device: LoadDevice, _ now: UInt64) {
    guard mark.run == run else {
      tally.foreign += 1
      return
    }
    guard Int(mark.device) == device.index else {
      tally.pushes.misdelivered += 1
      return
    }
    switch ledger.arrive(provider: Int(mark.provider), device: device.index, number: mark.number) {
    case .inOrder, .lateRetry: break
    case .reordered: tally.pushes.reordered += 1
    case .duplicate:
      tally.pushes.duplicated += 1
      return
    case .misdelivered:
      tally.pushes.misdelivered += 1
      return
    }
    tally.deliver(at: now, intended: mark.intended, isSlow: device.isSlow, hasLatency: catchUpBegan == 0, plan)
  }

  // MARK: Progress and end

  package var standing: LoadStanding {
    let end = Double(start == 0 ? 0 : elapsed()) / 1e9
    let due = plan.pace == .flatOut ? tally.pushes.sent : min(plan.pushes ?? .max, plan.due(at: end))
    let inFlight = providers.reduce(retries.count) { $0 + $1.inFlight }
    let dropped = tally.dropped.values.reduce(0, +)
    return LoadStanding(
      readyProviders: readyProviders, live: liveCount, expectedDevices: expectedDevices, sent: tally.pushes.sent,
      accepted: tally.pushes.accepted, delivered: tally.pushes.delivered, expected: tally.pushes.expected,
      refused: tally.pushes.refusals.values.reduce(0, +), dropped: dropped, inFlight: inFlight,
      unsent: max(0, due - tally.pushes.sent), isSending: isSending,
      isQuiet: !isSending && inFlight == 0 && tally.pushes.delivered + dropped >= tally.pushes.expected,
      failure: failure,
      lastLoss: tally.lastLoss, storm: storm.map { ($0.began, $0.allLive, $0.caughtUp) })
  }

  /// Closes all connections; requests still in flight count as unanswered.
  ///
  /// - Returns: the counts, and the number of missing accepted pushes by device.
  package func finish() -> (LoadTally, missing: [Int: Int]) {
    isSending = false
    isOver = true
    while let (provider, request) = retries.popFirst() {
      giveUp(request, of: provider, isRetriable: false)
    }
    for provider in providers { provider.close() }
    for device in devices where device.state == .live { device.leave() }
    return (tally, ledger.missing(where: plan.isExpected))
  }
}
