import CNGHTTP2
import Glibc

/// The buffer in which the server sessions of one loop pack the frames they send, one after another.
///
/// nghttp2 gives each session 16 KiB of its own for it, of which an idle one keeps a page or more: more than all else that
/// it needs. What is in the buffer matters only from when `nghttp2_session_mem_send` packs a frame until it returns it,
/// and ``HTTP2Session/send(into:limit:)`` copies it at once. A client's session keeps its own, since the connection preface
/// lies there from the beginning.
///
/// Not `Sendable`: it belongs to the loop of its sessions, each of which keeps it alive.
@safe package final class FrameBuffer {
  private let storage: UnsafeMutableRawPointer
  private var blocks = SmallBlocks()
  /// Whether the session that is being made has not yet asked for its buffer.
  private var isOnOffer = false
  /// How many sessions took it for theirs.
  package private(set) var sessionCount = 0

  /// What nghttp2 asks for has the size of the largest frame it sends, with its header (RFC 9113 §4.2).
  package static let size = 20_480
  private static let smallest = 16_384

  package init() { unsafe storage = .allocate(byteCount: FrameBuffer.size, alignment: 64) }

  deinit { unsafe storage.deallocate() }

  /// Makes a session whose frame buffer is this one; what else it needs comes from ``SmallBlocks``.
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

  /// Lends the buffer of a call; its sessions keep it alive, so nobody counts references.
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

  /// As `realloc` does it; a session that wants a larger buffer than this has one of its own from then on.
  private func resize(_ memory: UnsafeMutableRawPointer?, _ size: Int) -> UnsafeMutableRawPointer? {
    guard let memory = unsafe memory else { return unsafe take(size) }
    guard unsafe memory == storage else { return unsafe realloc(memory, size) }
    if size <= FrameBuffer.size { return unsafe storage }
    guard let other = unsafe malloc(size) else { return nil }
    unsafe other.copyMemory(from: storage, byteCount: FrameBuffer.size)
    return unsafe other
  }
}
