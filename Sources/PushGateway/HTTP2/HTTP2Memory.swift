import CNGHTTP2
import Glibc

/// Where nghttp2 has its memory from: the heap, but for the frame buffer of each session.
///
/// That buffer has 16 KiB, of which an idle session has touched the first page (``Limits/streamedFrameSize``).
enum HTTP2Memory {
  /// nghttp2 copies it into each session.
  nonisolated(unsafe) static let table = unsafe nghttp2_mem(
    mem_user_data: nil,
    malloc: { size, _ in unsafe LargeBlocks.frames?.take(size) ?? malloc(size) },
    free: { memory, _ in
      guard let memory = unsafe memory else { return }
      if unsafe LargeBlocks.frames?.give(memory) != true { unsafe free(memory) }
    },
    calloc: { count, size, _ in unsafe calloc(count, size) },
    realloc: { memory, size, _ in
      guard let frames = LargeBlocks.frames else { return unsafe realloc(memory, size) }
      return unsafe frames.resize(memory, size)
    })
}
