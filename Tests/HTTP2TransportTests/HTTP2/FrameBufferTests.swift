import PushTesting
import Testing

@testable import HTTP2Transport

@Suite(.enabled(if: !PlainMalloc.isOn)) struct FrameBufferTests {
  /// Returns clients and servers that share one frame buffer. Each server answers with its own head and body.
  private func pairs(_ count: Int, sharing buffer: FrameBuffer) throws -> [SessionPair] {
    try (0..<count).map { number in
      let server = try SessionEnd(.server, pool: StreamPool(), frameBuffer: buffer)
      let pair = try SessionPair(client: try SessionEnd(.client, pool: StreamPool()), server: server)
      server.onMessage = { [unowned server] stream in
        var head = HeaderFields(status: 200)
        head.append(.apnsID, String(repeating: "\(number)", count: 15_000).utf8, isUnindexed: true)
        try server.session.respond(head, body: self.body(number), on: stream)
      }
      return pair
    }
  }

  private func body(_ number: Int) -> [UInt8] { [UInt8](repeating: UInt8(ascii: "a") + UInt8(number), count: 50_000) }

  /// Returns the outgoing bytes of a session, about `limit` bytes at most.
  private func bytes(of end: SessionEnd, limit: Int) throws -> [UInt8] {
    var bytes: [UInt8] = []
    _ = try end.session.send(into: &bytes, limit: limit)
    return bytes
  }

  @Test(arguments: [1, 100, 20_000])
  func `sessions that share one send what is theirs, wherever they stop between frames`(_ limit: Int) throws {
    let buffer = FrameBuffer()
    let pairs = try pairs(4, sharing: buffer)
    #expect(buffer.sessionCount == 4)
    for pair in pairs {
      _ = try pair.request(body: Array("{}".utf8))
      let request = try bytes(of: pair.client, limit: .max)
      try unsafe request.withUnsafeBytes { try unsafe pair.server.session.receive($0) }
    }
    // One frame of each session after the other, so that every frame is packed after one of another session.
    var isAnyLeft = true
    while isAnyLeft {
      isAnyLeft = false
      for pair in pairs {
        let frame = try bytes(of: pair.server, limit: limit)
        try unsafe frame.withUnsafeBytes { try unsafe pair.client.session.receive($0) }
        let windows = try bytes(of: pair.client, limit: .max)
        try unsafe windows.withUnsafeBytes { try unsafe pair.server.session.receive($0) }
        isAnyLeft = isAnyLeft || !frame.isEmpty
      }
    }
    for (number, pair) in pairs.enumerated() {
      let message = try #require(pair.client.messages.first)
      #expect(message.body == body(number))
      #expect(message.fields[.apnsID] == String(repeating: "\(number)", count: 15_000))
    }
  }

  @Test func `it outlives whoever made it as long as a session sends`() throws {
    let pair = try pairs(1, sharing: FrameBuffer())[0]
    _ = try pair.request(body: Array("{}".utf8))
    try pair.run()
    #expect(pair.client.messages.first?.body == body(0))
  }
}
