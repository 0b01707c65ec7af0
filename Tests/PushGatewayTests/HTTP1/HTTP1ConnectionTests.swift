import NIOCore
import NIOEmbedded
import NIOHTTP1
import PushTesting
import Testing

@testable import HTTP2Transport
@testable import PushCore
@testable import PushGateway

/// A connection of HTTP/1.1 on an event loop whose clock the test controls.
@Suite(.timeLimit(.minutes(5))) struct HTTP1ConnectionTests {
  /// A connection, to which the test sends bytes and from which it reads the answers.
  struct HTTP1Peer {
    let channel: NIOAsyncTestingChannel
    let isClosed: Counter

    final class Counter: Sendable { let gauge = Gauge() }

    init(
      _ gateway: TestGateway, isLoopback: Bool = true, token: MetricsToken? = nil, others: [Router.Route] = [],
      page: HTTP1Page? = nil
    ) async throws {
      let routes = HTTP1Routes(
        health: HealthAPI(check: gateway.parts.healthCheck), meters: gateway.meters, token: token, logger: .silent,
        others: others, maximumBodySize: others.isEmpty ? 0 : 100, page: page)
      let closed = Counter()
      (channel, isClosed) = (NIOAsyncTestingChannel(), closed)
      try await channel.testingEventLoop.executeInContext { [channel] in
        let connection = HTTP1Connection(routes: routes, isLoopback: isLoopback) { closed.gauge.add(1) }
        try HTTP1Server.addHandlers(to: channel.pipeline.syncOperations, connection)
      }
      try await channel.connect(to: try SocketAddress(ipAddress: "127.0.0.1", port: 1)).get()
    }

    func send(_ text: String) async throws { try await channel.writeInbound(ByteBuffer(string: text)) }

    /// Returns the next bytes of an answer.
    func next() async throws -> String {
      switch try await channel.waitForOutboundWrite(as: IOData.self) {
      case .byteBuffer(let buffer): String(buffer: buffer)
      case .fileRegion: ""
      }
    }

    /// Returns the text of an answer up to a body with the given end.
    func answer(upTo end: String) async throws -> String {
      var text = ""
      while !text.hasSuffix(end) { text += try await next() }
      return text
    }
  }

  static let get = "GET /readyz HTTP/1.1\r\nhost: localhost\r\n\r\n"

  @Test func `requests of one connection are answered one after another`() async throws {
    try await TestGateway.run { gateway in
      let peer = try await HTTP1Peer(gateway)
      try await peer.send(HTTP1ConnectionTests.get + "GET /nothing HTTP/1.1\r\nhost: localhost\r\n\r\n")
      let first = try await peer.answer(upTo: "ready\n")
      #expect(first.hasPrefix("HTTP/1.1 200 OK\r\n"))
      #expect(first.contains("content-length: 6\r\n"))
      #expect(first.contains("connection: keep-alive\r\n"))
      #expect(first.contains("cache-control: no-store\r\n"))
      #expect(try await peer.answer(upTo: "}").hasPrefix("HTTP/1.1 404 Not Found\r\n"))
      #expect(peer.channel.isActive)
    }
  }

  @Test(arguments: [true, false])
  func `a failed request is logged, unless its client has gone`(_ hasGone: Bool) async throws {
    try await TestGateway.run { gateway in
      let lines = LimitLogTests.Lines()
      let (begun, begin) = AsyncStream.makeStream(of: Void.self)
      // It ends with the task that reads it.
      let (endless, source) = AsyncStream.makeStream(of: Void.self)
      let route = Router.Route("GET", "/slow") { _ in
        begin.yield()
        if hasGone { for await _ in endless {} }
        throw CancellationError()
      }
      let routes = HTTP1Routes(
        health: HealthAPI(check: gateway.parts.healthCheck), meters: gateway.meters, token: nil, logger: lines.logger,
        others: [route])
      let answer = Task {
        await routes.answer(ControlRequest(method: "GET", target: "/slow", authorization: nil, from: .loopback))
      }
      for await _ in begun { break }
      if hasGone { answer.cancel() }
      #expect(await answer.value.response.status == 500)
      #expect(lines.all == (hasGone ? [] : ["event=request-failed"]))
      source.finish()
    }
  }

  @Test func `a connection without a request in time is ended`() async throws {
    try await TestGateway.run { gateway in
      let peer = try await HTTP1Peer(gateway)
      try await peer.send("GET /readyz HTTP/1.1\r\nx-slow: ")
      await peer.channel.testingEventLoop.advanceTime(by: TimeAmount(Limits.http1RequestTime) - .milliseconds(1))
      #expect(peer.channel.isActive)
      try await peer.send("more")
      await peer.channel.testingEventLoop.advanceTime(by: .milliseconds(2))
      #expect(!peer.channel.isActive)
      #expect(peer.isClosed.gauge.value == 1)
    }
  }

  @Test func `a connection that is kept ends when nothing more comes`() async throws {
    try await TestGateway.run { gateway in
      let peer = try await HTTP1Peer(gateway)
      try await peer.send(HTTP1ConnectionTests.get)
      _ = try await peer.answer(upTo: "ready\n")
      await peer.channel.testingEventLoop.advanceTime(by: TimeAmount(Limits.http1RequestTime) + .seconds(1))
      #expect(peer.channel.isActive)
      await peer.channel.testingEventLoop.advanceTime(by: TimeAmount(Limits.http1IdleTime))
      #expect(!peer.channel.isActive)
    }
  }

  @Test(arguments: [
    ("POST /readyz HTTP/1.1\r\nhost: localhost\r\ncontent-length: 3\r\n\r\nabc", "413"),
    ("GET /readyz HTTP/1.1\r\nhost: localhost\r\ntransfer-encoding: chunked\r\n\r\n0\r\n\r\n", "413"),
    ("GET /readyz HTTP/1.1\r\n\r\n", "400"),
    ("GET /readyz HTTP/1.1\r\nhost: localhost\r\norigin: https://example.com\r\n\r\n", "403"),
    ("GET /readyz HTTP/1.1\r\nhost: localhost\r\nx: \(String(repeating: "y", count: 20_000))\r\n\r\n", "400"),
    (
      "POST / HTTP/1.1\r\nhost: localhost\r\ncontent-length: 3\r\ntransfer-encoding: chunked\r\n\r\n0\r\n\r\nGET /",
      "400"
    ),
    ("\u{16}\u{3}\u{1}", "400"),
  ])
  func `what is refused ends the connection, and what follows is dropped`(_ text: String, _ status: String) async throws
  {
    try await TestGateway.run { gateway in
      let peer = try await HTTP1Peer(gateway)
      // The decoder's error is also thrown to the writer of this channel.
      try? await peer.send(text)
      let answer = try await peer.next()
      #expect(answer.hasPrefix("HTTP/1.1 \(status) "), "\(answer)")
      #expect(answer.lowercased().contains("connection: close"))
      try? await peer.send(HTTP1ConnectionTests.get)
      await peer.channel.testingEventLoop.advanceTime(by: TimeAmount(Limits.http1LingerTime) + .seconds(1))
      #expect(!peer.channel.isActive)
    }
  }

  @Test func `a method that is not served is told which are`() async throws {
    try await TestGateway.run { gateway in
      let peer = try await HTTP1Peer(gateway)
      try await peer.send("DELETE /metrics HTTP/1.1\r\nhost: localhost\r\n\r\n")
      let answer = try await peer.answer(upTo: "}")
      #expect(answer.hasPrefix("HTTP/1.1 405 "))
      #expect(answer.contains("allow: GET, HEAD\r\n"))
    }
  }

  @Test func `a route of a test gateway gets the body`() async throws {
    try await TestGateway.run { gateway in
      let route = Router.Route("POST", "/echo") { Response(status: 200, body: $0.body) }
      let peer = try await HTTP1Peer(gateway, others: [route])
      try await peer.send("POST /echo HTTP/1.1\r\nhost: localhost\r\ncontent-length: 6\r\n\r\none")
      try await peer.send("two")
      #expect(try await peer.answer(upTo: "onetwo").hasPrefix("HTTP/1.1 200 OK\r\n"))
      try await peer.send("GET /echo HTTP/1.1\r\nhost: localhost\r\n\r\n")
      #expect(try await peer.answer(upTo: "}").contains("allow: POST\r\n"))
    }
  }

  @Test func `HEAD is answered without the body, and HTTP 1_0 ends`() async throws {
    try await TestGateway.run { gateway in
      let peer = try await HTTP1Peer(gateway)
      try await peer.send("HEAD /readyz HTTP/1.0\r\n\r\n")
      let answer = try await peer.answer(upTo: "\r\n\r\n")
      #expect(answer.contains("content-length: 6\r\n"))
      #expect(answer.contains("connection: close\r\n"))
    }
  }

  @Test func `HEAD opens no stream`() async throws {
    try await TestGateway.run { gateway in
      let device = try await gateway.enroll()
      let peer = try await HTTP1Peer(gateway, page: HTTP1PageTests.page(gateway))
      try await peer.send(
        "HEAD /v1/device/stream HTTP/1.1\r\nhost: localhost\r\nsec-fetch-site: same-origin\r\n"
          + "cookie: pushgateway-01234567=\(device.secret)\r\n\r\n")
      let answer = try await peer.answer(upTo: "\r\n\r\n")
      #expect(answer.hasPrefix("HTTP/1.1 200 OK\r\n"))
      #expect(answer.contains("content-length: 0\r\n"))
      try await peer.send(HTTP1ConnectionTests.get)
      #expect(try await peer.answer(upTo: "ready\n").hasPrefix("HTTP/1.1 200 OK\r\n"))
    }
  }

  @Test func `a monitor gets the format that it names, and any other the one that all know`() async throws {
    try await TestGateway.run { gateway in
      let peer = try await HTTP1Peer(gateway)
      let open = "accept: application/openmetrics-text;version=1.0.0,text/plain;q=0.5\r\n"
      try await peer.send("GET /metrics HTTP/1.1\r\nhost: localhost\r\n\(open)\r\n")
      let metrics = try await peer.answer(upTo: "# EOF\n")
      #expect(metrics.contains("content-type: application/openmetrics-text"))
      #expect(metrics.contains("# TYPE pushgateway_requests_accepted counter\n"))
      try await peer.send("GET /metrics HTTP/1.1\r\nhost: localhost\r\naccept: */*\r\n\r\n")
      let last = try #require(Metric.all.last { $0.kind != .histogram }?.sampleName)
      var text = ""
      while !text.contains("\n\(last) ") {
        text += try await peer.next()
      }
      #expect(text.contains("content-type: text/plain; version=0.0.4"))
      #expect(text.contains("# TYPE pushgateway_requests_accepted_total counter\n"))
      #expect(text.contains("# TYPE pushgateway_build_info gauge\n"))
      #expect(!text.contains("# EOF") && !text.contains("# UNIT"))
    }
  }

  @Test func `metrics are for this machine, or for who has the secret`() async throws {
    try await TestGateway.run { gateway in
      let path = gateway.folder.file("token")
      let secret = "0123456789abcdefghijklmnop"
      try StateFolder(gateway.folder.path).write(Array(secret.utf8), to: path, mode: 0o600)
      func status(_ token: MetricsToken?, _ fields: String, isLoopback: Bool = false) async throws -> Substring {
        let peer = try await HTTP1Peer(gateway, isLoopback: isLoopback, token: token)
        try await peer.send("GET /metrics HTTP/1.1\r\nhost: push.example.com\r\n\(fields)\r\n")
        return try await peer.next().dropFirst(9).prefix(3)
      }
      #expect(try await status(nil, "") == "403")
      #expect(try await status(nil, "authorization: bearer \(secret)\r\n") == "403")
      let token = MetricsToken(path: path)
      #expect(try await status(token, "") == "401")
      #expect(try await status(token, "authorization: bearer wrong\r\n") == "401")
      #expect(try await status(token, "authorization: bearer \(secret)\r\n") == "200")
      // The request of a web page whose host name resolves to this machine.
      #expect(try await status(nil, "", isLoopback: true) == "403")
      // A missing file is a fault on the gateway's side. Its details are in the log only.
      #expect(try await status(MetricsToken(path: path + ".gone"), "authorization: bearer x\r\n") == "500")
    }
  }
}
