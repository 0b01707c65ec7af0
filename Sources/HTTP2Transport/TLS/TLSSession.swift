import COpenSSL

/// What a TLS connection leaves for the next one to the same server (RFC 8446 §2.2): an `SSL_SESSION`.
@safe package final class TLSSession {
  package let handle: OpaquePointer

  /// Takes a reference over.
  package init(owning handle: OpaquePointer) { unsafe self.handle = unsafe handle }

  deinit { unsafe SSL_SESSION_free(handle) }
}
