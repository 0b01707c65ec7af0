import COpenSSL

/// The OpenSSL library that this process runs with.
package enum TLSLibrary {
  /// The library's version, as `3.0.19`.
  package static var version: String {
    guard let text = unsafe OpenSSL_version(OPENSSL_VERSION_STRING) else { return "unknown" }
    return unsafe String(cString: text)
  }
}
