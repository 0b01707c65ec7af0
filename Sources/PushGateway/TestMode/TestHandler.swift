import DequeModule
import GatewayProtocol
import HTTP2Transport
import NIOCore
import PushCore
import PushPolicy
import PushStorage

/// The handler of one event loop of a test gateway: records each request of a sender, adds the registrations that it needs,
/// and passes it to the production handler. Requests of the test API are served from its table of routes.
///
/// Not `Sendable`: it belongs to its loop.
final class TestHandler: Handler, RefusalObserver {
  private let inner: any Handler
  /// Serves a request of the test API.
  private let serveAPI: (Exchange) -> Void
  private let shared: LoopParts
  private let loop: any EventLoop
  private let recorder: PushRecorder
  /// Registers what senders name; nil for a strict gateway.
  private let firstUse: FirstUse?
  private let tokens: DatedTokens
  /// Takes over the streams of devices; nil for none.
  private let tap: DeviceTap?
  private let lint = PayloadLint(maximumSize: Limits.maximumVoIPPayloadSize) { $0.count }
  private var random = BufferedRandom()
  /// The requests that await registrations, and those behind them, in the order of arrival.
  private var waiting = Deque<StreamReference>()
  private var isRegistering = false

  /// - Parameters:
  ///   - inner: the production handler of the same loop.
  ///   - serveAPI: serves a request of the test API.
  init(
    _ inner: any Handler, _ shared: LoopParts, loop: any EventLoop, recorder: PushRecorder, firstUse: FirstUse?,
    tokens: DatedTokens, tap: DeviceTap? = nil, serveAPI: @escaping (Exchange) -> Void
  ) {
    (self.inner, self.shared, self.loop, self.serveAPI) = (inner, shared, loop, serveAPI)
    (self.recorder, self.firstUse, self.tokens, self.tap) = (recorder, firstUse, tokens, tap)
  }

  // MARK: Requests

  func receivedRequest(_ exchange: Exchange) {
    let request = exchange.request
    guard !exchange.stream.hasSubmittedHead else { return inner.receivedRequest(exchange) }
    if TestRoute.isFor(request), !exchange.connection.servesChannelsOnly {
      exchange.connection.allowAllStreams()
      return serveAPI(exchange)
    }
    if let tap, request.has(.path, TestHandler.acknowledgements), !tap.passes(acknowledgement: request.body) {
      return exchange.respond(Problem.failure.response)
    }
    // Requests about channels need registrations as well, and are not recorded.
    let isForChannels = request.has(.path, beginningWith: Paths.channels)
    guard isForChannels || TestHandler.isPush(request) else { return inner.receivedRequest(exchange) }
    let token = providerToken(of: exchange)
    if !isForChannels { record(exchange, token) }
    guard let firstUse else { return serve(exchange) }
    if !isRegistering, waiting.isEmpty, firstUse.needs(of: exchange, token).isEmpty { return serve(exchange) }
    waiting.append(exchange.reference)
    continueWaiting(firstUse)
  }

  /// Returns true for requests that are recorded: all but requests of devices, administrators and monitors.
  private static func isPush(_ request: Message) -> Bool {
    !(request.has(.path, beginningWith: "/v1/") || request.has(.path, beginningWith: "/admin/")
      || request.has(.path, HealthAPI.alivePath) || request.has(.path, HealthAPI.readyPath)
      || WebAPI.isFor(request))
  }

  private func providerToken(of exchange: Exchange) -> ProviderTokenText? {
    exchange.request.bytes(.authorization).flatMap { ProviderTokenText(authorization: $0, by: shared.parser) }
  }

  /// Serves the waiting requests in order, up to a request that needs a registration. Begins this registration.
  private func continueWaiting(_ firstUse: FirstUse) {
    while !isRegistering, let reference = waiting.popFirst() {
      guard let exchange = reference.exchange else { continue }
      let needs = firstUse.needs(of: exchange, providerToken(of: exchange))
      if needs.isEmpty {
        serve(exchange)
        continue
      }
      isRegistering = true
      let this = NIOLoopBound((self, reference), eventLoop: loop)
      Task {
        let device = await firstUse.register(needs)
        this.eventLoop.execute {
          let (handler, reference) = this.value
          handler.registered(device, for: reference, firstUse)
        }
      }
    }
  }

  private func registered(_ device: DeviceID?, for reference: StreamReference, _ firstUse: FirstUse) {
    isRegistering = false
    if let device { VirtualDevice.connect(device, shared, recorder, on: loop) }
    if let exchange = reference.exchange { serve(exchange) }
    continueWaiting(firstUse)
  }

  private func serve(_ exchange: Exchange) {
    if let device = exchange.deviceToken.flatMap({ shared.parts.registrations.registration($0)?.0.device }) {
      recorder.change(at: TestHandler.key(of: exchange)) { $0.device = device }
    }
    inner.receivedRequest(exchange)
  }

  // MARK: Record

  private static func key(of exchange: Exchange) -> PushRecorder.RequestKey {
    PushRecorder.RequestKey(connection: exchange.connection.number, stream: exchange.stream.id)
  }

  private static let recordedFields: [HeaderName] = [
    .apnsTopic, .apnsPushType, .apnsPriority, .apnsExpiration, .apnsCollapseID, .apnsID, .apnsDeliverAt,
    .apnsChannelID, .apnsRequestID, .apnsMarketing,
  ]
  /// The maximum number of characters of a recorded path.
  private static let maximumPath = 512

