import HTTP2Transport
import NIOCore
import NIOEmbedded
import PushCore
import PushTesting
import Testing

@testable import GatewayClient

/// A client and a gateway that consists of a session in memory. The test controls the gateway.
@Suite struct ClientTests {
  private final class Pair {
    let core: ClientCore
    let channel: EmbeddedChannel
    let gateway: SessionEnd
    private let loop = EmbeddedEventLoop()
    private let context: LoopContext

    init(maximumAnswerSize: Int = Limits.maximumAnswerSize) throws {
      context = LoopContext(eventLoop: loop)
      let connection = try Connection(role: .client, loop: context, tls: nil, peer: .remote)
      core = ClientCore(
        connection, authority: "localhost", ready: loop.makePromise(), maximumAnswerSize: maximumAnswerSize)
      core.attach()
      channel = EmbeddedChannel(handler: connection, loop: loop)
      gateway = try SessionEnd(.server, pool: StreamPool())
      channel.connect(to: try SocketAddress(ipAddress: "127.0.0.1", port: 1), promise: nil)
      try run()
    }

    /// Transfers bytes in both directions until neither side sends more.
    func run() throws {
      var hasMoved = true
      while hasMoved {
        hasMoved = false
        var down: [UInt8] = []
        while try gateway.session.send(into: &down, limit: down.count + 16_384) {}
        if !down.isEmpty, channel.isActive {
          hasMoved = true
          try channel.writeInbound(ByteBuffer(bytes: down))
        }
        loop.run()
        while let buffer = try channel.readOutbound(as: ByteBuffer.self) {
          hasMoved = true
          try unsafe buffer.withUnsafeReadableBytes { try unsafe gateway.session.receive($0) }
        }
      }
    }

    /// Begins an answer with status 200.
    func answer() throws -> HTTP2Stream {
      let id = try #require(gateway.heads.last)
      let stream = try #require(gateway.session.stream(id))
      try gateway.session.beginResponse(HeaderFields(status: 200), on: stream)
      return stream
    }

    func write(_ bytes: [UInt8], ending: Bool = false, on stream: HTTP2Stream) throws {
      gateway.session.write(bytes, ending: ending, on: stream)
      try run()
    }

    func close() { _ = try? channel.finish(acceptAlreadyClosed: true) }
  }

  private static func isOver(_ result: Result<Client.Answer, any Error>?) -> Bool {
    guard case .failure(let error as ClientError)? = result else { return false }
    return error.description.contains("the answer has more than")
  }

  @Test func `an answer may be as large as it may be`() throws {
    let pair = try Pair(maximumAnswerSize: 1 << 20)
    var result: Result<Client.Answer, any Error>?
    pair.core.request("GET", "/admin/v1/log", [], body: []) { result = $0 }
    try pair.run()
    let stream = try pair.answer()
    try pair.write([UInt8](repeating: 0x20, count: 1 << 20), ending: true, on: stream)
    #expect(try result?.get().body.count == 1 << 20)
    pair.close()
  }

  @Test(arguments: [true, false]) func `an answer beyond its bound is over at once, with or without an end`(
    _ isEnding: Bool
  ) throws {
    let pair = try Pair(maximumAnswerSize: 1 << 20)
    var result: Result<Client.Answer, any Error>?
    pair.core.request("GET", "/admin/v1/log", [], body: []) { result = $0 }
    try pair.run()
    let stream = try pair.answer()
    let piece = [UInt8](repeating: 0x20, count: 1 << 16)
    for _ in 0..<(1 << 20) / piece.count { try pair.write(piece, on: stream) }
    #expect(result == nil)
    let rest = isEnding ? 1 : Limits.maximumHeaderListSize + 1
    try pair.write([UInt8](repeating: 0x20, count: rest), ending: isEnding, on: stream)
    #expect(Self.isOver(result))
    // The gateway receives the end of the stream, and the connection serves other requests.
    if !isEnding { #expect(!pair.gateway.closings.isEmpty) }
    pair.core.request("GET", "/v1/health", [], body: []) { result = $0 }
    try pair.run()
    try pair.write([0x7B, 0x7D], ending: true, on: try pair.answer())
    #expect(try result?.get().body == [0x7B, 0x7D])
    pair.close()
  }

  @Test func `lines that nobody reads are so many, and then the connection is over`() async throws {
    let pair = try Pair()
    var opened: Result<LineStream, any Error>?
    pair.core.stream("POST", "/v1/device/stream", []) { opened = $0 }
    try pair.run()
    let stream = try pair.answer()
    try pair.write(Array(repeatElement([0x78, 0x0A], count: Limits.maximumWaitingLines).joined()), on: stream)
    #expect(pair.channel.isActive)
    try pair.write([0x78, 0x0A], on: stream)
    #expect(!pair.channel.isActive)
    var count = 0
    let error = await #expect(throws: ClientError.self) {
      for try await line in try #require(opened).get().lines {
        #expect(line == [0x78])
        count += 1
      }
    }
    #expect(count == Limits.maximumWaitingLines)
    #expect(error?.description.contains("10000 lines") == true)
  }

  @Test(arguments: [true, false]) func `a line without an end ends the connection`(_ isGathering: Bool) async throws {
    let pair = try Pair()
    var opened: Result<LineStream, any Error>?
    pair.core.stream("POST", "/v1/device/stream", [], isGathering: isGathering) { opened = $0 }
    try pair.run()
    let stream = try pair.answer()
    try pair.write([UInt8](repeating: 0x20, count: Limits.maximumGatewayLineSize), on: stream)
    #expect(pair.channel.isActive)
    try pair.write([0x20], on: stream)
    #expect(!pair.channel.isActive)
    let error = await #expect(throws: ClientError.self) {
      for try await _ in try #require(opened).get().lines {}
    }
    #expect(error?.description.contains("4 MiB") == true)
  }

  @Test(
    arguments: [
      (#"{"reason":"BadCertificate"}"#, "refused with 403 BadCertificate: the client certificate is not trusted", 403),
      (#"{"reason":"Shutdown"}"#, "the gateway ends the connection: Shutdown", nil),
      ("Stream not open", "the gateway ends the connection: Stream not open", nil),
    ] as [(String, String, Int?)])
  func `the reason of a gateway that ends the connection is the error of a request`(
    _ debugData: String, _ words: String, _ status: Int?
  ) throws {
    let pair = try Pair()
    pair.gateway.session.goAway(debugData: Array(debugData.utf8))
    try pair.run()
    var result: Result<Client.Answer, any Error>?
    pair.core.request("POST", "/3/device/0", [], body: []) { result = $0 }
    guard case .failure(let error as ClientError)? = result else {
      Issue.record("the request was sent")
      return
    }
    #expect(error.description.hasPrefix(words))
    if case .refused(let refused) = error.kind { #expect(refused == status) } else { #expect(status == nil) }
    pair.close()
  }
}
