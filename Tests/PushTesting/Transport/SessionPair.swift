package import HTTP2Transport
import PushCore

/// A frame of the connection (RFC 9113 §4.1).
package struct Frame: Equatable {
  package enum Kind: UInt8 {
    case data, headers, priority, resetStream, settings, pushPromise, ping, goAway, windowUpdate, continuation
  }

  package var kind: Kind
  package var flags: UInt8
  package var stream: Int32
  package var payload: [UInt8]

  package init(kind: Kind, flags: UInt8, stream: Int32, payload: [UInt8]) {
    (self.kind, self.flags, self.stream, self.payload) = (kind, flags, stream, payload)
  }

  /// True if a DATA or HEADERS frame ends its stream.
  package var endsStream: Bool { (kind == .data || kind == .headers) && flags & 1 != 0 }
}

extension Frame {
  /// Returns four bytes of the payload as a number.
  package func number(at place: Int) -> UInt32 { payload[place..<place + 4].reduce(0) { $0 << 8 | UInt32($1) } }

  /// The bytes of the frame.
  package var bytes: [UInt8] {
    let size = payload.count
    let head = [UInt8(size >> 16 & 255), UInt8(size >> 8 & 255), UInt8(size & 255), kind.rawValue, flags]
    return head + (0..<4).map { UInt8(truncatingIfNeeded: stream >> (24 - 8 * $0)) } + payload
  }

  /// The first bytes of a client: the preface and an empty SETTINGS frame.
  package static let preface =
    Array("PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n".utf8)
    + Frame(kind: .settings, flags: 0, stream: 0, payload: []).bytes

  /// Returns a complete request for `/`, without a field that HPACK would add to its table.
  package static func request(_ stream: Int32) -> Frame {
    Frame(kind: .headers, flags: 5, stream: stream, payload: [0x82, 0x87, 0x84, 0x01, 0x01, 0x61])
  }
}

/// Splits the bytes of one direction into frames.
package struct FrameScanner {
  private var rest: [UInt8] = []
  private var prefaceSize: Int

  package init(of role: HTTP2Session.Role) { prefaceSize = role == .client ? 24 : 0 }

  package mutating func frames(in bytes: [UInt8]) -> [Frame] {
    rest += bytes
    let preface = min(prefaceSize, rest.count)
    rest.removeFirst(preface)
    prefaceSize -= preface
    var frames: [Frame] = []
    while rest.count >= 9 {
      let size = Int(rest[0]) << 16 | Int(rest[1]) << 8 | Int(rest[2])
      guard rest.count >= 9 + size, let kind = Frame.Kind(rawValue: rest[3]) else { break }
      let stream = rest[5..<9].reduce(Int32(0)) { $0 << 8 | Int32($1) }
      frames.append(Frame(kind: kind, flags: rest[4], stream: stream, payload: Array(rest[9..<9 + size])))
      rest.removeFirst(9 + size)
    }
    return frames
  }
}

/// A message that was received completely.
package struct ReceivedMessage {
  package var stream: Int32
  package var fields: [HeaderName: String]
  package var body: [UInt8]
  package var bodySize: Int

  package var status: String? { fields[.status] }
}

/// One end of a pair: a session and the calls to its delegate.
package final class SessionEnd: HTTP2SessionDelegate {
  package let session: HTTP2Session
  package let pool: StreamPool
  package var messages: [ReceivedMessage] = []
  package var heads: [Int32] = []
  package var closings: [Int32: UInt32] = [:]
  package var settingsCount = 0
  package var pongs = 0
  package var goAways: [(last: Int32, debugData: [UInt8])] = []
  /// The maximum number of bytes of a body that are kept.
  package var maximumBodySize = Int.max
  package var onHead: (HTTP2Stream) throws -> Void = { _ in }
  package var onMessage: (HTTP2Stream) throws -> Void = { _ in }
  package private(set) var failure: (any Error)?
  /// The limits that the peer reached.
  package var exceeded: [TransportLimit] = []
  package var answersExcessFields = false

  package init(
    _ role: HTTP2Session.Role, pool: StreamPool, frameBuffer: FrameBuffer = FrameBuffer(),
    maximumStreams: Int = Limits.maximumConcurrentStreams
  ) throws {
    self.pool = pool
    session = try HTTP2Session(role: role, pool: pool, frameBuffer: frameBuffer, maximumStreams: maximumStreams)
    session.delegate = self
  }

  package func session(_ session: HTTP2Session, receivedHeadOn stream: HTTP2Stream) {
    heads.append(stream.id)
    stream.message.maximumBodySize = maximumBodySize
    attempt { try onHead(stream) }
  }

  package func session(_ session: HTTP2Session, receivedEndOn stream: HTTP2Stream) {
    let message = stream.message
    var fields: [HeaderName: String] = [:]
    for name in HeaderName.allCases { fields[name] = message.text(name) }
    messages.append(.init(stream: stream.id, fields: fields, body: message.body, bodySize: message.bodySize))
    attempt { try onMessage(stream) }
  }

  package func session(_ session: HTTP2Session, closed stream: HTTP2Stream, errorCode: UInt32) {
    closings[stream.id] = errorCode
  }

  package func session(_ session: HTTP2Session, exceeded limit: TransportLimit) { exceeded.append(limit) }
  package func session(_ session: HTTP2Session, answersExcessFieldsOn stream: HTTP2Stream) -> Bool {
    answersExcessFields
  }
  package func sessionReceivedSettings(_ session: HTTP2Session) { settingsCount += 1 }
  package func session(_ session: HTTP2Session, receivedPong number: UInt64) { pongs += 1 }

  package func session(_ session: HTTP2Session, goingAwayAfter lastStreamID: Int32, debugData: [UInt8]) {
    goAways.append((lastStreamID, debugData))
  }

  private func attempt(_ body: () throws -> Void) {
    do { try body() } catch { failure = failure ?? error }
  }
}

