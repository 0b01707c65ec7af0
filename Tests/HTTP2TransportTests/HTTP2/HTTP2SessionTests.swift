import PushTesting
import Testing

@testable import HTTP2Transport
@testable import PushCore

@Suite struct HTTP2SessionTests {
  /// A consumer that collects a body and counts the calls.
  final class Recorder: StreamConsumer {
    var bytes: [UInt8] = []
    var hasEnded = false
    var drainedCount = 0
    var closedCount = 0
    var onBytes: (([UInt8]) -> Void)?

    func received(_ bytes: UnsafeRawBufferPointer) {
      let piece = unsafe [UInt8](bytes)
      self.bytes += piece
      onBytes?(piece)
    }
    func receivedEnd() { hasEnded = true }
    func drained() { drainedCount += 1 }
    func drain() {}
    func closed() { closedCount += 1 }
  }

  static let noBody = [UInt8]()

  /// Answers every request with a status and a body.
  func answer(_ pair: SessionPair, _ status: Int = 200, _ body: [UInt8] = []) {
    pair.server.onMessage = { [unowned pair] stream in
      try pair.server.session.respond(HeaderFields(status: status), body: body, on: stream)
    }
  }

  @Test func `a request and its answer`() throws {
    let pair = try SessionPair()
    answer(pair, 400, Array(#"{"reason":"BadPath"}"#.utf8))
    _ = try pair.request([(.apnsTopic, SampleRequest.topic)], path: "/3/x", body: Array("{}".utf8))
    try pair.run()
    let request = try #require(pair.server.messages.first)
    #expect(request.fields[.method] == "POST")
    #expect(request.fields[.path] == "/3/x")
    #expect(request.fields[.apnsTopic] == SampleRequest.topic)
    #expect(request.body == Array("{}".utf8))
    let answer = try #require(pair.client.messages.first)
    #expect(answer.status == "400")
    #expect(answer.body == Array(#"{"reason":"BadPath"}"#.utf8))
    #expect(pair.client.closings == [1: 0])
    #expect(pair.server.closings == [1: 0])
    #expect(pair.client.session.openCount == 0)
    #expect(pair.server.session.openCount == 0)
  }

  @Test(arguments: [1, 3, 10, 100])
  func `bytes may be cut anywhere`(_ pieceSize: Int) throws {
    let pair = try SessionPair()
    answer(pair, 200, [UInt8](repeating: 9, count: 500))
    for _ in 0..<5 { _ = try pair.request([(.apnsID, SampleRequest.id)], body: [UInt8](repeating: 8, count: 400)) }
    try pair.run(pieceSize: pieceSize)
    #expect(pair.server.messages.map(\.body.count) == [400, 400, 400, 400, 400])
    #expect(pair.client.messages.map(\.body.count) == [500, 500, 500, 500, 500])
  }

  @Test func `an answer without a body is one HEADERS frame that ends the stream`() throws {
    let pair = try SessionPair()
    answer(pair)
    _ = try pair.request(body: [1])
    try pair.run()
    let frames = pair.serverFrames.filter { $0.stream == 1 && $0.kind != .windowUpdate }
    #expect(frames.map(\.kind) == [.headers])
    #expect(frames.last?.endsStream == true)
  }

  @Test(arguments: [1, 20, 1024, 16_384])
  func `a short body is one DATA frame that ends the stream`(_ size: Int) throws {
    let pair = try SessionPair()
    answer(pair, 403, [UInt8](repeating: 65, count: size))
    _ = try pair.request(body: [1])
    try pair.run()
    let frames = pair.serverFrames.filter { $0.stream == 1 && $0.kind != .windowUpdate }
    #expect(frames.map(\.kind) == [.headers, .data])
    #expect(frames.map(\.endsStream) == [false, true])
    #expect(frames.last?.payload.count == size)
  }

  @Test(arguments: [65_534, 65_535, 65_536, 300_000])
  func `bodies larger than the windows arrive whole`(_ size: Int) throws {
    let pair = try SessionPair()
    let body = (0..<size).map { UInt8(truncatingIfNeeded: $0 &* 31) }
    answer(pair, 200, body)
    _ = try pair.request(body: body)
    try pair.run()
    #expect(pair.server.messages.first?.body == body)
    #expect(pair.client.messages.first?.body == body)
  }

  @Test func `no empty DATA frame is sent`() throws {
    let pair = try SessionPair()
    answer(pair, 200, [UInt8](repeating: 65, count: 65_535))
    for _ in 0..<3 { _ = try pair.request(body: [1]) }
    try pair.run()
    #expect(pair.serverFrames.allSatisfy { $0.kind != .data || !$0.payload.isEmpty })
  }

  @Test func `what is past the kept size is counted, and its credit returned`() throws {
    let pair = try SessionPair()
    pair.server.maximumBodySize = 5121
    answer(pair, 413)
    _ = try pair.request(body: [UInt8](repeating: 1, count: 1_000_000))
    try pair.run()
    #expect(pair.server.messages.first?.body.count == 5121)
    #expect(pair.server.messages.first?.bodySize == 1_000_000)
    #expect(pair.client.messages.first?.status == "413")
  }

  @Test func `both sides stream at once`() throws {
    let pair = try SessionPair()
    let (up, down) = (Recorder(), Recorder())
    pair.server.onHead = { [unowned pair] stream in
      try pair.server.session.beginResponse(HeaderFields(status: 200), on: stream)
      stream.consumer = up
    }
    pair.client.onHead = { $0.consumer = down }
    let stream = try pair.request(body: [], isEnding: false)
    try pair.run()
    #expect(pair.client.heads == [1])
    for number in 0..<10 {
      pair.client.session.write("up \(number)\n".utf8, ending: false, on: stream)
      let other = try #require(pair.server.session.stream(1))
      pair.server.session.write("down \(number)\n".utf8, ending: false, on: other)
      try pair.run()
      #expect(String(decoding: up.bytes, as: UTF8.self).hasSuffix("up \(number)\n"))
      #expect(String(decoding: down.bytes, as: UTF8.self).hasSuffix("down \(number)\n"))
    }
    #expect(!up.hasEnded)
    pair.client.session.write(HTTP2SessionTests.noBody, ending: true, on: stream)
    try pair.run()
    #expect(up.hasEnded)
    #expect(!down.hasEnded)
    pair.server.session.write("bye\n".utf8, ending: true, on: try #require(pair.server.session.stream(1)))
    try pair.run()
    #expect(down.hasEnded)
    #expect(up.closedCount == 1)
    #expect(down.closedCount == 1)
    #expect(pair.server.session.openCount == 0)
  }

  @Test func `a consumer hears once that all it wrote is on its way`() throws {
    let pair = try SessionPair()
    let recorder = Recorder()
    pair.server.onHead = { [unowned pair] stream in
      try pair.server.session.beginResponse(HeaderFields(status: 200), on: stream)
      stream.consumer = recorder
    }
    pair.client.onHead = { $0.consumer = Recorder() }
    _ = try pair.request(body: [], isEnding: false)
    try pair.run()
    #expect(recorder.drainedCount == 0)
    let stream = try #require(pair.server.session.stream(1))
    pair.server.session.write([UInt8](repeating: 1, count: 200_000), ending: false, on: stream)
    #expect(stream.outboundSize == 200_000)
    try pair.run()
    #expect(stream.outboundSize == 0)
    #expect(recorder.drainedCount == 1)
    pair.server.session.write([1], ending: false, on: stream)
    try pair.run()
    #expect(recorder.drainedCount == 2)
  }

  @Test func `an answer may come later, and in another order than the requests`() throws {
    let pair = try SessionPair()
    for number in 1...3 { _ = try pair.request([(.apnsID, "\(number)")], body: [1]) }
    try pair.run()
    #expect(pair.client.messages.isEmpty)
    for id: Int32 in [5, 1, 3] {
      var fields = HeaderFields(status: 200)
      fields.append(.apnsID, "\(id)".utf8)
      try pair.server.session.respond(
        fields, body: HTTP2SessionTests.noBody, on: try #require(pair.server.session.stream(id)))
    }
    try pair.run()
    #expect(
      Dictionary(uniqueKeysWithValues: pair.client.messages.map { ($0.stream, $0.fields[.apnsID]) })
        == [1: "1", 3: "3", 5: "5"])
  }

  @Test func `bodies of several streams may come in turns`() throws {
    let pair = try SessionPair()
    let streams = try (0..<3).map { try pair.request([(.apnsID, "\($0)")], body: [], isEnding: false) }
    try pair.run()
    for round in 0..<3 {
      for (number, stream) in streams.enumerated() {
        pair.client.session.write([UInt8(number), UInt8(round)], ending: round == 2, on: stream)
        try pair.run()
      }
    }
    for message in pair.server.messages {
      let number = try #require(message.fields[.apnsID].flatMap(UInt8.init))
      #expect(message.body == [number, 0, number, 1, number, 2])
    }
    #expect(pair.server.messages.count == 3)
  }

  @Test func `a field whose value is new each time costs its name once`() throws {
    let pair = try SessionPair()
    var sizes: [Int] = []
    for number in 0..<3 {
      _ = try pair.request(body: [1])
      try pair.run()
      var fields = HeaderFields(status: 200)
      fields.append(.apnsUniqueID, "0000000\(number)".utf8, isUnindexed: true)
      try pair.server.session.respond(
        fields, body: HTTP2SessionTests.noBody, on: try #require(pair.server.session.openStreams.first))
      let known = pair.serverFrames.count
      try pair.run()
      sizes += pair.serverFrames[known...].filter { $0.kind == .headers }.map(\.payload.count)
    }
    #expect(pair.client.messages.map { $0.fields[.apnsUniqueID] } == ["00000000", "00000001", "00000002"])
    // An indexed field takes one byte. A value that is not indexed is sent each time.
    #expect(sizes[1] == sizes[2])
    #expect(sizes[1] <= sizes[0] - 8)
    #expect(sizes[1] > 5)
  }

  @Test func `a reset stream is announced with its code on both sides, and the connection goes on`() throws {
    let pair = try SessionPair()
    let recorder = Recorder()
    pair.server.onHead = { $0.consumer = recorder }
    _ = try pair.request(body: [], isEnding: false)
    try pair.run()
    pair.server.session.reset(try #require(pair.server.session.stream(1)), .enhanceYourCalm)
    try pair.run()
    #expect(pair.client.closings == [1: 0xB])
    #expect(pair.server.closings == [1: 0xB])
    #expect(recorder.closedCount == 1)
    #expect(!recorder.hasEnded)
    pair.server.onHead = { _ in }
    answer(pair)
    _ = try pair.request()
    try pair.run()
    #expect(pair.client.messages.first?.status == "200")
  }

  @Test func `GOAWAY carries its reason, and open streams are answered`() throws {
    let pair = try SessionPair()
    _ = try pair.request(body: [1])
    try pair.run()
    pair.server.session.goAway(debugData: Array(#"{"reason":"Shutdown"}"#.utf8))
    try pair.run()
    #expect(pair.client.goAways.map(\.last) == [1])
    #expect(pair.client.goAways.first?.debugData == Array(#"{"reason":"Shutdown"}"#.utf8))
    #expect(!pair.server.session.isFinished)
    try pair.server.session.respond(
      HeaderFields(status: 200), body: HTTP2SessionTests.noBody, on: try #require(pair.server.session.stream(1)))
    try pair.run()
    #expect(pair.client.messages.first?.status == "200")
    #expect(pair.server.session.isFinished)
  }

  @Test func `a request after GOAWAY ends instead of waiting for ever`() throws {
    let pair = try SessionPair()
    pair.server.session.goAway(debugData: [])
    try pair.run()
    let stream = try? pair.request(body: [1])
    try pair.run()
    #expect(stream == nil || pair.client.closings.count == 1)
    #expect(pair.client.session.openCount == 0)
    #expect(pair.server.messages.isEmpty)
  }

  @Test func `a PING is answered`() throws {
    let pair = try SessionPair()
    pair.server.session.ping()
    pair.client.session.ping()
    pair.client.session.ping()
    try pair.run()
    #expect(pair.server.pongs == 1)
    #expect(pair.client.pongs == 2)
  }

  @Test func `a server may announce few streams at first, and more before an answer`() throws {
    let server = try SessionEnd(.server, pool: StreamPool(), maximumStreams: 1)
    let pair = try SessionPair(client: SessionEnd(.client, pool: StreamPool()), server: server)
    func limits() -> [UInt32] {
      pair.serverFrames.filter { $0.kind == .settings && $0.flags == 0 }.flatMap { frame in
        stride(from: 0, to: frame.payload.count, by: 6).filter { frame.payload[$0 + 1] == 3 }.map { place in
          frame.payload[place + 2..<place + 6].reduce(0) { $0 << 8 | UInt32($1) }
        }
      }
    }
    #expect(limits() == [1])
    server.onMessage = { stream in
      server.session.announce(maximumStreams: 1000)
      try server.session.respond(HeaderFields(status: 200), body: [], on: stream)
    }
    _ = try pair.request()
    try pair.run()
    #expect(limits() == [1, 1000])
    #expect(pair.serverFrames.last { $0.kind == .settings || $0.kind == .headers }?.kind == .headers)
  }

  @Test func `the server announces its limits`() throws {
    let client = try SessionEnd(.client, pool: StreamPool())
    let server = try HTTP2Session(role: .server, pool: StreamPool())
    var bytes: [UInt8] = []
    while try server.send(into: &bytes, limit: 100_000) {}
    var scanner = FrameScanner(of: .server)
    let settings = try #require(scanner.frames(in: bytes).first)
    #expect(settings.kind == .settings)
    let pairs = stride(from: 0, to: settings.payload.count, by: 6).map { place in
      [settings.payload[place..<place + 2], settings.payload[place + 2..<place + 6]].map { digits in
        digits.reduce(0) { $0 << 8 | Int($1) }
      }
    }
    #expect(pairs == [[1, 4096], [3, 1000], [5, 16_384], [6, 8000]])
    try unsafe bytes.withUnsafeBytes { try unsafe client.session.receive($0) }
    #expect(client.settingsCount == 1)
  }

  /// The size of the fields of each request apart from those of the test: `:method`, `:scheme`, `:authority`, `:path`,
  /// each with an overhead of 32 bytes.
  static let ownFieldsSize = (7 + 4) + (7 + 5) + (10 + 9) + (5 + 1) + 4 * 32

  @Test(arguments: [HeaderName.authorization, .accept], [0, 1])
  func `too many fields end their stream alone, whether or not they are read`(_ name: HeaderName, _ excess: Int) throws
  {
    let pair = try SessionPair()
    answer(pair)
    let size = Limits.maximumHeaderListSize - HTTP2SessionTests.ownFieldsSize - name.wireName.utf8CodeUnitCount - 32
    _ = try pair.request([(name, String(repeating: "a", count: size + excess))], body: [1])
    try pair.run()
    #expect(pair.client.messages.count == 1 - excess)
    #expect(pair.client.closings == [1: excess == 0 ? 0 : HTTP2ErrorCode.enhanceYourCalm.rawValue])
    #expect(pair.server.exceeded == (excess == 0 ? [] : [.headerList]))
    #expect(pair.client.session.openCount == 0)
    #expect(pair.server.session.openCount == 0)
    _ = try pair.request(body: [1])
    try pair.run()
    #expect(pair.client.messages.last?.status == "200")
  }

  /// After the first occurrence, 15 bytes on the wire, each of which decodes to a field of 3,500 bytes (RFC 7541 §7.3).
  @Test func `fields that nobody reads count each time they come`() throws {
    let pair = try SessionPair()
    answer(pair)
    let fields = [(HeaderName, String)](repeating: (.accept, String(repeating: "a", count: 3500)), count: 15)
    _ = try pair.request(fields, body: [1])
    try pair.run()
    #expect(pair.server.heads.isEmpty)
    #expect(pair.client.closings == [1: HTTP2ErrorCode.enhanceYourCalm.rawValue])
    #expect(pair.server.exceeded == [.headerList])
    _ = try pair.request(body: [1])
    try pair.run()
    #expect(pair.client.messages.last?.status == "200")
  }

  @Test func `a server may answer where too many fields came, and does not hear the rest`() throws {
    let pair = try SessionPair()
    pair.server.answersExcessFields = true
    answer(pair, 431)
    let fields = [(HeaderName, String)](repeating: (.accept, String(repeating: "a", count: 3500)), count: 10)
    _ = try pair.request(fields + [(.apnsTopic, SampleRequest.topic)], path: "/v1/x", body: [1])
    try pair.run()
    #expect(pair.server.messages.map(\.fields[.path]) == ["/v1/x"])
    #expect(pair.server.messages.map(\.fields[.apnsTopic]) == [nil])
    #expect(pair.client.messages.map(\.status) == ["431"])
    #expect(pair.server.exceeded == [.headerList])
  }

  @Test func `a header list of more than four times the limit ends the connection, also where a server would answer`()
    throws
  {
    let pair = try SessionPair()
    pair.server.answersExcessFields = true
    answer(pair, 431)
    // 39 bytes for each field, and one byte on the wire.
    let fields = [(HeaderName, String)](repeating: (.accept, "a"), count: Limits.maximumDroppedHeaderListSize / 39 + 1)
    _ = try pair.request(fields, path: "/v1/x", body: [1])
    _ = try pair.request(path: "/v1/y", body: [1])
    try pair.run()
    #expect(pair.server.messages.isEmpty)
    #expect(pair.client.messages.isEmpty)
    #expect(pair.client.goAways.count == 1)
    #expect(pair.server.exceeded == [.headerList])
  }

  @Test func `what is kept of incomplete messages is bounded, and given back when they end`() throws {
    let pair = try SessionPair()
    pair.server.session.maximumIncompleteSize = 10_000
    let streams = try (0..<3).map { _ in try pair.request(body: [UInt8](repeating: 1, count: 3000), isEnding: false) }
    try pair.run()
    let kept = pair.server.session.incompleteSize
    #expect((9000...10_000).contains(kept))
    #expect(pair.server.session.brokenInvariant() == nil)
    pair.client.session.write([2], ending: true, on: streams[0])
    pair.client.session.reset(streams[1], .cancel)
    try pair.run()
    #expect(pair.server.session.incompleteSize == kept / 3)
    #expect(pair.server.exceeded.isEmpty)
    _ = try pair.request(body: [UInt8](repeating: 1, count: 7000), isEnding: false)
    try pair.run()
    #expect(pair.server.exceeded == [.incompleteRequests])
    #expect(pair.client.closings[7] == HTTP2ErrorCode.enhanceYourCalm.rawValue)
    #expect(pair.server.session.incompleteSize == kept / 3)
  }

  @Test func `a full loop refuses streams of sessions that keep much, and no others`() throws {
    let pool = StreamPool(maximumKeptSize: 100_000)
    let greedy = try SessionPair(serverPool: pool)
    greedy.server.session.keptShare = 20_000
    let body = [UInt8](repeating: 1, count: 9000)
    for _ in 0..<20 {
      _ = try greedy.request(body: body, isEnding: false)
      try greedy.run()
    }
    #expect(greedy.server.session.openCount == 9)
    #expect(greedy.server.exceeded == [TransportLimit](repeating: .keptSize, count: 11))
    #expect(Set(greedy.client.closings.values) == [HTTP2ErrorCode.refusedStream.rawValue])
    #expect(pool.keptSize == greedy.server.session.keptSize)

    let modest = try SessionPair(serverPool: pool)
    modest.server.session.keptShare = 20_000
    answer(modest)
    let push = try modest.request(body: body, isEnding: false)
    try modest.run()
    #expect(pool.isFull)
    _ = try greedy.request()
    try greedy.run()
    #expect(greedy.server.messages.isEmpty)
    #expect(greedy.server.exceeded.count == 12)
    modest.client.session.write([2], ending: true, on: push)
    try modest.run()
    #expect(modest.client.messages.map(\.status) == ["200"])
    #expect(modest.server.exceeded.isEmpty)
    #expect(greedy.server.session.brokenInvariant() == nil)
    greedy.server.session.abandon()
    #expect(pool.keptSize == 0)
  }

  @Test func `bytes that the peer does not take count until they are sent or dropped`() throws {
    let pool = StreamPool()
    let pair = try SessionPair(serverPool: pool)
    answer(pair, 200, [UInt8](repeating: 9, count: 200_000))
    _ = try pair.request()
    let bytes = try pair.bytes(of: pair.client)
    try unsafe bytes.withUnsafeBytes { try unsafe pair.server.session.receive($0) }
    #expect(pool.keptSize == Limits.streamSize + 200_000)
    _ = try pair.bytes(of: pair.server)
    #expect(pool.keptSize == Limits.streamSize + 200_000 - 65_535)
    pair.server.session.abandon()
    #expect(pool.keptSize == 0)
  }

  @Test(arguments: [("100-continue", true), ("100-Continue", true), ("100-continued", false), ("200-continue", false)])
  func `who asks whether the body may come is told so once, and nobody else`(_ value: String, _ isAsked: Bool) throws {
    let pair = try SessionPair()
    answer(pair)
    let stream = try pair.request([(.expect, value)], body: [1], isEnding: false)
    try pair.run()
    let heads = { pair.serverFrames.filter { $0.kind == .headers && $0.stream == 1 } }
    #expect(heads().count == (isAsked ? 1 : 0))
    #expect(heads().allSatisfy { !$0.endsStream })
    pair.client.session.write([2], ending: true, on: stream)
    try pair.run()
    #expect(pair.server.messages.map(\.body) == [[1, 2]])
    #expect(heads().count == (isAsked ? 2 : 1))
    #expect(heads().last?.endsStream == true)
  }

  @Test func `who expects a 100 and sends nothing more gets the answer alone`() throws {
    let pair = try SessionPair()
    answer(pair)
    _ = try pair.request([(.expect, "100-continue")])
    try pair.run()
    #expect(pair.serverFrames.filter { $0.kind == .headers }.count == 1)
    #expect(pair.client.messages.first?.status == "200")
  }

  @Test func `SETTINGS that are not acknowledged are known after their time`() throws {
    let server = try HTTP2Session(role: .server, pool: StreamPool())
    #expect((0..<3).map { _ in server.tick() } == [true, true, false])
    let pair = try SessionPair()
    #expect((0..<10).allSatisfy { _ in pair.server.session.tick() })
  }

  @Test func `a thousand streams may be open at once, and one more waits`() throws {
    let pair = try SessionPair()
    for number in 0..<1001 { _ = try pair.request([(.apnsID, "\(number)")], body: [1]) }
    try pair.run()
    #expect(pair.server.session.openCount == 1000)
    #expect(pair.server.messages.count == 1000)
    for stream in pair.server.session.openStreams {
      try pair.server.session.respond(HeaderFields(status: 200), body: HTTP2SessionTests.noBody, on: stream)
    }
    answer(pair)
    try pair.run()
    #expect(pair.client.messages.count == 1001)
    #expect(pair.client.messages.allSatisfy { $0.status == "200" })
    #expect(Set(pair.server.messages.map { $0.fields[.apnsID] }).count == 1001)
    #expect(pair.server.session.openCount == 0)
  }

  @Test func `a stream that is used again shows nothing of the one before, also on another connection`() throws {
    let pool = StreamPool()
    let first = try SessionPair(serverPool: pool)
    first.server.maximumBodySize = 100_000
    first.server.onHead = { [unowned first] stream in
      try first.server.session.beginResponse(HeaderFields(status: 200), on: stream)
      first.server.session.write([UInt8](repeating: 66, count: 10), ending: false, on: stream)
    }
    let secret = [UInt8](repeating: 65, count: 5000)
    _ = try first.request([(.authorization, "bearer secret"), (.apnsID, "1")], body: secret, isEnding: false)
    try first.run()
    // The stream ends before its last few bytes are sent.
    first.server.session.write(secret, ending: false, on: try #require(first.server.session.stream(1)))
    first.server.session.reset(try #require(first.server.session.stream(1)), .cancel)
    try first.run()
    #expect(first.server.session.openCount == 0)

    let second = try SessionPair(serverPool: pool)
    answer(second)
    _ = try second.request(path: "/second")
    try second.run()
    let request = try #require(second.server.messages.first)
    #expect(request.fields == [.method: "GET", .authority: "localhost", .path: "/second"])
    #expect(request.body.isEmpty)
    #expect(request.bodySize == 0)
    #expect(second.client.messages.first?.body.isEmpty == true)
    #expect(second.serverFrames.allSatisfy { $0.kind != .data })
  }

  @Test func `an abandoned connection announces every open stream, once`() throws {
    let pair = try SessionPair()
    let recorders = (0..<5).map { _ in Recorder() }
    pair.server.onHead = { $0.consumer = recorders[Int($0.id) / 2] }
    for _ in 0..<5 { _ = try pair.request(body: [1], isEnding: false) }
    try pair.run()
    #expect(pair.server.session.openCount == 5)
    pair.server.session.abandon()
    #expect(pair.server.session.openCount == 0)
    #expect(pair.server.closings == [1: 8, 3: 8, 5: 8, 7: 8, 9: 8])
    #expect(recorders.allSatisfy { $0.closedCount == 1 })
    pair.server.session.abandon()
    #expect(recorders.allSatisfy { $0.closedCount == 1 })
  }

  @Test func `an abandoned stream is not found any longer, for its storage may serve another connection`() throws {
    let pool = StreamPool()
    let pair = try SessionPair(serverPool: pool)
    _ = try pair.request(body: [1])
    try pair.run()
    #expect(pair.server.session.stream(1) != nil)
    pair.server.session.abandon()
    #expect(pair.server.session.stream(1) == nil)
  }

  @Test(arguments: ["GET / HTTP/1.1\r\nHost: localhost\r\n\r\n", "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n0123456789012345678"])
  func `a peer that speaks no HTTP/2 fails the connection`(_ text: String) throws {
    let server = try HTTP2Session(role: .server, pool: StreamPool())
    var isRefused = false
    do {
      try unsafe Array(text.utf8).withUnsafeBytes { try unsafe server.receive($0) }
      var output: [UInt8] = []
      while try server.send(into: &output, limit: 10_000) {}
      isRefused = server.isFinished
    } catch {
      isRefused = true
      #expect("\(error)".hasPrefix("HTTP/2: "))
    }
    #expect(isRefused)
  }
}
