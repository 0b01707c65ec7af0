import COpenSSL
import Glibc

/// The host names and IP addresses in a server certificate.
package struct CertificateNames: Sendable, Equatable {
  /// The host names in lower case, in the order of the certificate.
  package private(set) var names: [String]
  /// The IP addresses in canonical form.
  package private(set) var addresses: [String]

  /// Makes the names and addresses for a new certificate, without duplicates and without texts that are not valid.
  package init(names: [String], addresses: [String]) {
    (self.names, self.addresses) = ([], [])
    for name in names { add(name: name) }
    for address in addresses { add(address: address) }
  }

  /// Reads the first certificate of a PEM text; nil if the text has none.
  package init?(pem: [UInt8]) {
    let bio = unsafe PEM.reader(pem)
    defer { unsafe BIO_free(bio) }
    guard let certificate = unsafe PEM.certificate(in: bio) else {
      ERR_clear_error()
      return nil
    }
    defer { unsafe X509_free(certificate) }
    self.init(names: [], addresses: [])
    let index = unsafe X509_get_ext_by_NID(certificate, NID_subject_alt_name, -1)
    guard index >= 0, let data = unsafe X509_EXTENSION_get_data(X509_get_ext(certificate, index)) else { return }
    let size = unsafe Int(ASN1_STRING_length(data))
    take(der: unsafe [UInt8](UnsafeBufferPointer(start: ASN1_STRING_get0_data(data), count: size)))
  }

  /// Returns the names and addresses of both, those of this value first.
  package func union(_ others: CertificateNames) -> CertificateNames {
    CertificateNames(names: names + others.names, addresses: addresses + others.addresses)
  }

  /// Returns the names and addresses of `others` that these do not cover. A wildcard stands for one label (RFC 6125
  /// §6.4.3).
  package func missing(of others: CertificateNames) -> [String] {
    others.names.filter { name in
      let parent = name.split(separator: ".", maxSplits: 1, omittingEmptySubsequences: false).dropFirst().first
      return !names.contains(name) && !(parent.map { names.contains("*.\($0)") } ?? false)
    } + others.addresses.filter { !addresses.contains($0) }
  }

  /// Returns true if a text is a host name, which may contain the star of a wildcard.
  package static func isHostName(_ text: String) -> Bool {
    (1...253).contains(text.utf8.count)
      && text.utf8.allSatisfy { Topic.isWellFormed(CollectionOfOne($0)) || $0 == UInt8(ascii: "*") }
  }

  /// Returns an IP address in canonical form; nil if the text is not an address.
  package static func canonical(address text: String) -> String? {
    var bytes = [UInt8](repeating: 0, count: 16)
    if unsafe inet_pton(AF_INET, text, &bytes) == 1 { return self.text(ofAddress: bytes[..<4]) }
    return unsafe inet_pton(AF_INET6, text, &bytes) == 1 ? self.text(ofAddress: bytes[...]) : nil
  }

  private mutating func add(name: String) {
    let name = name.lowercased()
    if CertificateNames.isHostName(name), !names.contains(name) { names.append(name) }
  }

  private mutating func add(address: String) {
    if let address = CertificateNames.canonical(address: address), !addresses.contains(address) {
      addresses.append(address)
    }
  }

  /// Adds the names of an extension's DER: a SEQUENCE of [2] host names and [7] IP addresses (RFC 5280 §4.2.1.6).
  private mutating func take(der: [UInt8]) {
    guard let (tag, content, _) = PeerIdentity.element(der[...]), tag == 0x30 else { return }
    var rest = content
    while let (tag, content, following) = PeerIdentity.element(rest) {
      if tag == 0x82 { add(name: String(decoding: content, as: UTF8.self)) }
      if tag == 0x87, let address = CertificateNames.text(ofAddress: content) { add(address: address) }
      rest = following
    }
  }

  /// Returns the text of an IPv4 address of 4 bytes or an IPv6 address of 16 bytes; nil for any other size.
  private static func text(ofAddress bytes: ArraySlice<UInt8>) -> String? {
    guard bytes.count == 4 || bytes.count == 16 else { return nil }
    var text = [CChar](repeating: 0, count: Int(INET6_ADDRSTRLEN))
    guard unsafe inet_ntop(bytes.count == 4 ? AF_INET : AF_INET6, Array(bytes), &text, socklen_t(text.count)) != nil
    else { return nil }
    return String(decoding: text.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }, as: UTF8.self)
  }
}
