import COpenSSL
import Glibc

/// The certificate authorities that the operating system trusts.
package enum SystemTrust {
  /// The path of the file with their certificates: `SSL_CERT_FILE`, as for OpenSSL and curl, or the file of Debian's
  /// package ca-certificates.
  package static var path: String {
    guard let named = unsafe getenv("SSL_CERT_FILE") else { return "/etc/ssl/certs/ca-certificates.crt" }
    return unsafe String(cString: named)
  }

  /// Returns true if the CAs of the system verify a server certificate: the first certificate of a PEM file, whose
  /// other certificates are its chain. Host names are not checked.
  package static func verifies(certificateFile path: String, trustPath: String = SystemTrust.path) -> Bool {
    defer { ERR_clear_error() }
    guard let bio = unsafe BIO_new_file(path, "r") else { return false }
    defer { unsafe BIO_free(bio) }
    guard let certificate = unsafe PEM.certificate(in: bio) else { return false }
    defer { unsafe X509_free(certificate) }
    guard let chain = unsafe OPENSSL_sk_new_null() else { return false }
    defer {
      while let rest = unsafe OPENSSL_sk_pop(chain) { unsafe X509_free(OpaquePointer(rest)) }
      unsafe OPENSSL_sk_free(chain)
    }
    while let next = unsafe PEM.certificate(in: bio) { unsafe OPENSSL_sk_push(chain, UnsafeRawPointer(next)) }
    guard let store = unsafe X509_STORE_new() else { return false }
    defer { unsafe X509_STORE_free(store) }
    guard unsafe X509_STORE_load_file(store, trustPath) == 1, let context = unsafe X509_STORE_CTX_new() else {
      return false
    }
    defer { unsafe X509_STORE_CTX_free(context) }
    guard unsafe X509_STORE_CTX_init(context, store, certificate, chain) == 1,
      unsafe X509_STORE_CTX_set_default(context, "ssl_server") == 1
    else { return false }
    return unsafe X509_verify_cert(context) == 1
  }
}
