import NIOCore
import NIOEmbedded
import PushTesting
import Testing

@testable import HTTP2Transport
@testable import PushCore

/// A connection without a socket performs the actions of ``ConnectionState``.
@Suite struct ConnectionTests {
  let handler = StubHandler()

  /// Returns the number of GOAWAY frames after `checks` idle checks. The interval of the checks is half the idle
  /// timeout.
  private func goAways(
    of limit: Duration?, after checks: Int, before each: (ConnectionPair) throws -> Void = { _ in }
  ) throws -> Int {
    let pair = try ConnectionPair(handler, options: ConnectionOptions(idleTimeout: limit))
    for _ in 0..<checks {
      try each(pair)
      pair.connection.checkIdle(every: .seconds(30))
      try pair.run()
    }
    return pair.client.goAways.count
  }

  @Test func `a connection ends when nothing came within the idle timeout, and never without one`() throws {
    // The first check finds the client's SETTINGS.
    #expect(try goAways(of: .seconds(60), after: 2) == 0)
    #expect(try goAways(of: .seconds(60), after: 3) == 1)
    #expect(try goAways(of: nil, after: 1_000) == 0)
  }

  @Test func `a connection that sends or waits for an answer is not idle`() throws {
    let pings = try goAways(of: .seconds(60), after: 100) { pair in
      pair.client.session.ping()
      try pair.run()
    }
    #expect(pings == 0)
    let requests = try goAways(of: .seconds(60), after: 100) { try $0.request() }
    #expect(requests == 0)
    handler.onRequest = { _ in }
    var hasAsked = false
    let waiting = try goAways(of: .seconds(60), after: 100) { pair in
      if !hasAsked { try pair.request() }
      hasAsked = true
    }
    #expect(waiting == 0)
  }

  @Test func `a drain of a silent connection says GOAWAY, and hangs up a little later`() throws {
    let pair = try ConnectionPair(handler)
    pair.connection.drain()
    try pair.wait(.milliseconds(49))
    #expect(pair.client.goAways.isEmpty)
    try pair.wait(.milliseconds(1))
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
    // A request that arrives after the drain began is served too.
    let late = try pair.request()
    for reference in waiting { reference.exchange?.respond(HeaderFields(status: 200), body: EmptyCollection()) }
    try pair.run()
    #expect(pair.statuses == [stream: "200", late: "200"])
    // The client reads the answers before GOAWAY, because clients drop unread answers at GOAWAY. Until then the
    // connection reads nothing more.
    #expect(pair.connection.isPaused)
    try pair.wait(.milliseconds(49))
    #expect(pair.client.goAways.isEmpty)
    try pair.wait(.milliseconds(1))
    #expect(pair.client.goAways.map(\.last) == [late])
    #expect(!pair.connection.isPaused)
    try pair.wait(.milliseconds(100))
    #expect(!pair.channel.isActive)
  }

  @Test func `GOAWAY follows when the peer has read its answers, after three seconds at the latest`() throws {
    for answersPing in [true, false] {
      let pair = try ConnectionPair(handler)
      try pair.request()
      pair.isMute = true
      pair.connection.drain()
      try pair.wait(.milliseconds(2999))
      #expect(pair.client.goAways.isEmpty && !pair.connection.isPaused)
      if answersPing {
        pair.isMute = false
        // It was not read before, so it is served.
        let next = try pair.request()
        #expect(pair.statuses[next] == "200")
      } else {
        try pair.wait(.milliseconds(1))
      }
      #expect(pair.client.goAways.isEmpty && pair.connection.isPaused)
      try pair.wait(.milliseconds(50))
      #expect(pair.client.goAways.count == 1)
    }
  }

  @Test func `a peer without a request for ten seconds has read its answers`() throws {
    let pair = try ConnectionPair(handler)
    try pair.request()
    pair.isMute = true
    try pair.wait(.seconds(Int64(2 * Limits.tick)))
    pair.connection.drain()
    try pair.wait(.milliseconds(50))
    #expect(pair.client.goAways.count == 1)
  }