  private func record(_ exchange: Exchange, _ token: ProviderTokenText?) {
    let (request, connection) = (exchange.request, exchange.connection)
    var headers: [String: String] = [:]
    for name in TestHandler.recordedFields { headers["\(name.wireName)"] = request.text(name) }
    let now = shared.parts.clock.milliseconds()
    let path = String((request.text(.path) ?? "").prefix(TestHandler.maximumPath))
    let prefix = "\(Paths.devicePush)"
    var sender = RecordedPush.Sender(connection: connection.number, address: connection.remoteAddress)
    if let token {
      (sender.keyID, sender.team) = (token.keyID, token.team)
      sender.tokenAge = token.age(at: now / 1000, correction: tokens.correction(of: token.bytes))
      sender.tokenHash = token.bytes.hashValue
    }
    sender.certificate = connection.identity?.topic
    let isWhole = request.bodySize == request.body.count
    let payload = isWhole ? JSONValue(parsing: request.body, by: shared.parser) : nil
    var push = RecordedPush(
      received: now, id: giveID(to: request), method: request.text(.method) ?? "", path: path,
      token: path.hasPrefix(prefix) ? RecordedToken.text(String(path.dropFirst(prefix.count))) : nil,
      headers: headers, sender: sender, size: request.bodySize, payload: payload)
    if payload == nil, isWhole, request.bodySize > 0 {
      push.payloadText = String(decoding: request.body, as: UTF8.self)
    }
    if payload != nil { push.lint = lint.findings(in: request.body) }
    let key = TestHandler.key(of: exchange)
    recorder.add(push, at: key)
    exchange.stream.consumer = AnswerWatch(exchange.stream, key, recorder, shared.parts.clock)
  }

  /// Returns the id of a push. A push without an id gets one here, so that the rows of the delivery log are found by it; the
  /// production handler would make one as well.
  private func giveID(to request: Message) -> APNSID {
    if let id = request.id { return id }
    let id = APNSID(using: &random)
    let isBroadcast = request.isForBroadcasts
    let hasID = request.bytes(.apnsID) != nil || isBroadcast && request.bytes(.apnsRequestID) != nil
    if request.isPush, !hasID {
      let text = id.text
      unsafe text.withUnsafeBytes { unsafe request.append(isBroadcast ? .apnsRequestID : .apnsID, $0) }
    }
    return id
  }

  func refused(_ exchange: Exchange, _ rejection: Rejection) {
    recorder.change(at: TestHandler.key(of: exchange)) { push in
      (push.outcome, push.status, push.reason) = (.refused, rejection.status, rejection.reason.rawValue)
      push.retryAfter = rejection.retryAfter
      if let finding = rejection.finding { push.add(finding, isRefused: true) }
    }
  }

  func answered(_ exchange: Exchange, status: Int) {
    recorder.change(at: TestHandler.key(of: exchange)) { push in
      (push.outcome, push.status) = (status == 200 ? .dropped : .refused, status)
    }
  }

  // MARK: The rest of the handler

  private static let acknowledgements: StaticString = "/v1/device/acknowledgements"

  func receivedHead(of exchange: Exchange) {
    if let tap, exchange.request.isForDeviceStream, !exchange.connection.servesChannelsOnly {
      return tap.open(exchange) { inner.receivedHead(of: exchange) }
    }
    inner.receivedHead(of: exchange)
    if TestRoute.isFor(exchange.request) { exchange.request.maximumBodySize = Limits.maximumTestBodySize }
  }

  /// Accepts the certificate of any issuer that names a topic and has not expired, unless the gateway is strict.
  func cause(toRefuse connection: Connection) -> CloseReason? {
    guard firstUse != nil, let identity = connection.identity, identity.fault != nil, !identity.topics.isEmpty,
      identity.expires > shared.parts.clock.seconds
    else { return inner.cause(toRefuse: connection) }
    return nil
  }

  func began(_ connection: Connection) { inner.began(connection) }
  func abandon(_ exchange: Exchange, for cause: CloseReason) { inner.abandon(exchange, for: cause) }
  func debugData(of cause: CloseReason) -> [UInt8] { inner.debugData(of: cause) }
  func answersExcessFields(of exchange: Exchange) -> Bool {
    TestRoute.isFor(exchange.request) || inner.answersExcessFields(of: exchange)
  }
  func timeOut(_ exchange: Exchange) { inner.timeOut(exchange) }
  func exceeded(_ limit: TransportLimit, on connection: Connection) { inner.exceeded(limit, on: connection) }
}

/// Records the end of a request: its answer is sent, or its stream ended without one.
private final class AnswerWatch: StreamConsumer {
  private unowned let stream: HTTP2Stream
  private let key: PushRecorder.RequestKey
  private let recorder: PushRecorder
  private let clock: WallClock

  init(_ stream: HTTP2Stream, _ key: PushRecorder.RequestKey, _ recorder: PushRecorder, _ clock: WallClock) {
    self.stream = stream
    (self.key, self.recorder, self.clock) = (key, recorder, clock)
  }

  func closed() {
    let (isAnswered, now) = (stream.hasSubmittedHead, clock.milliseconds())
    recorder.end(at: key) { push in
      push.ended = .now
      guard push.outcome == .open else {
        push.answered = now
        return
      }
      // Every accepted push has a row before its answer; a retry has none.
      guard isAnswered else {
        push.outcome = .reset
        return
      }
      push.answered = now
      (push.outcome, push.status) = (push.device == nil ? .accepted : .duplicate, 200)
    }
  }
}
