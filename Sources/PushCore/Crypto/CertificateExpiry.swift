import COpenSSL
import Glibc

package enum CertificateExpiry {
  /// Returns the expiry time of the first certificate of a PEM file, in seconds since 1970; nil if the file has none.
  package static func seconds(ofFile path: String) -> Int64? {
    guard let bio = unsafe BIO_new_file(path, "r") else {
      ERR_clear_error()
      return nil
    }
    defer { unsafe BIO_free(bio) }
    return unsafe seconds(in: bio)
  }

  /// Returns the expiry time of the first certificate of a PEM text, in seconds since 1970; nil if the text has none.
  package static func seconds(ofPEM pem: [UInt8]) -> Int64? {
    let bio = unsafe PEM.reader(pem)
    defer { unsafe BIO_free(bio) }
    return unsafe seconds(in: bio)
  }

  private static func seconds(in bio: OpaquePointer?) -> Int64? {
    defer { ERR_clear_error() }
    guard let certificate = unsafe PEM.certificate(in: bio) else { return nil }
    defer { unsafe X509_free(certificate) }
    var time = unsafe tm()
    guard unsafe ASN1_TIME_to_tm(X509_get0_notAfter(certificate), &time) == 1 else { return nil }
    return unsafe Int64(timegm(&time))
  }
}
