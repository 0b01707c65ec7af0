import COpenSSL

/// The session of a TLS connection for the next one to the same server (RFC 8446 §2.2): an `SSL_SESSION`.
@safe package final class TLSSession {
  package let handle: OpaquePointer

  /// Takes ownership of a reference.
  package init(owning handle: OpaquePointer) { unsafe self.handle = unsafe handle }

  deinit { unsafe SSL_SESSION_free(handle) }
}
