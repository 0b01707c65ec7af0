import NIOCore
import NIOEmbedded
import Testing

@testable import HTTP2Transport
@testable import PushCore

/// A connection without a socket: what ``ConnectionState`` decides is carried out.
@Suite struct ConnectionTests {
  let handler = StubHandler()

  @Test func `a drain of a silent connection says GOAWAY, and hangs up a little later`() throws {
    let pair = try ConnectionPair(handler)
    pair.connection.drain()
    try pair.run()
    #expect(pair.client.goAways.map { String(decoding: $0.debugData, as: UTF8.self) } == ["shutdown"])
    #expect(pair.channel.isActive)
    try pair.wait(.milliseconds(99))
    #expect(pair.channel.isActive)
    try pair.wait(.milliseconds(1))
    #expect(!pair.channel.isActive)
  }

  @Test func `a drain waits for answers, and GOAWAY names the last stream`() throws {
    let pair = try ConnectionPair(handler)
    var waiting: [StreamReference] = []
    handler.onRequest = { waiting.append($0.reference) }
    let stream = try pair.request()
    pair.connection.drain()
    try pair.wait(.seconds(1))
    #expect(pair.client.goAways.isEmpty)
    // A request that crosses the drain is served too.
    let late = try pair.request()
    for reference in waiting { reference.exchange?.respond(HeaderFields(status: 200), body: EmptyCollection()) }
    try pair.run()
    #expect(pair.statuses == [stream: "200", late: "200"])
    #expect(pair.client.goAways.map(\.last) == [late])
    try pair.wait(.milliseconds(100))
    #expect(!pair.channel.isActive)
  }

  @Test func `a drain waits three seconds for what is incomplete, and four more for what is not answered`() throws {
    let pair = try ConnectionPair(handler)
    handler.onRequest = { _ in }
    let complete = try pair.request()
    let incomplete = try pair.request(body: [1, 2], isEnding: false)
    pair.connection.drain()
    try pair.wait(.milliseconds(2999))
    #expect(pair.statuses.isEmpty && pair.client.goAways.isEmpty)
    try pair.wait(.milliseconds(1))
    #expect(pair.statuses == [incomplete: "503"])
    #expect(pair.client.goAways.count == 1)
    #expect(pair.client.closings[complete] == nil)
    try pair.wait(.milliseconds(3999))
    #expect(pair.channel.isActive)
    try pair.wait(.milliseconds(1))
    #expect(!pair.channel.isActive)
  }

  @Test func `an end for a cause answers what is incomplete at once, and says why`() throws {
    let pair = try ConnectionPair(handler)
    let incomplete = try pair.request(body: [1], isEnding: false)
    pair.connection.end(.idle)
    try pair.run()
    #expect(pair.statuses == [incomplete: "503"])
    #expect(pair.client.goAways.map { String(decoding: $0.debugData, as: UTF8.self) } == ["idle"])
    pair.connection.end(.badCertificate)
    pair.connection.drain()
    try pair.wait(.milliseconds(100))
    #expect(pair.client.goAways.count == 1)
    #expect(!pair.channel.isActive)
    #expect(pair.connection.failure == nil)
  }

  @Test func `the stream limit rises with the first acceptance and falls with a refusal`() throws {
    let pair = try ConnectionPair(handler, options: ConnectionOptions(initialStreams: 1))
    for _ in 0..<2 { pair.connection.allowAllStreams() }
    try pair.run()
    for _ in 0..<2 { pair.connection.allowFewStreams() }
    try pair.run()
    #expect(pair.announced(3) == [Limits.maximumConcurrentStreams, 1])
  }

  @Test func `what is no HTTP/2 ends the connection, with the failure`() throws {
    let pair = try ConnectionPair(handler)
    var failure: (any Error)?
    pair.connection.closed = { failure = $0 }
    try pair.channel.writeInbound(ByteBuffer(bytes: [UInt8](repeating: 0xFF, count: 64)))
    try pair.run()
    #expect(!pair.channel.isActive)
    #expect(failure is HTTP2Error || failure == nil)
    #expect(pair.context.connections.isEmpty)
  }
}