  /// The stream of a device, which ends itself when the process stops.
  private final class Endless: StreamConsumer {
    let isEndless = true
    let stream: StreamReference

    init(_ stream: StreamReference) { self.stream = stream }

    func drain() { stream.exchange?.respond(HeaderFields(status: 200), body: EmptyCollection()) }
  }

  @Test func `a device that does not read the end of its stream does not delay GOAWAY`() throws {
    let pair = try ConnectionPair(handler)
    handler.onHead = { $0.stream.consumer = Endless($0.reference) }
    let stream = try pair.request()
    pair.isMute = true
    try pair.wait(.seconds(Int64(2 * Limits.tick)))
    pair.connection.drain()
    try pair.run()
    #expect(pair.statuses == [stream: "200"] && pair.client.goAways.isEmpty)
    try pair.wait(.milliseconds(50))
    #expect(pair.client.goAways.count == 1)
  }

  @Test func `GOAWAY excludes the new requests of a sender that never pauses, which reads its answers before`() throws {
    let pair = try ConnectionPair(handler)
    var waiting: [StreamReference] = []
    handler.onRequest = { waiting.append($0.reference) }
    let accepted = try pair.request()
    pair.connection.drain()
    try pair.wait(.seconds(3))
    #expect(pair.connection.isPaused && pair.statuses.isEmpty)
    pair.isMute = true
    for reference in waiting { reference.exchange?.respond(HeaderFields(status: 200), body: EmptyCollection()) }
    try pair.run()
    #expect(pair.statuses == [accepted: "200"] && !pair.connection.isPaused)
    pair.isMute = false
    let late = try pair.request(body: [1, 2])
    #expect(pair.statuses == [accepted: "200"] && handler.heads == [accepted] && waiting.count == 1)
    #expect(pair.client.goAways.isEmpty && pair.connection.isPaused)
    try pair.wait(.milliseconds(50))
    #expect(pair.client.goAways.map(\.last) == [accepted] && pair.client.closings[late] == 7)
    try pair.wait(.milliseconds(100))
    #expect(!pair.channel.isActive && pair.connection.failure == nil)
  }

