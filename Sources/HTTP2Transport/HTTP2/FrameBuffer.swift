import CNGHTTP2
import Glibc

/// The buffer in which the server sessions of one loop pack the frames that they send, one after another.
///
/// nghttp2 allocates 16 KiB for it in each session. An idle session keeps a page or more of that, which exceeds all
/// its other memory. The content of the buffer is needed only from the packing of a frame in
/// `nghttp2_session_mem_send` until that call returns; ``HTTP2Session/send(into:limit:)`` copies it at once. A
/// client's session keeps its own buffer, since the connection preface is stored there from the beginning.
///
/// Not `Sendable`: it belongs to the loop of its sessions, each of which retains it.
@safe package final class FrameBuffer {
  private let storage: UnsafeMutableRawPointer
  private var blocks = SmallBlocks()
  /// True until the session that is being created has allocated its buffer.
  private var isOnOffer = false
  /// The number of sessions that use this buffer.
  package private(set) var sessionCount = 0

  /// The size in bytes of nghttp2's allocation: the largest frame that it sends, with its header (RFC 9113 §4.2).
  package static let size = 20_480
  private static let smallest = 16_384

  package init() { unsafe storage = .allocate(byteCount: FrameBuffer.size, alignment: 64) }

  deinit { unsafe storage.deallocate() }

  /// Creates a session that uses this frame buffer; its other allocations come from ``SmallBlocks``.
  func withMemory<Result>(_ body: (UnsafeMutablePointer<nghttp2_mem>) -> Result) -> Result {
    isOnOffer = true
    defer { isOnOffer = false }
    var memory = unsafe nghttp2_mem(
      mem_user_data: Unmanaged.passUnretained(self).toOpaque(),
      malloc: { size, owner in unsafe FrameBuffer.with(owner) { unsafe $0.take(size) } },
      free: { memory, owner in unsafe FrameBuffer.with(owner) { unsafe $0.give(memory) } },
      calloc: { count, size, _ in unsafe calloc(count, size) },
      realloc: { memory, size, owner in unsafe FrameBuffer.with(owner) { unsafe $0.resize(memory, size) } })
    return unsafe body(&memory)
  }

  /// Passes the buffer of a call to `body`, without reference counting: its sessions retain it.
  @inline(__always)
  private static func with<Value>(_ owner: UnsafeMutableRawPointer?, _ body: (FrameBuffer) -> Value) -> Value {
    guard let owner = unsafe owner else { preconditionFailure("memory of a session without its frame buffer") }
    return unsafe Unmanaged<FrameBuffer>.fromOpaque(owner)._withUnsafeGuaranteedRef(body)
  }

  private func take(_ size: Int) -> UnsafeMutableRawPointer? {
    guard isOnOffer, !PlainMalloc.isOn, size >= FrameBuffer.smallest, size <= FrameBuffer.size else {
      return unsafe blocks.take(size)
    }
    isOnOffer = false
    sessionCount += 1
    return unsafe storage
  }

  private func give(_ memory: UnsafeMutableRawPointer?) {
    if unsafe memory != storage { unsafe blocks.give(memory) }
  }

  /// Resizes an allocation, like `realloc`; a session that needs a larger buffer gets its own from then on.
  private func resize(_ memory: UnsafeMutableRawPointer?, _ size: Int) -> UnsafeMutableRawPointer? {
    guard let memory = unsafe memory else { return unsafe take(size) }
    guard unsafe memory == storage else { return unsafe realloc(memory, size) }
    if size <= FrameBuffer.size { return unsafe storage }
    guard let other = unsafe malloc(size) else { return nil }
    unsafe other.copyMemory(from: storage, byteCount: FrameBuffer.size)
    return unsafe other
  }
}
