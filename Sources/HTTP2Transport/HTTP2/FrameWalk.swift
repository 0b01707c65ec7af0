/// A parser of the frame heads in the bytes that a client sends (RFC 9113 §4.1).
///
/// nghttp2 drops DATA on a closed stream without notification, although §5.1 defines it as an error. A server
/// therefore parses the nine bytes of each frame head before nghttp2 receives them; the payload is skipped.
struct FrameWalk {
  struct Head: Equatable {
    /// The size of the payload in bytes.
    var size: Int
    var kind: UInt8
    var flags: UInt8
    var stream: Int32
    /// The offset of the head in the parsed bytes; 0 if it began in earlier bytes.
    var start: Int

    var isData: Bool { kind == 0 }
    var endsStream: Bool { kind <= 1 && flags & 1 != 0 }
    var isReset: Bool { kind == 3 }
  }

  /// The size in bytes of the client's connection preface (§3.4).
  static let prefaceSize = 24
  static let headSize = 9

  /// The offset of the next head in the bytes that follow.
  private var offset = FrameWalk.prefaceSize
  /// The bytes of an incomplete head, and their number.
  private var partial: UInt128 = 0
  private var partialSize = 0

  /// True if the payload of the last frame is incomplete.
  var isWithinFrame: Bool { offset > 0 }

  /// Returns the next head that ends within `bytes`; nil if there is none, and parsing continues in the bytes that
  /// follow.
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

  /// Returns the next head if it begins and ends in different calls; handles the end of the bytes.
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
