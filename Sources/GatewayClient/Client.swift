import Foundation
import GatewayProtocol
package import HTTP2Transport
package import NIOCore
import NIOPosix
import PushCore

/// A client of the gateway: the same HTTP/2 session in the client's role, for `pushcli` and the tests.
package final class Client: Sendable {
  /// The address of a gateway, and the credentials for it.
  package enum Endpoint: Sendable {
    /// TLS with a file of trusted certificates, and an optional client certificate. The remedy ends the error when no
    /// trusted certificate has issued the gateway's, instead of the usual one.
    case tls(host: String, port: Int, trustPath: String, identity: ClientIdentity? = nil, remedy: String? = nil)
    /// TLS with the fingerprint of the trusted CA, for a first connection.
    case pinned(host: String, port: Int, AuthorityPin)
    case admin(path: String)
  }

  /// A complete response.
  package struct Answer: Sendable {
    package var status: Int
    package var body: [UInt8]
    /// The `apns-id`, unchanged.
    package var apnsID: String?
    /// The `apns-unique-id`, unchanged.
    package var apnsUniqueID: String?
    /// The `apns-deliver-at`, unchanged: the push is scheduled.
    package var apnsDeliverAt: String?
    /// The `apns-marketing`: `unsubscribed` if the recipient has unsubscribed from the marketing of the app.
    package var apnsMarketing: String?
    /// The seconds of `retry-after`, at most ``maximumRetryTime``; nil without the field.
    package var retryAfter: Int?

    /// A gateway can't keep a client away for longer.
    package static let maximumRetryTime = 60
  }

  private let core: NIOLoopBound<ClientCore>

  private init(_ core: NIOLoopBound<ClientCore>) { self.core = core }

  /// Connects to a gateway.
  ///
  /// - Parameter pingInterval: the interval of PINGs. The connection is closed when the gateway sends nothing for twice
  ///   that time, and pending requests fail. nil: ``Limits/pingInterval``.
  /// - Throws: ``ClientError`` when no gateway answers, or when it is not the trusted one.
  package static func connect(to endpoint: Endpoint, pingInterval: Duration? = nil) async throws -> Client {
    let loop = MultiThreadedEventLoopGroup.singleton.next()
    let authority: String
    let tls: (TLSContext, String)?
    switch endpoint {
    case .tls(let host, let port, let trustPath, let identity, _):
      tls = (try context(trustPath: trustPath, identity: identity), host)
      authority = GatewayAddress(host: host, port: port).description
    case .pinned(let host, let port, let pin):
      tls = (try Client.context(pin), host)
      authority = GatewayAddress(host: host, port: port).description
    case .admin:
      tls = nil
      authority = "admin"
    }
    let promise = loop.makePromise(of: NIOLoopBound<ClientCore>.self)
    let bootstrap = ClientBootstrap(group: loop)
      .connectTimeout(.seconds(10))
      .channelInitializer { channel in
        channel.eventLoop.makeCompletedFuture {
          let connection = try Connection(
            role: .client, loop: LoopContext(eventLoop: loop),
            tls: tls.map { try TLSConnection(client: $0.0, host: $0.1) }, peer: .remote)
          let core = ClientCore(connection, authority: authority, ready: promise)
          core.attach(pingInterval: pingInterval ?? Limits.pingInterval)
          try channel.pipeline.syncOperations.addHandler(connection)
        }
      }
    do {
      switch endpoint {
      case .tls(let host, let port, _, _, _), .pinned(let host, let port, _):
        _ = try await bootstrap.connect(host: host, port: port).get()
      case .admin(let path):
        _ = try await ShortSocketPath.withShortPath(path) { short in
          try await bootstrap.connect(unixDomainSocketPath: short).get()
        }
      }
    } catch {
      promise.fail(error)
      _ = try? await promise.futureResult.get()
      throw ClientError(.unreachable, Client.reason(of: error, at: endpoint.description))
    }
    do {
      return Client(try await promise.futureResult.get())
    } catch let error as TLSError {
      let remedy = error.isOfAuthority ? "; \(endpoint.remedy ?? Client.usualRemedy)" : ""
      throw ClientError(
        error.kind == .untrusted ? .untrusted : .unreachable, "\(endpoint.description): \(error)\(remedy)")
    } catch let error as ClientError where error.isRefusal {
      throw error
    } catch {
      throw ClientError(.unreachable, "\(endpoint.description) closed the connection before its first answer")
    }
  }

  private static let usualRemedy = "name its ca.pem with --ca FILE, or run `pushcli join` or `contexts add`"

  /// Returns the reason for which there is no connection: the name of the host has no address, or nothing answers.
  static func reason(of error: any Error, at address: String) -> String {
    if let error = error as? NIOConnectionError, error.connectionErrors.isEmpty,
      error.dnsAError != nil || error.dnsAAAAError != nil
    {
      return "\(error.host) has no address: check the name"
    }
    return "nothing answers at \(address): is the gateway running?"
  }

  private static func context(_ pin: AuthorityPin) throws(ClientError) -> TLSContext {
    do { return try TLSContext.client(pin: pin) } catch { throw ClientError(.misconfigured, error.description) }
  }

  private static func context(trustPath: String, identity: ClientIdentity?) throws(ClientError) -> TLSContext {
    guard FileManager.default.isReadableFile(atPath: trustPath) else {
      let reason = UnreadableFile.reason(of: trustPath)
      throw ClientError(
        .misconfigured,
        "\(trustPath) can't be read: \(reason); name the certificates to trust with --ca FILE or --state DIR")
    }
    do {
      return try TLSContext.client(trustPath: trustPath, identity: identity)
    } catch {
      let isIdentity = identity.map { error.description.contains($0.certificatePath) } ?? false
      throw ClientError(isIdentity ? .unidentified : .misconfigured, error.description)
    }
  }

  /// The gateway's TLS session as the client sees it.
  package struct Peer: Sendable {
    /// The TLS version, such as `TLSv1.3`.
    package var protocolVersion: String
    /// The time at which the gateway's certificate expires, in seconds since 1970.
    package var certificateExpiry: Int64?
  }

  /// Returns the gateway's TLS session; nil without TLS.
  package func peer() async -> Peer? {
    let core = core
    return try? await core.eventLoop.submit {
      core.value.connection.tlsPeer.map { Peer(protocolVersion: $0.version, certificateExpiry: $0.certificateExpiry) }
    }.get()
  }

  /// Sends a request and returns the complete response.
  ///
  /// - Parameter fields: the fields in addition to the pseudo-header fields.
  package func request(
    _ method: String, _ path: String, _ fields: [(HeaderName, String)] = [], body: [UInt8] = []
  ) async throws -> Answer {
    try await withCheckedThrowingContinuation { continuation in
      core.eventLoop.execute {
        self.core.value.request(method, path, fields, body: body) { continuation.resume(with: $0) }
      }
    }
  }

  /// Opens a stream on which both sides send lines.
  ///
  /// - Parameter isGathering: True if lines that arrive together are delivered together, each with its end.
  /// - Throws: ``ClientError`` with the gateway's explanation when it refuses.
  package func stream(
    _ method: String, _ path: String, _ fields: [(HeaderName, String)] = [], isGathering: Bool = false
  ) async throws -> LineStream {
    try await withCheckedThrowingContinuation { continuation in
      core.eventLoop.execute {
        self.core.value.stream(method, path, fields, isGathering: isGathering) { continuation.resume(with: $0) }
      }
    }
  }

  /// Closes the connection after all queued data was sent.
  package func close() {
    core.eventLoop.execute { self.core.value.connection.closeAfterFlush() }
  }
}

