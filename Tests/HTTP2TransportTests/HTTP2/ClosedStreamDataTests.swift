import PushTesting
import Testing

@testable import HTTP2Transport
@testable import PushCore

/// DATA on closed streams (RFC 9113 §5.1), in pieces of any size.
@Suite struct ClosedStreamDataTests {
  static let head = Frame(kind: .headers, flags: 4, stream: 1, payload: Frame.request(1).payload)
  static let reset = Frame(kind: .resetStream, flags: 0, stream: 1, payload: [0, 0, 0, 8])
  static let data = Frame(kind: .data, flags: 0, stream: 1, payload: Array("test".utf8))
  static let last = Frame(kind: .data, flags: 1, stream: 1, payload: Array("test".utf8))

  /// A server that has received the client's preface. It answers at the test's request.
  struct Server {
    let end: SessionEnd
    var scanner = FrameScanner(of: .server)

    init() throws {
      end = try SessionEnd(.server, pool: StreamPool())
      try receive(Frame.preface, pieceSize: .max)
    }

    func receive(_ bytes: [UInt8], pieceSize: Int) throws {
      for piece in bytes.pieces(of: pieceSize) {
        try unsafe Array(piece).withUnsafeBytes { try unsafe end.session.receive($0) }
      }
    }

    /// Returns the error frames of the server: RST_STREAM and GOAWAY.
    mutating func errors() throws -> [Frame] {
      var bytes: [UInt8] = []
      while try end.session.send(into: &bytes, limit: bytes.count + 16_384) {}
      return scanner.frames(in: bytes).filter { $0.kind == .resetStream || $0.kind == .goAway }
    }
  }

  @Test(arguments: [1, 5, 9, 10, 13, 64, .max])
  func `after RST_STREAM it is an error of the stream alone`(_ pieceSize: Int) throws {
    var server = try Server()
    let frames = [Self.head, Self.reset, Self.data, Frame.request(3)]
    try server.receive(frames.flatMap(\.bytes), pieceSize: pieceSize)
    let errors = try server.errors()
    #expect(errors.map(\.kind) == [.resetStream])
    #expect(errors.first?.stream == 1)
    #expect(errors.first?.number(at: 0) == HTTP2ErrorCode.streamClosed.rawValue)
    #expect(server.end.heads == [1, 3])
    #expect(!server.end.session.isFinished)
  }

  @Test(arguments: [1, 5, 9, 10, 13, 64, .max], [true, false])
  func `after both have said all it is an error of the connection`(_ pieceSize: Int, isAnsweredFirst: Bool) throws {
    var server = try Server()
    server.end.onHead = { if isAnsweredFirst { try server.answer($0) } }
    server.end.onMessage = { if !isAnsweredFirst { try server.answer($0) } }
    try server.receive(Self.head.bytes, pieceSize: pieceSize)
    // If the answer is sent before the end of the request, that end closes the stream among the following bytes.
    if isAnsweredFirst { #expect(try server.errors().isEmpty) }
    try server.receive(Self.last.bytes + (isAnsweredFirst ? Self.data.bytes : []), pieceSize: pieceSize)
    if !isAnsweredFirst {
      #expect(try server.errors().isEmpty)
      try server.receive(Self.data.bytes, pieceSize: pieceSize)
    }
    let errors = try server.errors()
    #expect(errors.map(\.kind) == [.goAway])
    #expect(errors.first?.number(at: 4) == HTTP2ErrorCode.streamClosed.rawValue)
  }

  @Test func `after the gateway reset the stream it is dropped in silence`() throws {
    var server = try Server()
    server.end.onHead = { server.end.session.reset($0, .enhanceYourCalm) }
    try server.receive(Self.head.bytes, pieceSize: .max)
    #expect(try server.errors().map(\.kind) == [.resetStream])
    try server.receive(Self.data.bytes + Self.last.bytes + Frame.request(3).bytes, pieceSize: .max)
    #expect(try server.errors().filter { $0.stream == 1 || $0.kind == .goAway }.isEmpty)
  }

  @Test func `on a stream that is over for long it is dropped in silence`() throws {
    var server = try Server()
    server.end.onMessage = { try server.answer($0) }
    for number in 0...ClosedStreams.capacity {
      try server.receive(Frame.request(Int32(2 * number + 1)).bytes, pieceSize: .max)
      _ = try server.errors()
    }
    try server.receive(Self.data.bytes, pieceSize: .max)
    #expect(try server.errors().isEmpty)
  }

  @Test func `answers to it are counted as resets that the peer brought about`() throws {
    var server = try Server()
    try server.receive([Self.head, Self.reset].flatMap(\.bytes), pieceSize: .max)
    for _ in 0..<Limits.maximumResets { try server.receive(Self.data.bytes, pieceSize: .max) }
    #expect(server.end.exceeded.isEmpty)
    try server.receive(Self.data.bytes, pieceSize: .max)
    #expect(server.end.exceeded == [.resets])
    #expect(try server.errors().count == Limits.maximumResets + 1)
  }
}

extension ClosedStreamDataTests.Server {
  fileprivate func answer(_ stream: HTTP2Stream) throws {
    try end.session.respond(HeaderFields(status: 200), body: [UInt8](), on: stream)
  }
}
