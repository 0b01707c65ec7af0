import COpenSSL
import Glibc

/// The data of a provider's client certificate (reference §4.5).
package struct PeerIdentity: Sendable, Equatable {
  /// The SHA-256 of the certificate.
  package var fingerprint: [UInt8]
  /// The UID of the subject, which is the default topic.
  package var topic: String?
  /// All topics that the provider may push to: those of the certificate's extension, else the subject's UID.
  package var topics: Set<String>
  /// The environments of the certificate; a certificate that names no environment is valid for both.
  package var environments: Set<Environment>
  /// The end of the validity, in seconds since 1970.
  package var expires: Int64
  /// The reason why the certificate can't be trusted, mostly in OpenSSL's words; nil if it can.
  package var fault: String?

  /// The object identifiers of the extensions in a provider certificate.
  package enum Extension {
    package static let development = "1.2.840.113635.100.6.3.1"
    package static let production = "1.2.840.113635.100.6.3.2"
    package static let voip = "1.2.840.113635.100.6.3.4"
    package static let topics = "1.2.840.113635.100.6.3.6"
  }

  /// Reads a certificate in PEM, of any issuer.
  package init(pem: [UInt8]) throws(TLSError) {
    let bio = unsafe PEM.reader(pem)
    defer { unsafe BIO_free(bio) }
    guard let certificate = unsafe PEM.certificate(in: bio) else {
      throw TLSError(openSSL: "not a certificate in PEM form (-----BEGIN CERTIFICATE-----)")
    }
    defer { unsafe X509_free(certificate) }
    unsafe self.init(certificate, verified: Int(X509_V_OK))
  }

  /// Reads the certificate of a TLS peer.
  ///
  /// - Parameter verified: the result of OpenSSL's check of the chain, an `X509_V_…`. A resumed session keeps the
  ///   result of its first handshake, so the expiry time is checked again.
  package init(_ certificate: OpaquePointer, verified: Int) {
    fingerprint = [UInt8](repeating: 0, count: 32)
    unsafe X509_digest(certificate, EVP_sha256(), &fingerprint, nil)
    topic = unsafe PeerIdentity.userID(of: certificate)
    let listed = unsafe PeerIdentity.value(of: Extension.topics, in: certificate).map(PeerIdentity.topics(der:))
    topics = Set(listed ?? [topic].compactMap(\.self))
    if listed == nil, let topic, !topic.hasSuffix(PushType.voip.topicSuffix),
      unsafe PeerIdentity.value(of: Extension.voip, in: certificate) != nil
    {
      topics.insert(topic + PushType.voip.topicSuffix)
    }
    environments = []
    if unsafe PeerIdentity.value(of: Extension.development, in: certificate) != nil {
      environments.insert(.development)
    }
    if unsafe PeerIdentity.value(of: Extension.production, in: certificate) != nil { environments.insert(.production) }
    if environments.isEmpty { environments = [.development, .production] }
    var end = unsafe tm()
    unsafe ASN1_TIME_to_tm(X509_get0_notAfter(certificate), &end)
    expires = unsafe Int64(timegm(&end))
    if verified != Int(X509_V_OK) {
      fault = unsafe String(cString: X509_verify_cert_error_string(verified))
    } else if unsafe X509_cmp_current_time(X509_get0_notAfter(certificate)) < 0 {
      fault = "certificate has expired"
    } else if topics.isEmpty {
      fault = "it has no topic in the subject's UID or an extension"
    }
  }

  private static func userID(of certificate: OpaquePointer) -> String? {
    unsafe DistinguishedName.text(of: NID_userId, in: X509_get_subject_name(certificate))
  }

  /// Returns the DER in an extension; nil if the certificate has no extension of this kind.
  private static func value(of kind: String, in certificate: OpaquePointer) -> [UInt8]? {
    let object = unsafe OBJ_txt2obj(kind, 1)
    defer { unsafe ASN1_OBJECT_free(object) }
    let index = unsafe X509_get_ext_by_OBJ(certificate, object, -1)
    guard index >= 0, let data = unsafe X509_EXTENSION_get_data(X509_get_ext(certificate, index)) else { return nil }
    let size = unsafe Int(ASN1_STRING_length(data))
    return unsafe [UInt8](UnsafeBufferPointer(start: ASN1_STRING_get0_data(data), count: size))
  }

  // MARK: The list of topics: a SEQUENCE of pairs, UTF8String topic and SEQUENCE { UTF8String kind }

  /// Returns the topics in an extension's DER, also if it is wrapped in one more OCTET STRING; empty if it is not
  /// such a list.
  package static func topics(der: [UInt8]) -> [String] {
    guard var (tag, content, _) = element(der[...]) else { return [] }
    if tag == 0x04, let inner = element(content) { (tag, content, _) = inner }
    guard tag == 0x30 else { return [] }
    var topics: [String] = []
    var rest = content
    while let (tag, content, following) = element(rest) {
      if tag == 0x0C { topics.append(String(decoding: content, as: UTF8.self)) }
      rest = following
    }
    return topics
  }

  /// The maximum size in bytes of a list's content: three quarters of ``Limits/clientChainSize``, which limits the
  /// whole certificate.
  package static let maximumListSize = Limits.clientChainSize / 4 * 3

  /// Returns the maximum size in bytes of a topic and its kind in a list, with a few bytes for their tags and
  /// lengths.
  package static func maximumEntrySize(topic: String, kind: String) -> Int { topic.utf8.count + kind.utf8.count + 12 }

  /// Returns the extension's DER for topics and their kinds. The list must have at most ``maximumListSize`` bytes.
  package static func der(topics: [(topic: String, kind: String)]) -> [UInt8] {
    func element(_ tag: UInt8, _ content: [UInt8]) -> [UInt8] {
      let size = content.count
      if size < 0x80 { return [tag, UInt8(size)] + content }
      if size < 0x100 { return [tag, 0x81, UInt8(size)] + content }
      return [tag, 0x82, UInt8(size >> 8), UInt8(size & 0xFF)] + content
    }
    return element(
      0x30,
      topics.flatMap { entry in
        element(0x0C, Array(entry.topic.utf8)) + element(0x30, element(0x0C, Array(entry.kind.utf8)))
      })
  }

  /// Returns the first DER element, whose length has at most two bytes, and the bytes after it.
  static func element(
    _ bytes: ArraySlice<UInt8>
  ) -> (tag: UInt8, content: ArraySlice<UInt8>, rest: ArraySlice<UInt8>)? {
    guard let tag = bytes.first, let length = bytes.dropFirst().first else { return nil }
    var (size, rest) = (Int(length), bytes.dropFirst(2))
    if length >= 0x80 {
      let digits = Int(length & 0x7F)
      guard (1...2).contains(digits), rest.count >= digits else { return nil }
      size = rest.prefix(digits).reduce(0) { $0 << 8 | Int($1) }
      rest = rest.dropFirst(digits)
    }
    guard rest.count >= size else { return nil }
    return (tag, rest.prefix(size), rest.dropFirst(size))
  }
}