  @Test func `no frame follows the GOAWAY of a connection with all requests answered`() throws {
    let pair = try ConnectionPair(handler)
    pair.connection.drain()
    try pair.wait(.milliseconds(50))
    #expect(pair.client.goAways.count == 1)
    let sent = pair.connection.loop.meter.sent.total
    pair.client.session.ping()
    try pair.run()
    #expect(pair.connection.loop.meter.sent.total == sent)
    try pair.wait(.milliseconds(100))
    #expect(!pair.channel.isActive && pair.connection.failure == nil)
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
    #expect(pair.client.goAways.isEmpty && pair.connection.isPaused)
    try pair.wait(.milliseconds(2999))
    #expect(pair.client.goAways.isEmpty)
    try pair.wait(.milliseconds(1))
    #expect(pair.client.goAways.count == 1)
    #expect(pair.client.closings[complete] == nil)
    try pair.wait(.milliseconds(999))
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

  @Test func `the stream limit rises with the first acceptance, once`() throws {
    let pair = try ConnectionPair(handler, options: ConnectionOptions(initialStreams: 1))
    for _ in 0..<2 { pair.connection.allowAllStreams() }
    try pair.run()
    #expect(pair.announced(3) == [Limits.maximumConcurrentStreams])
  }

  // MARK: Limits

  static let calm = HTTP2ErrorCode.enhanceYourCalm.rawValue
  static let manyFields = [(HeaderName, String)](
    repeating: (.accept, String(repeating: "a", count: 3500)), count: 15)

  @Test func `too many fields end the stream once, and the second time the connection`() throws {
    let pair = try ConnectionPair(handler)
    try pair.request("/3/device/ab", ConnectionTests.manyFields)
    #expect(pair.resetCodes == [ConnectionTests.calm] && pair.goAwayCodes.isEmpty)
    let other = try pair.request()
    #expect(pair.statuses == [other: "200"])
    try pair.request("/3/device/ab", ConnectionTests.manyFields)
    #expect(pair.goAwayCodes == [ConnectionTests.calm])
    #expect(handler.limits == [.headerList, .headerList])
    #expect(handler.heads == [other])
    try pair.wait(.milliseconds(100))
    #expect(!pair.channel.isActive)
  }

  @Test(arguments: [(false, Limits.maximumUnauthenticatedSize), (true, Limits.maximumIncompleteSize)])
  func `incomplete bodies are bounded together, by what the peer has shown`(_ isKnown: Bool, _ bound: Int) throws {
    let pair = try ConnectionPair(handler)
    handler.maximumBodySize = .max
    if isKnown { pair.connection.authenticated(as: .provider) }
    let body = [UInt8](repeating: 1, count: 60_000)
    for _ in 0..<bound / 60_000 {
      try pair.request(body: body, isEnding: false)
      #expect(pair.connection.session.incompleteSize <= bound)
    }
    #expect(handler.limits.isEmpty)
    while handler.limits.count < 2 { try pair.request(body: body, isEnding: false) }
    #expect(handler.limits == [.incompleteRequests, .incompleteRequests])
    #expect(pair.resetCodes.first == ConnectionTests.calm)
    #expect(pair.goAwayCodes == [ConnectionTests.calm])
    #expect(pair.connection.session.incompleteSize <= bound)
  }

  @Test func `a request that takes too long is answered, and its stream ends`() throws {
    let pair = try ConnectionPair(handler)
    let slow = try pair.request(body: [1], isEnding: false)
    try pair.wait(.seconds(30))
    #expect(pair.statuses.isEmpty)
    try pair.wait(.seconds(5))
    #expect(pair.frames.contains { $0.kind == .headers && $0.stream == slow })
    #expect(handler.limits == [.requestTime])
    try pair.wait(.seconds(5))
    #expect(pair.client.closings[slow] == HTTP2ErrorCode.noError.rawValue)
    #expect(pair.connection.session.openCount == 0)
    #expect(pair.goAwayCodes.isEmpty)
  }

  @Test func `a head that takes too long ends the connection`() throws {
    let pair = try ConnectionPair(handler)
    try pair.write(Frame(kind: .headers, flags: 0, stream: 1, payload: [0x82]).bytes)
    try pair.wait(.seconds(30))
    #expect(pair.goAwayCodes.isEmpty)
    try pair.wait(.seconds(5))
    #expect(pair.goAwayCodes == [ConnectionTests.calm])
  }

  @Test func `a peer that has asked for nothing is kept for hours from its last frame on, one that is known for ever`()
    throws
  {
    let hours = TimeAmount.seconds(Int64(Limits.firstRequestTime))
    for isKnown in [false, true] {
      let pair = try ConnectionPair(handler)
      if isKnown { pair.connection.authenticated(as: .provider) }
      try pair.wait(hours - .seconds(5))
      #expect(pair.goAwayCodes.isEmpty)
      pair.client.session.ping()
      try pair.run()
      try pair.wait(hours - .seconds(5))
      #expect(pair.goAwayCodes.isEmpty)
      try pair.wait(.seconds(10))
      #expect(pair.client.goAways.map { String(decoding: $0.debugData, as: UTF8.self) } == (isKnown ? [] : ["idle"]))
      #expect(pair.goAwayCodes == (isKnown ? [] : [0]))
    }
    let pair = try ConnectionPair(handler)
    try pair.request()
    try pair.wait(hours + hours)
    #expect(pair.goAwayCodes.isEmpty)
  }

  @Test func `SETTINGS have to be acknowledged in time`() throws {
    let pair = try ConnectionPair(handler, isMute: true)
    try pair.write(Frame.preface + Frame.request(1).bytes)
    try pair.wait(.seconds(10))
    #expect(pair.goAwayCodes.isEmpty)
    try pair.wait(.seconds(5))
    #expect(pair.goAwayCodes == [HTTP2ErrorCode.settingsTimeout.rawValue])
    #expect(handler.limits == [.settingsTime])
  }

  /// An overflowing flow-control window makes the server reset a stream whose request is running (CVE-2025-8671).
  @Test func `who makes the gateway reset its streams is sent away`() throws {
    let pair = try ConnectionPair(handler)
    handler.onRequest = { _ in }
    var count = 0
    while pair.goAwayCodes.isEmpty, count < 1000 {
      let stream = try pair.request()
      let overflow = Frame(kind: .windowUpdate, flags: 0, stream: stream, payload: [0x7F, 0xFF, 0xFF, 0xFF])
      try pair.write(overflow.bytes)
      try pair.run()
      count += 1
    }
    #expect(count == Limits.maximumResets + 1)
    #expect(pair.goAwayCodes == [ConnectionTests.calm])
    #expect(handler.limits == [.resets])
  }

  /// Rapid reset (CVE-2023-44487) by an unauthenticated client.
  @Test func `a stranger resets so many streams, and a known peer more`() throws {
    for isKnown in [false, true] {
      let pair = try ConnectionPair(handler)
      handler.onRequest = { exchange in if isKnown { exchange.connection.authenticated(as: .provider) } }
      var count = 0
      while pair.goAwayCodes.isEmpty, count < 2 * Limits.maximumUnauthenticatedResets {
        let stream = try pair.request()
        try pair.write(Frame(kind: .resetStream, flags: 0, stream: stream, payload: [0, 0, 0, 8]).bytes)
        try pair.run()
        count += 1
      }
      #expect(count == (isKnown ? 2 : 1) * Limits.maximumUnauthenticatedResets + (isKnown ? 0 : 1))
      #expect(pair.goAwayCodes == (isKnown ? [] : [ConnectionTests.calm]))
    }
    #expect(handler.limits == [.resets])
  }

  @Test func `resets are forgiven as time passes`() throws {
    let pair = try ConnectionPair(handler)
    handler.onRequest = { _ in }
    for _ in 0..<10 {
      for _ in 0..<Limits.resetsPerSecond * Limits.tick {
        let stream = try pair.request()
        try pair.write(Frame(kind: .windowUpdate, flags: 0, stream: stream, payload: [0x7F, 0xFF, 0xFF, 0xFF]).bytes)
        try pair.run()
      }
      try pair.wait(.seconds(5))
    }
    #expect(pair.goAwayCodes.isEmpty && handler.limits.isEmpty)
  }

  @Test func `streams refused before SETTINGS are known are many, and not without end`() throws {
    let pair = try ConnectionPair(handler, options: ConnectionOptions(initialStreams: 1), isMute: true)
    handler.onRequest = { _ in }
    try pair.write(Frame.preface + Frame.request(1).bytes)
    for number in 1...Limits.maximumRefusedStreams {
      try pair.write(Frame.request(Int32(2 * number + 1)).bytes)
      try pair.run()
    }
    #expect(pair.resetCodes.count == Limits.maximumRefusedStreams && pair.goAwayCodes.isEmpty)
    try pair.write(Frame.request(Int32(2 * Limits.maximumRefusedStreams + 3)).bytes)
    try pair.run()
    #expect(pair.goAwayCodes == [ConnectionTests.calm])
    #expect(handler.limits == [.refusedStreams])
  }

  @Test func `who does not read is not read, and is given up`() throws {
    let pair = try ConnectionPair(handler, isMute: true)
    try pair.write(Frame.preface + Frame(kind: .settings, flags: 1, stream: 0, payload: []).bytes)
    pair.channel.isWritable = false
    var number: Int32 = 1
    func ask(_ count: Int) throws {
      for _ in 0..<count {
        try pair.write(Frame.request(number).bytes)
        number += 2
      }
      try pair.run()
    }
    try ask(Limits.maximumConcurrentStreams)
    #expect(!pair.connection.isPaused)
    let pings = Limits.maximumWaitingFrames + 1 - Limits.maximumConcurrentStreams
    for _ in 0..<pings {
      try pair.write(Frame(kind: .ping, flags: 0, stream: 0, payload: [UInt8](repeating: 0, count: 8)).bytes)
    }
    #expect(pair.connection.isPaused)
    pair.channel.isWritable = true
    pair.channel.pipeline.fireChannelWritabilityChanged()
    try pair.run()
    #expect(!pair.connection.isPaused && handler.limits == [.waitingFrames])
    #expect(pair.frames.count { $0.kind == .headers } == Limits.maximumConcurrentStreams)

    pair.channel.isWritable = false
    try ask(Limits.maximumConcurrentStreams)
    for _ in 0..<pings {
      try pair.write(Frame(kind: .ping, flags: 0, stream: 0, payload: [UInt8](repeating: 0, count: 8)).bytes)
    }
    #expect(pair.connection.isPaused)
    try pair.wait(.seconds(25))
    #expect(pair.channel.isActive)
    try pair.wait(.seconds(5))
    #expect(!pair.channel.isActive)
    #expect(handler.limits.last == .unreadTime)
  }

  // MARK: Closed streams (RFC 9113 §5.1)

  static let streamClosed = HTTP2ErrorCode.streamClosed.rawValue
  static let protocolError = HTTP2ErrorCode.protocolError.rawValue

  /// The cases: a frame on stream 1, which was answered or which the peer reset, and then a frame on stream 3, which is
  /// idle.
  @Test(
    arguments: [
      (.request(1), streamClosed),
      (.request(3), protocolError),
      (Frame(kind: .windowUpdate, flags: 0, stream: 1, payload: [0, 0, 0, 1]), nil),
      (Frame(kind: .priority, flags: 0, stream: 1, payload: [0, 0, 0, 0, 1]), nil),
      (Frame(kind: .resetStream, flags: 0, stream: 1, payload: [0, 0, 0, 8]), nil),
      (Frame(kind: .data, flags: 1, stream: 3, payload: [1]), nil),
    ] as [(Frame, UInt32?)], [false, true])
  func `what may not come on a stream that is over ends the connection`(
    _ what: (frame: Frame, code: UInt32?), _ isReset: Bool
  ) throws {
    let pair = try ConnectionPair(handler, isMute: true)
    try pair.write(Frame.preface)
    if isReset {
      handler.onRequest = { _ in }
      try pair.write(
        Frame.request(1).bytes + Frame(kind: .resetStream, flags: 0, stream: 1, payload: [0, 0, 0, 8]).bytes)
    } else {
      try pair.write(Frame.request(1).bytes)
    }
    try pair.write(Frame.request(5).bytes)
    try pair.run()
    #expect(pair.goAwayCodes.isEmpty && pair.connection.session.openCount == (isReset ? 1 : 0))
    try pair.write(what.frame.bytes)
    try pair.run()
    #expect(pair.goAwayCodes == (what.code.map { [$0] } ?? []))
  }

  @Test func `what was under way to a stream that the gateway reset is dropped`() throws {
    let pair = try ConnectionPair(handler)
    let stream = try pair.request(body: [1], isEnding: false)
    try pair.request()
    pair.connection.session.reset(try #require(pair.connection.session.stream(stream)), .cancel)
    pair.connection.setNeedsFlush()
    pair.loop.run()
    try pair.write(Frame(kind: .data, flags: 1, stream: stream, payload: [1]).bytes)
    try pair.run()
    #expect(pair.goAwayCodes.isEmpty && pair.resetCodes == [HTTP2ErrorCode.cancel.rawValue])
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
