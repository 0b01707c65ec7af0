import COpenSSL
import PushCore
import Synchronization

/// Trust by a fingerprint that came another way: whoever is connected to has to show a certificate with this fingerprint,
/// and a chain from it to a certificate for the host.
///
/// Shared by a connection and whoever wants to keep the certificate.
package final class AuthorityPin: Sendable {
  /// ``AuthorityFingerprint`` of the certificate.
  package let fingerprint: String
  private let seen = Mutex<(pem: [UInt8]?, others: [String])>((nil, []))

  /// Certificates of a chain that are looked at.
  private static let maximumChain = 10

  package init(_ fingerprint: String) { self.fingerprint = fingerprint }

  /// The certificate that was shown, as PEM; nil before there was one with the fingerprint.
  package var certificatePEM: [UInt8]? { seen.withLock { $0.pem } }
  /// The fingerprint of the highest certificate of a chain that has none with the right one; nil where it had, or nobody
  /// showed any.
  package var otherAuthority: String? { seen.withLock { $0.pem == nil ? $0.others.last : nil } }

  /// OpenSSL's verification of a peer, with the pinned certificate as the only one to trust.
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

  /// The certificate of a chain that has the fingerprint, which the chain owns.
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
