import PushTesting
import Testing

@testable import HTTP2Transport

@Suite struct FrameWalkTests {
  static let frames = [
    Frame(kind: .settings, flags: 0, stream: 0, payload: []),
    Frame(kind: .headers, flags: 4, stream: 1, payload: [UInt8](repeating: 0x55, count: 300)),
    Frame(kind: .data, flags: 1, stream: 1, payload: Array("{}".utf8)),
    Frame(kind: .data, flags: 0, stream: 0x7FFF_FFFF, payload: [UInt8](repeating: 9, count: 70_000)),
    Frame(kind: .continuation, flags: 255, stream: 3, payload: [1]),
  ]

  /// Returns the frame heads that the walk finds in pieces of a given size. The start of each head is its offset in all
  /// bytes, or that of the last piece of the head if it is split.
  static func walk(pieceSize: Int) -> [FrameWalk.Head] {
    let bytes = [UInt8](repeating: 0, count: FrameWalk.prefaceSize) + frames.flatMap(\.bytes)
    var walk = FrameWalk()
    var heads: [FrameWalk.Head] = []
    var offset = 0
    for piece in bytes.pieces(of: pieceSize) {
      unsafe Array(piece).withUnsafeBytes { piece in
        while var head = unsafe walk.next(in: piece) {
          head.start += offset
          heads.append(head)
        }
      }
      offset += piece.count
    }
    return heads
  }

  @Test(arguments: [1, 2, 3, 7, 8, 9, 10, 11, 23, 24, 25, 33, 100, 4096, .max])
  func `every head is found, however the bytes are cut`(_ pieceSize: Int) {
    let heads = FrameWalkTests.walk(pieceSize: pieceSize)
    var start = FrameWalk.prefaceSize
    #expect(heads.count == FrameWalkTests.frames.count)
    for (head, frame) in zip(heads, FrameWalkTests.frames) {
      #expect(head.size == frame.payload.count)
      #expect(head.kind == frame.kind.rawValue)
      #expect(head.flags == frame.flags)
      #expect(head.stream == frame.stream)
      // The start of the head, or the start of the piece with the end of the head.
      let end = start + FrameWalk.headSize
      let piece = pieceSize == .max ? 0 : (end - 1) / pieceSize * pieceSize
      #expect(head.start == max(start, piece))
      start = end + frame.payload.count
    }
  }
}
