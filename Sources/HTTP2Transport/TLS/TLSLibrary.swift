import COpenSSL

/// The OpenSSL library that this process runs with.
package enum TLSLibrary {
  /// The library's version, as `3.0.19`.
  package static var version: String {
    guard let text = unsafe OpenSSL_version(OPENSSL_VERSION_STRING) else { return "unknown" }
    return unsafe String(cString: text)
  }

  /// Begins with OpenSSL; to be called by `main`, before anything else of it.
  ///
  /// Its memory is ``TLSMemory``'s, and it stays whole until the process is gone: by itself it frees its locks in `exit`,
  /// while the threads of other connections are still in it (`OPENSSL_INIT_NO_ATEXIT`).
  package static func begin() {
    let hasMemory = TLSMemory.use()
    assert(hasMemory, "OpenSSL was asked for memory before TLSLibrary.begin()")
    _ = OPENSSL_init_crypto(UInt64(OPENSSL_INIT_NO_ATEXIT), nil)
  }
}
