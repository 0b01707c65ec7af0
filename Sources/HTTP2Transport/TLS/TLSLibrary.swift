import COpenSSL

/// The OpenSSL library that this process runs with.
package enum TLSLibrary {
  /// The library's version, as `3.0.19`.
  package static var version: String {
    guard let text = unsafe OpenSSL_version(OPENSSL_VERSION_STRING) else { return "unknown" }
    return unsafe String(cString: text)
  }

  /// Leaves OpenSSL whole until the process is gone; to be called before anything else of it. By itself it frees its locks
  /// in `exit`, while the threads of other connections are still in it (`OPENSSL_INIT_NO_ATEXIT`).
  package static func keepToTheEnd() {
    _ = OPENSSL_init_crypto(UInt64(OPENSSL_INIT_NO_ATEXIT), nil)
  }
}
