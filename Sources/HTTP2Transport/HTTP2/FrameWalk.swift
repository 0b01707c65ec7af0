/// Finds the heads of frames in the bytes that a client sends (RFC 9113 §4.1).
///
/// nghttp2 drops DATA on a stream that is over, and tells nobody; §5.1 calls it an error. So a server looks at heads itself,
/// before nghttp2 gets them: nine bytes of each frame; what follows is skipped over.
struct FrameWalk {
  /// The head of a frame.
  struct Head: Equatable {
    /// The bytes that follow it.
    var size: Int
    var kind: UInt8
    var flags: UInt8
    var stream: Int32
    /// Where it begins in the bytes that were walked; 0 when that was in bytes before them.
    var start: Int

    var isData: Bool { kind == 0 }
    /// Whether its sender ends the stream with it.
    var endsStream: Bool { kind <= 1 && flags & 1 != 0 }
    var isReset: Bool { kind == 3 }
  }

  /// What a client says first (§3.4).
  static let prefaceSize = 24
  static let headSize = 9

  /// Where in the bytes that come the next head begins.
  private var offset = FrameWalk.prefaceSize
  /// The bytes of a head whose end has not come, and how many there are.
  private var partial: UInt128 = 0
  private var partialSize = 0

  /// Whether the bytes of a frame whose head has come are not all there.
  var isWithinFrame: Bool { offset > 0 }

  /// The next head that ends within `bytes`; nil when the walk is through with them, and goes on in those that follow.
  @inline(__always)
  mutating func next(in bytes: UnsafeRawBufferPointer) -> Head? {
    guard partialSize == 0, offset + FrameWalk.headSize <= bytes.count else { return unsafe nextInPieces(bytes) }
    let first = unsafe UInt32(bigEndian: bytes.loadUnaligned(fromByteOffset: offset, as: UInt32.self))
    let flags = unsafe bytes[offset + 4]
    let stream = unsafe UInt32(bigEndian: bytes.loadUnaligned(fromByteOffset: offset + 5, as: UInt32.self))
    let start = offset
    offset += FrameWalk.headSize + Int(first >> 8)
    return Head(
      size: Int(first >> 8), kind: UInt8(truncatingIfNeeded: first), flags: flags,
      stream: Int32(bitPattern: stream & 0x7FFF_FFFF), start: start)
  }

  /// The same when a head begins in other bytes than it ends in, and at the end of them all.
  @inline(never)
  private mutating func nextInPieces(_ bytes: UnsafeRawBufferPointer) -> Head? {
    while partialSize < FrameWalk.headSize, offset < bytes.count {
      partial = unsafe partial << 8 | UInt128(bytes[offset])
      partialSize += 1
      offset += 1
    }
    guard partialSize == FrameWalk.headSize else {
      offset -= bytes.count
      return nil
    }
    let head = Head(
      size: Int(partial >> 48), kind: UInt8(truncatingIfNeeded: partial >> 40),
      flags: UInt8(truncatingIfNeeded: partial >> 32),
      stream: Int32(bitPattern: UInt32(truncatingIfNeeded: partial) & 0x7FFF_FFFF),
      start: max(0, offset - FrameWalk.headSize))
    (partial, partialSize) = (0, 0)
    offset += head.size
    return head
  }
}
