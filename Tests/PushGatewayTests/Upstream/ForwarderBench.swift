import HTTP2Transport
import NIOCore
import NIOEmbedded
import PushCore
import PushTesting
import Testing

@testable import PushGateway

/// A forwarder whose upstream consists of sessions in memory. The test opens the connections and gives the answers.
final class ForwarderBench {
  /// One connection to the upstream.
  final class Peer {
    let channel: EmbeddedChannel
    let session: SessionEnd
    private let loop: EmbeddedEventLoop

    fileprivate init(_ connection: Connection, loop: EmbeddedEventLoop, maximumStreams: Int) throws {
      self.loop = loop
      session = try SessionEnd(.server, pool: StreamPool(), maximumStreams: maximumStreams)
      channel = EmbeddedChannel(handler: connection, loop: loop)
      channel.connect(to: try SocketAddress(ipAddress: "127.0.0.1", port: 1), promise: nil)
    }

    /// Transfers bytes in both directions until neither side sends more.
    func run() throws {
      var hasMoved = true
      while hasMoved {
        hasMoved = false
        var down: [UInt8] = []
        while try session.session.send(into: &down, limit: down.count + 16_384) {}
        if !down.isEmpty, channel.isActive {
          hasMoved = true
          try channel.writeInbound(ByteBuffer(bytes: down))
        }
        loop.run()
        while let buffer = try channel.readOutbound(as: ByteBuffer.self) {
          hasMoved = true
          try unsafe buffer.withUnsafeReadableBytes { try unsafe session.session.receive($0) }
        }
      }
    }

    /// Answers the request with this number, from 0.
    func answer(
      _ number: Int, status: Int = 200, _ fields: [(HeaderName, String)] = [], body: [UInt8] = []
    ) throws {
      let stream = try #require(session.session.stream(session.heads[number]))
      var head = HeaderFields(status: status)
      for (name, value) in fields { head.append(name, value.utf8) }
      try session.session.respond(head, body: body, on: stream)
      try run()
    }

    func goAway() throws {
      session.session.goAway(debugData: [])
      try run()
    }

    /// Ends the connection, as a process that was killed.
    func kill() { _ = try? channel.finish(acceptAlreadyClosed: true) }
  }

  let loop = EmbeddedEventLoop()
  let upstream: Upstream
  /// The outcomes in the order in which they were reported.
  private(set) var outcomes: [(name: String, outcome: ForwardOutcome)] = []
  /// The completions of the connections that are being opened.
  private var dials: [(LoopContext, (Result<Connection, any Error>) -> Void)] = []
  private(set) var forwarder: Forwarder!
  /// The sockets of the connections without a peer.
  private var channels: [EmbeddedChannel] = []

  init() {
    let target = UpstreamTarget(address: .unix(path: ""), authority: "upstream.example", isGateway: false)
    upstream = Upstream(
      UpstreamTargets(production: target, development: target), meter: UpstreamMeter(), clock: TestClock().wallClock,
      logger: .silent)
    forwarder = Forwarder(upstream, loop: loop) { [unowned self] _, context, done in dials.append((context, done)) }
  }

  /// The number of connections that are being opened.
  var dialCount: Int { dials.count }

  /// Opens the next connection, which then is ready.
  func accept(maximumStreams: Int = Limits.maximumConcurrentStreams) throws -> Peer {
    let (context, done) = dials.removeFirst()
    let connection = try Connection(role: .client, loop: context, tls: nil, peer: .remote)
    let peer = try Peer(connection, loop: loop, maximumStreams: maximumStreams)
    done(.success(connection))
    try peer.run()
    return peer
  }

  /// Opens the next connection, whose session permits no requests, because it is one of a server.
  func acceptWithoutRequests() throws {
    let (context, done) = dials.removeFirst()
    let connection = try Connection(role: .server, loop: context, tls: nil, peer: .remote)
    let channel = EmbeddedChannel(handler: connection, loop: loop)
    channels.append(channel)
    channel.connect(to: try SocketAddress(ipAddress: "127.0.0.1", port: 1), promise: nil)
    done(.success(connection))
    connection.session.delegate?.sessionReceivedSettings(connection.session)
  }

  /// Fails the next connection.
  func fail() { dials.removeFirst().1(.failure(UpstreamTimeout())) }

  /// Gives a push to the forwarder; its outcome is reported under this name.
  @discardableResult
  func send(
    _ name: String, token: String = "bearer a", isVerified: Bool = true, environment: Environment = .development
  ) throws(Forwarder.Refusal) -> ForwardedPush {
    var head = HeaderFields()
    head.append(.method, "POST")
    head.append(.scheme, "https")
    head.append(.authority, "upstream.example")
    head.append(.path, "/3/device/ab")
    head.append(.apnsID, name.utf8)
    let push = ForwardedPush(
      environment, authorization: Array(token.utf8), isVerified: isVerified, head: head, body: Array("{}".utf8)
    ) { [unowned self] outcome in outcomes.append((name, outcome)) }
    try forwarder.send(push)
    return push
  }

  /// The outcomes as texts, by name; a name with two outcomes has both.
  var ends: [String: String] {
    Dictionary(outcomes.map { ($0.name, $0.outcome.words) }) { "\($0), \($1)" }
  }
}

extension ForwardOutcome {
  var words: String {
    switch self {
    case .answered(let answer): "\(answer.status)"
    case .failed(let seconds, let wasSent): wasSent ? "lost" : "not sent, \(seconds)"
    case .abandoned(let wasSent): wasSent ? "abandoned, sent" : "abandoned"
    }
  }
}