extension Client.Endpoint: CustomStringConvertible {
  fileprivate var remedy: String? {
    if case .tls(_, _, _, _, let remedy) = self { remedy } else { nil }
  }

  package var description: String {
    switch self {
    case .tls(let host, let port, _, _, _), .pinned(let host, let port, _):
      GatewayAddress(host: host, port: port).description
    case .admin(let path): path
    }
  }
}

extension Client.Answer {
  /// The error of an answer that refuses a request, in the words of the gateway.
  package var refusal: ClientError {
    let problem = try? decodeJSON(ProblemRecord.self, from: body)
    return ClientError(.refused(status: status), problem?.detail ?? "the gateway refused with \(status)")
  }
}

/// The client's side of a connection, on its event loop.
package final class ClientCore: HTTP2SessionDelegate {
  package typealias Completion = (Result<Client.Answer, any Error>) -> Void

  private enum Use {
    case answer(Completion)
    case lines(LineReader)
  }

  package let connection: Connection
  private let authority: String
  private let maximumAnswerSize: Int
  /// True after the incomplete responses exceeded ``maximumAnswerSize`` and a stream was reset for that reason.
  private var hasExcess = false
  private var ready: EventLoopPromise<NIOLoopBound<ClientCore>>?
  private var uses: [Int32: Use] = [:]
  private var failure: (any Error)?
  private var pings: RepeatedTask?

  /// - Parameter maximumAnswerSize: The limit in bytes of one response, and of all incomplete ones; beyond it a
  ///   stream is reset.
  package init(
    _ connection: Connection, authority: String, ready: EventLoopPromise<NIOLoopBound<ClientCore>>,
    maximumAnswerSize: Int = Limits.maximumAnswerSize
  ) {
    self.connection = connection
    self.authority = authority
    self.ready = ready
    self.maximumAnswerSize = maximumAnswerSize
    // The limit also ends a response without an end; it includes space for the response's head.
    connection.session.maximumIncompleteSize = maximumAnswerSize + Limits.maximumHeaderListSize
  }

  /// Attaches this to its connection, which retains it until it closes.
  package func attach(pingInterval: Duration = Limits.pingInterval) {
    connection.session.delegate = self
    connection.closed = { [self] error in lost(error) }
    connection.isWatched = true
    let this = NIOLoopBound(self, eventLoop: connection.loop.eventLoop)
    let half = TimeAmount(pingInterval / 2)
    pings = this.eventLoop.scheduleRepeatedTask(initialDelay: half, delay: half) { _ in
      this.value.connection.checkAlive()
    }
    // A connection that was never established does not report its end.
    ready?.futureResult.whenFailure { _ in this.value.pings?.cancel() }
  }

  package func request(
    _ method: String, _ path: String, _ fields: [(HeaderName, String)], body: [UInt8],
    _ completion: @escaping Completion
  ) {
    do {
      let stream = try open(method, path, fields, hasBody: !body.isEmpty)
      uses[stream.id] = .answer(completion)
      if !body.isEmpty { connection.session.write(body, ending: true, on: stream) }
    } catch {
      completion(.failure(error))
    }
  }

  package func stream(
    _ method: String, _ path: String, _ fields: [(HeaderName, String)], isGathering: Bool = false,
    _ completion: @escaping (Result<LineStream, any Error>) -> Void
  ) {
    do {
      let stream = try open(method, path, fields, hasBody: true)
      let reference = NIOLoopBound(
        StreamReference(connection: connection, id: stream.id), eventLoop: connection.loop.eventLoop)
      uses[stream.id] = .lines(LineReader(reference, isGathering: isGathering, completion))
    } catch {
      completion(.failure(error))
    }
  }

  /// The fields whose values differ in every request.
  private static let unindexed: Set<HeaderName> = [
    .apnsID, .apnsRequestID, .apnsDeliverAt, .apnsExpiration, .apnsCollapseID,
  ]

  private func open(
    _ method: String, _ path: String, _ fields: [(HeaderName, String)], hasBody: Bool
  ) throws -> HTTP2Stream {
    if let failure { throw failure }
    var head = HeaderFields()
    head.append(.method, method.utf8)
    head.append(.scheme, "https")
    head.append(.authority, authority.utf8)
    head.append(.path, path.utf8, isUnindexed: true)
    for (name, value) in fields { head.append(name, value.utf8, isUnindexed: ClientCore.unindexed.contains(name)) }
    let stream = try connection.session.request(head, hasBody: hasBody)
    connection.setNeedsFlush()
    return stream
  }

  /// The error of a connection that was closed after a PING timeout; nil for other reasons.
  private var silence: ClientError? {
    (connection.failure as? KeepAliveTimeout).map { ClientError(.unreachable, "the gateway gives \($0)") }
  }

  private func lost(_ error: (any Error)?) {
    let error = silence ?? error ?? failure ?? ClientError(.unreachable, "the gateway closed the connection")
    failure = error
    pings?.cancel()
    ready?.fail(error)
    ready = nil
  }

  // MARK: HTTP2SessionDelegate

  package func session(_ session: HTTP2Session, receivedHeadOn stream: HTTP2Stream) {
    // The body is kept beyond the limit, so that its size is counted and ends the stream.
    stream.message.maximumBodySize = .max
    guard case .lines(let reader) = uses[stream.id], stream.message.has(.status, "200") else { return }
    stream.consumer = reader
    reader.begin()
  }

  package func session(_ session: HTTP2Session, receivedEndOn stream: HTTP2Stream) {
    guard let use = uses[stream.id], stream.consumer == nil else { return }
    uses[stream.id] = nil
    guard stream.message.bodySize <= maximumAnswerSize else { return fail(use, excess) }
    let answer = Client.Answer(
      status: stream.message.text(.status).flatMap(Int.init) ?? 0, body: stream.message.body,
      apnsID: stream.message.text(.apnsID) ?? stream.message.text(.apnsRequestID),
      apnsUniqueID: stream.message.text(.apnsUniqueID), apnsDeliverAt: stream.message.text(.apnsDeliverAt),
      apnsMarketing: stream.message.text(.apnsMarketing),
      retryAfter: stream.message.text(.retryAfter).flatMap(Int.init).map {
        min(max(0, $0), Client.Answer.maximumRetryTime)
      })
    switch use {
    case .answer(let completion): completion(.success(answer))
    case .lines(let reader): reader.refuse(answer)
    }
  }

  package func session(_ session: HTTP2Session, closed stream: HTTP2Stream, errorCode: UInt32) {
    guard let use = uses.removeValue(forKey: stream.id) else { return }
    if hasExcess, errorCode == HTTP2ErrorCode.enhanceYourCalm.rawValue {
      hasExcess = false
      return fail(use, excess)
    }
    let error = silence ?? failure ?? ClientError(.unreachable, "the connection was lost before the answer came")
    if case .lines(let reader) = use, errorCode == 0, connection.session.stream(stream.id) != nil {
      return reader.end(nil)
    }
    fail(use, error)
  }

  package func session(_ session: HTTP2Session, exceeded limit: TransportLimit) {
    if case .incompleteRequests = limit { hasExcess = true }
    connection.setNeedsFlush()
  }

  private func fail(_ use: Use, _ error: any Error) {
    switch use {
    case .answer(let completion): completion(.failure(error))
    case .lines(let reader): reader.end(error)
    }
  }

  private var excess: ClientError {
    ClientError(
      .unreachable, "the answer has more than \(maximumAnswerSize >> 20) MiB, which no gateway sends: ask for less")
  }

  package func sessionReceivedSettings(_ session: HTTP2Session) {
    ready?.succeed(NIOLoopBound(self, eventLoop: connection.loop.eventLoop))
    ready = nil
  }

  package func session(_ session: HTTP2Session, goingAwayAfter lastStreamID: Int32, debugData: [UInt8]) {
    failure = ClientError(goingAway: debugData)
  }
}
