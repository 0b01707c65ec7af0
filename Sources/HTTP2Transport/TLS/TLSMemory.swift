import COpenSSL
import Glibc

/// The memory functions of OpenSSL: the heap, except for record buffers.
///
/// Record buffers have 17 KiB and live for one record; an idle connection has none (`SSL_MODE_RELEASE_BUFFERS`).
enum TLSMemory {
  /// Installs the memory functions; OpenSSL accepts them only before its first allocation, and otherwise keeps using
  /// the heap.
  ///
  /// - Returns: true if OpenSSL has accepted them.
  static func use() -> Bool {
    unsafe CRYPTO_set_mem_functions(
      { size, _, _ in unsafe LargeBlocks.records?.take(size) ?? malloc(size) },
      { memory, size, _, _ in
        guard let records = LargeBlocks.records else { return unsafe realloc(memory, size) }
        return unsafe records.resize(memory, size)
      },
      { memory, _, _ in
        guard let memory = unsafe memory else { return }
        if unsafe LargeBlocks.records?.give(memory) != true { unsafe free(memory) }
      }) == 1
  }
}
