import COpenSSL
import PushCore
import Synchronization

/// Trust in a CA by a fingerprint from another channel: the server has to present a certificate with this
/// fingerprint, and a chain from it to a certificate for the host.
///
/// Shared by a connection and the code that stores the certificate.
package final class AuthorityPin: Sendable {
  /// The ``AuthorityFingerprint`` of the certificate.
  package let fingerprint: String
  private let seen = Mutex<(pem: [UInt8]?, others: [String])>((nil, []))

  /// The maximum number of certificates of a chain to check.
  private static let maximumChain = 10

  package init(_ fingerprint: String) { self.fingerprint = fingerprint }

  /// The presented certificate with the fingerprint, as PEM; nil before a server has presented one.
  package var certificatePEM: [UInt8]? { seen.withLock { $0.pem } }
  /// The fingerprint of the highest certificate of a chain without the pinned one; nil if the pinned certificate was
  /// found, or no certificate was presented.
  package var otherAuthority: String? { seen.withLock { $0.pem == nil ? $0.others.last : nil } }

  /// OpenSSL's verification callback, with the pinned certificate as the only trusted one.
  static let verify: @convention(c) (OpaquePointer?, UnsafeMutableRawPointer?) -> Int32 = { store, owner in
    guard let store = unsafe store, let owner = unsafe owner else { return 0 }
    let pin = unsafe Unmanaged<AuthorityPin>.fromOpaque(owner).takeUnretainedValue()
    guard let authority = unsafe pin.find(in: X509_STORE_CTX_get0_untrusted(store)),
      let trusted = unsafe OPENSSL_sk_new_null()
    else {
      unsafe X509_STORE_CTX_set_error(store, X509_V_ERR_CERT_UNTRUSTED)
      return 0
    }
    defer { unsafe OPENSSL_sk_free(trusted) }
    unsafe OPENSSL_sk_push(trusted, UnsafeRawPointer(authority))
    unsafe X509_STORE_CTX_set0_trusted_stack(store, trusted)
    unsafe X509_VERIFY_PARAM_set_flags(X509_STORE_CTX_get0_param(store), UInt(X509_V_FLAG_PARTIAL_CHAIN))
    return unsafe X509_verify_cert(store)
  }

  /// Returns the certificate with the fingerprint; the chain owns it.
  private func find(in chain: OpaquePointer?) -> OpaquePointer? {
    for place in 0..<min(unsafe Int(OPENSSL_sk_num(chain)), AuthorityPin.maximumChain) {
      guard let certificate = unsafe OPENSSL_sk_value(chain, Int32(place)).map({ OpaquePointer($0) }) else {
        continue
      }
      let text = unsafe AuthorityFingerprint.text(of: certificate)
      guard text == fingerprint else {
        seen.withLock { $0.others.append(text) }
        continue
      }
      let pem = unsafe PEM.bytes { unsafe PEM_write_bio_X509($0, certificate) }
      seen.withLock { $0.pem = pem }
      return unsafe certificate
    }
    return nil
  }
}
