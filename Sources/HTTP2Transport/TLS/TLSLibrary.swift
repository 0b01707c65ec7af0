import COpenSSL

/// The OpenSSL library of this process.
package enum TLSLibrary {
  /// The library's version, for example `3.0.19`.
  package static var version: String {
    guard let text = unsafe OpenSSL_version(OPENSSL_VERSION_STRING) else { return "unknown" }
    return unsafe String(cString: text)
  }

  /// Initializes OpenSSL; `main` calls it before any other use of OpenSSL.
  ///
  /// OpenSSL then uses ``TLSMemory`` and is not cleaned up at exit: by default it frees its locks in `exit` while the
  /// threads of other connections still use it (`OPENSSL_INIT_NO_ATEXIT`).
  package static func begin() {
    let hasMemory = TLSMemory.use()
    assert(hasMemory, "OpenSSL was asked for memory before TLSLibrary.begin()")
    _ = OPENSSL_init_crypto(UInt64(OPENSSL_INIT_NO_ATEXIT), nil)
  }
}
