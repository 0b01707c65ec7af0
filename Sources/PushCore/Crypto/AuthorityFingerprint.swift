import COpenSSL

/// The fingerprint of a gateway's CA in texts that users copy: 80 bits of the SHA-256 of the CA's certificate.
package enum AuthorityFingerprint {
  /// The number of characters of ``text(ofDER:)``.
  package static let count = 16
  /// The fingerprint in codes and tokens of a gateway whose certificate the CAs of the system verify.
  ///
  /// Such a code pins no CA, because another CA may issue the renewed certificate. The host name and the CAs of the
  /// system authenticate the gateway, as for any web site.
  package static let ofSystem = String(repeating: "0", count: count)
  /// The number of bytes of the hash in a fingerprint.
  private static let size = 10

  /// Returns the fingerprint of the first certificate of a PEM file; nil if the file has none.
  package static func text(ofCertificateFile path: String) -> String? {
    guard let bio = unsafe BIO_new_file(path, "r") else {
      ERR_clear_error()
      return nil
    }
    defer { unsafe BIO_free(bio) }
    guard let certificate = unsafe PEM.certificate(in: bio) else {
      ERR_clear_error()
      return nil
    }
    defer { unsafe X509_free(certificate) }
    return unsafe text(ofDER: der(of: certificate))
  }

  /// Returns the fingerprint of the last certificate of a PEM file, which is the highest of a chain; nil if the file has
  /// none.
  package static func text(ofLastIn path: String) -> String? {
    guard let bio = unsafe BIO_new_file(path, "r") else {
      ERR_clear_error()
      return nil
    }
    defer {
      unsafe BIO_free(bio)
      ERR_clear_error()
    }
    var last: [UInt8]?
    while let certificate = unsafe PEM.certificate(in: bio) {
      last = unsafe der(of: certificate)
      unsafe X509_free(certificate)
    }
    return last.map(text(ofDER:))
  }

  /// Returns a fingerprint in four groups of four characters, for users.
  package static func grouped(_ text: String) -> String {
    stride(from: 0, to: text.count, by: 4).map { String(text.dropFirst($0).prefix(4)) }.joined(separator: "-")
  }

  /// Reads a fingerprint as a user typed it: in either case, with any grouping, with O read as 0, and I and L as 1.
  package static func read(_ text: String) -> String? {
    let values = text.utf8.filter { $0 != UInt8(ascii: "-") && $0 != UInt8(ascii: " ") }.map(Base32.value)
    let known = values.compactMap(\.self)
    return known.count == count && values.count == count ? Base32.characters(known) : nil
  }

  /// Returns the fingerprint of a certificate in DER.
  ///
  /// - Returns: 16 characters of Crockford's base 32.
  package static func text(ofDER der: [UInt8]) -> String { Base32.text(Array(Digest.sha256(der).prefix(size))) }

  /// Returns the fingerprint of a certificate, which the caller continues to own.
  package static func text(of certificate: OpaquePointer) -> String {
    text(ofDER: unsafe der(of: certificate))
  }

  private static func der(of certificate: OpaquePointer) -> [UInt8] {
    let count = unsafe i2d_X509(certificate, nil)
    guard count > 0 else { return [] }
    return unsafe [UInt8](unsafeUninitializedCapacity: Int(count)) { buffer, written in
      var end = buffer.baseAddress
      written = unsafe max(0, Int(i2d_X509(certificate, &end)))
    }
  }
}
