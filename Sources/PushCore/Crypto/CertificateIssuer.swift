import COpenSSL

package enum CertificateIssuer {
  /// Returns the organization and the common name of the CA that issued the first certificate of a PEM text; nil if the
  /// text has no certificate, or the CA has neither of them.
  package static func name(ofPEM pem: [UInt8]) -> String? {
    let bio = unsafe PEM.reader(pem)
    defer {
      unsafe BIO_free(bio)
      ERR_clear_error()
    }
    guard let certificate = unsafe PEM.certificate(in: bio) else { return nil }
    defer { unsafe X509_free(certificate) }
    let issuer = unsafe X509_get_issuer_name(certificate)
    let organization = unsafe DistinguishedName.text(of: NID_organizationName, in: issuer)
    let name = unsafe DistinguishedName.text(of: NID_commonName, in: issuer)
    let parts = [organization, name].compactMap(\.self)
    return parts.isEmpty ? nil : parts.joined(separator: ", ")
  }
}

/// A name in a certificate (RFC 5280 §4.1.2.4).
enum DistinguishedName {
  /// Returns the first text of a kind in a name; nil if the name has none.
  ///
  /// - Parameter kind: an `NID_…` of OpenSSL.
  static func text(of kind: Int32, in name: OpaquePointer?) -> String? {
    let index = unsafe X509_NAME_get_index_by_NID(name, kind, -1)
    guard index >= 0, let entry = unsafe X509_NAME_get_entry(name, index) else { return nil }
    var text: UnsafeMutablePointer<UInt8>?
    let size = unsafe ASN1_STRING_to_UTF8(&text, X509_NAME_ENTRY_get_data(entry))
    guard size > 0 else { return nil }
    defer { unsafe CRYPTO_free(text, #file, #line) }
    return unsafe String(decoding: UnsafeBufferPointer(start: text, count: Int(size)), as: UTF8.self)
  }
}
