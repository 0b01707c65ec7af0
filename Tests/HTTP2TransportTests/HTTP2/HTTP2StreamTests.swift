import PushTesting
import Testing

@testable import HTTP2Transport

@Suite struct HTTP2StreamTests {
  /// Reads the bytes of one frame of at most `size` bytes.
  func read(_ stream: HTTP2Stream, _ size: Int) -> (bytes: [UInt8], isEnd: Bool) {
    var frame = [UInt8](repeating: 0, count: size)
    let (count, isEnd) = unsafe frame.withUnsafeMutableBytes { unsafe stream.read(into: $0) }
    return (Array(frame.prefix(count)), isEnd)
  }

  @Test func `bytes go out in order, and the last frame says so`() {
    let stream = HTTP2Stream()
    stream.write([1, 2, 3], ending: false)
    stream.write([4, 5], ending: true)
    #expect(stream.outboundSize == 5)
    let first = read(stream, 4)
    #expect(first.bytes == [1, 2, 3, 4])
    #expect(!first.isEnd)
    let second = read(stream, 4)
    #expect(second.bytes == [5])
    #expect(second.isEnd)
    #expect(stream.outboundSize == 0)
  }

  @Test func `a long body goes out whole, with more written meanwhile`() {
    let stream = HTTP2Stream()
    var sent: [UInt8] = []
    var written: [UInt8] = []
    for round in 0..<50 {
      let piece = (0..<10_000).map { UInt8(truncatingIfNeeded: $0 &+ round) }
      written += piece
      stream.write(piece, ending: round == 49)
      sent += read(stream, 7000).bytes
      #expect(stream.outboundSize == written.count - sent.count)
    }
    while stream.outboundSize > 0 { sent += read(stream, 16_384).bytes }
    #expect(sent == written)
  }

  @Test func `pieces that come together go out in order, in frames of any size`() {
    let stream = HTTP2Stream()
    var (sent, written): ([UInt8], [UInt8]) = ([], [])
    for round in 0..<300 {
      let piece = (0..<round % 7 * 11).map { UInt8(truncatingIfNeeded: $0 &+ round) }
      written += piece
      if round.isMultiple(of: 3) {
        stream.write(piece[...], ending: false)
      } else {
        stream.write(piece, ending: false)
      }
      if round.isMultiple(of: 5) { sent += read(stream, round).bytes }
      #expect(stream.outboundSize == written.count - sent.count)
    }
    while stream.outboundSize > 0 { sent += read(stream, 97).bytes }
    #expect(sent == written)
  }

  @Test func `a stream that was reset is as new`() {
    let stream = HTTP2Stream()
    stream.open(id: 7)
    stream.write([UInt8](repeating: 1, count: 10_000), ending: true)
    _ = read(stream, 100)
    stream.hasSubmittedHead = true
    stream.isDeferred = true
    stream.reset()
    #expect(stream.id == 0)
    #expect(stream.outboundSize == 0)
    #expect(!stream.isOutboundEnded)
    #expect(!stream.hasSubmittedHead)
    #expect(!stream.isDeferred)
    stream.write([2], ending: false)
    #expect(read(stream, 10).bytes == [2])
  }

  @Test func `the pool gives streams back as new`() {
    let pool = StreamPool()
    let stream = pool.take(id: 3)
    stream.message.keep(.authorization, "bearer secret")
    stream.write([1], ending: true)
    pool.give(stream)
    let again = pool.take(id: 5)
    #expect(again === stream)
    #expect(again.id == 5)
    #expect(again.message.bytes(.authorization) == nil)
    #expect(again.outboundSize == 0)
  }

  @Test func `the pool holds at most 2048 streams`() {
    let pool = StreamPool()
    let streams = (0..<2100).map { _ in pool.take(id: 1) }
    for stream in streams { pool.give(stream) }
    let given = Set(streams.map(ObjectIdentifier.init))
    let taken = (0..<2100).map { _ in pool.take(id: 1) }
    // A stream that is freed may lend its address to a new one.
    withExtendedLifetime(streams) {
      #expect(taken.count { given.contains(ObjectIdentifier($0)) } == 2048)
    }
  }
}