/// A client's and a server's session connected in memory, without socket and event loop.
package final class SessionPair {
  package let client: SessionEnd
  package let server: SessionEnd
  /// All frames from the server.
  package private(set) var serverFrames: [Frame] = []
  /// All frames from the client.
  package private(set) var clientFrames: [Frame] = []
  private var serverScanner = FrameScanner(of: .server)
  private var clientScanner = FrameScanner(of: .client)

  /// Connects two ends, exchanges SETTINGS, and keeps the frames.
  package init(client: SessionEnd, server: SessionEnd) throws {
    self.client = client
    self.server = server
    try run()
  }

  /// Connects a new client and a new server, and exchanges SETTINGS.
  package init(serverPool: StreamPool = StreamPool()) throws {
    client = try SessionEnd(.client, pool: StreamPool())
    server = try SessionEnd(.server, pool: serverPool)
    try run()
    serverFrames = []
    clientFrames = []
  }

  /// Transfers bytes in both directions, in pieces of `pieceSize`, until neither side sends more.
  package func run(pieceSize: Int = .max) throws {
    var hasMoved = true
    while hasMoved {
      hasMoved = false
      let up = try bytes(of: client)
      let down = try bytes(of: server)
      clientFrames += clientScanner.frames(in: up)
      serverFrames += serverScanner.frames(in: down)
      for piece in up.pieces(of: pieceSize) {
        hasMoved = true
        try unsafe piece.withUnsafeBytes { try unsafe server.session.receive($0) }
      }
      for piece in down.pieces(of: pieceSize) {
        hasMoved = true
        try unsafe piece.withUnsafeBytes { try unsafe client.session.receive($0) }
      }
      if let failure = client.failure ?? server.failure { throw failure }
      client.session.announceDrained()
      server.session.announceDrained()
    }
  }

  /// Opens a stream with a request. Without a body the request ends at once.
  package func request(
    _ fields: [(HeaderName, String)] = [], path: String = "/", body: [UInt8]? = nil, isEnding: Bool = true
  ) throws -> HTTP2Stream {
    var head = HeaderFields()
    head.append(.method, body == nil ? "GET".utf8 : "POST".utf8)
    head.append(.scheme, "https".utf8)
    head.append(.authority, "localhost".utf8)
    head.append(.path, path.utf8)
    for (name, value) in fields { head.append(name, value.utf8) }
    let stream = try client.session.request(head, hasBody: body != nil)
    if let body { client.session.write(body, ending: isEnding, on: stream) }
    return stream
  }

  /// Returns the bytes that a session has to send.
  package func bytes(of end: SessionEnd) throws -> [UInt8] {
    var bytes: [UInt8] = []
    while try end.session.send(into: &bytes, limit: bytes.count + 16_384) {}
    return bytes
  }
}

extension [UInt8] {
  /// Splits the bytes into pieces of a given size.
  package func pieces(of size: Int) -> [ArraySlice<UInt8>] {
    var pieces: [ArraySlice<UInt8>] = []
    var rest = self[...]
    while !rest.isEmpty {
      pieces.append(rest.prefix(size))
      rest = rest.dropFirst(size)
    }
    return pieces
  }
}
