import NIOCore
import NIOEmbedded
import PushTesting
import Testing

@testable import HTTP2Transport
@testable import PushCore
@testable import PushGateway

/// HTTP/1.1 over TLS, on an event loop whose clock the test controls.
@Suite(.timeLimit(.minutes(5))) struct HTTP1TLSTests {
  /// A client, and the gateway's side of its connection.
  final class Peer {
    let channel = NIOAsyncTestingChannel()
    let isClosed = HTTP1ConnectionTests.HTTP1Peer.Counter()
    let client: TLSConnection
    private(set) var received = ""
    private(set) var progress = TLSConnection.Progress.open

    init(_ gateway: TestGateway) async throws {
      let files = try TLSFiles()
      client = try TLSConnection(client: .client(trustPath: files.trust), host: "localhost", of: .http1)
      let context = try TLSContext.server(certificatePath: files.certificate, keyPath: files.key)
      let routes = HTTP1Routes(
        health: HealthAPI(check: gateway.parts.healthCheck), meters: gateway.meters, token: nil, logger: .silent)
      try await channel.testingEventLoop.executeInContext { [channel, isClosed] in
        let pipeline = channel.pipeline.syncOperations
        try pipeline.addHandler(TLSHandler(try TLSConnection(server: context, of: .http1)))
        let connection = HTTP1Connection(routes: routes, isLoopback: true, hasTLS: true) { isClosed.gauge.add(1) }
        try HTTP1Server.addHandlers(to: pipeline, connection)
      }
      try await channel.connect(to: try SocketAddress(ipAddress: "127.0.0.1", port: 1)).get()
      try client.start()
    }

    func send() async throws {
      let bytes = client.takeOutbound()
      try await channel.writeInbound(bytes)
    }

    func send(_ text: String) async throws {
      try TLSPair.send(Array(text.utf8), by: client)
      try await send()
    }

    /// Reads bytes of the gateway.
    func read() async throws {
      let ciphertext = try await channel.waitForOutboundWrite(as: ByteBuffer.self)
      try decrypt(Array(buffer: ciphertext))
    }

    private func decrypt(_ ciphertext: [UInt8]) throws {
      var scratch = [UInt8](repeating: 0, count: Limits.recordSize)
      var plaintext: [UInt8] = []
      progress = try unsafe ciphertext.withUnsafeBytes { piece in
        try unsafe scratch.withUnsafeMutableBytes { scratch in
          try unsafe client.receive(piece, scratch: scratch) { bytes -> Result<Void, TLSError> in
            unsafe plaintext.append(contentsOf: bytes)
            return .success(())
          }
        }
      }
      received += String(decoding: plaintext, as: UTF8.self)
    }

    func shakeHands() async throws {
      try await send()
      while !client.isEstablished { try await read() }
      try await send()
    }
  }

  @Test func `a request over TLS is answered, and the end of the last answer is announced`() async throws {
    try await TestGateway.run { gateway in
      let peer = try await Peer(gateway)
      try await peer.shakeHands()
      try await peer.send(HTTP1ConnectionTests.get)
      while !peer.received.hasSuffix("ready\n") { try await peer.read() }
      #expect(peer.received.hasPrefix("HTTP/1.1 200 OK\r\n") && peer.received.contains("connection: keep-alive"))
      try await peer.send("GET /readyz HTTP/1.1\r\nhost: localhost\r\nconnection: close\r\n\r\n")
      while peer.progress == .open { try await peer.read() }
      #expect(peer.received.hasSuffix("ready\n") && peer.received.contains("connection: close"))
    }
  }

  @Test func `the time for the first request begins after the handshake`() async throws {
    try await TestGateway.run { gateway in
      let peer = try await Peer(gateway)
      let loop = peer.channel.testingEventLoop
      await loop.advanceTime(by: TimeAmount(Limits.handshakeTime) - .milliseconds(1))
      try await peer.shakeHands()
      await loop.advanceTime(by: TimeAmount(Limits.http1RequestTime) - .milliseconds(1))
      #expect(peer.channel.isActive)
      await loop.advanceTime(by: .milliseconds(2))
      #expect(!peer.channel.isActive && peer.isClosed.gauge.value == 1)
    }
  }

  @Test func `a connection without a handshake ends, and is over once`() async throws {
    try await TestGateway.run { gateway in
      let peer = try await Peer(gateway)
      await peer.channel.testingEventLoop.advanceTime(by: TimeAmount(Limits.handshakeTime) + .milliseconds(1))
      #expect(!peer.channel.isActive && peer.isClosed.gauge.value == 1)
    }
  }
}
