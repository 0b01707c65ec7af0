import COpenSSL
import Glibc

/// Where OpenSSL has its memory from: the heap, but for the buffers of records.
///
/// Those have 17 KiB and live for one record; an idle connection has none (`SSL_MODE_RELEASE_BUFFERS`).
enum TLSMemory {
  /// Begins; OpenSSL takes it only before anything else is asked of it, and goes on with the heap otherwise.
  ///
  /// - Returns: whether OpenSSL has taken it.
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
