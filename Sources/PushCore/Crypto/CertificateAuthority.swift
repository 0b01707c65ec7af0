import COpenSSL

/// The gateway's own certificate authority, which issues itself, server certificates and provider certificates.
@safe package final class CertificateAuthority {
  private let certificate: OpaquePointer
  private let key: ES256Key

  private static let lifetime = 3650 * 86_400
  /// The lifetime of a server certificate in seconds. Clients refuse certificates that are valid for longer than 825
  /// days.
  private static let serverLifetime = 820 * 86_400
  /// The time in seconds before its issue from which a certificate is valid: clients whose clocks are behind accept it.
  private static let clockMargin = 86_400

  /// Makes a new CA with a new key.
  package init() throws {
    key = try ES256Key.generate()
    unsafe certificate = try CertificateAuthority.unsigned(
      name: "PushGateway local CA", key: key, lifetime: CertificateAuthority.lifetime)
    unsafe X509_set_issuer_name(certificate, X509_get_subject_name(certificate))
    try unsafe extend(certificate, NID_basic_constraints, "critical,CA:TRUE,pathlen:0")
    try unsafe extend(certificate, NID_key_usage, "critical,keyCertSign,cRLSign")
    try unsafe extend(certificate, NID_subject_key_identifier, "hash")
    try unsafe sign(certificate)
  }

  /// Reads the certificate and the key of a CA from PEM.
  package init(certificatePEM: [UInt8], keyPEM: [UInt8]) throws {
    let bio = unsafe PEM.reader(certificatePEM)
    defer { unsafe BIO_free(bio) }
    guard let certificate = unsafe PEM.certificate(in: bio) else {
      throw TLSError(openSSL: "not a certificate")
    }
    unsafe self.certificate = unsafe certificate
    do {
      key = try ES256Key(privatePEM: keyPEM)
    } catch {
      unsafe X509_free(certificate)
      throw error
    }
  }

  deinit { unsafe X509_free(certificate) }

  package var certificatePEM: [UInt8] { unsafe PEM.bytes { unsafe PEM_write_bio_X509($0, certificate) } }
  package var keyPEM: [UInt8] { key.privatePEM }

  /// Returns true if a CA of the PEM text `authorities` has issued the first certificate of the PEM text `pem`.
  package static func hasIssued(_ pem: [UInt8], authorities: [UInt8]) -> Bool {
    let (bio, trusted) = unsafe (PEM.reader(pem), PEM.reader(authorities))
    defer {
      unsafe BIO_free(bio)
      unsafe BIO_free(trusted)
      ERR_clear_error()
    }
    guard let certificate = unsafe PEM.certificate(in: bio) else { return false }
    defer { unsafe X509_free(certificate) }
    while let authority = unsafe PEM.certificate(in: trusted) {
      defer { unsafe X509_free(authority) }
      if unsafe X509_check_issued(authority, certificate) == X509_V_OK,
        unsafe X509_verify(certificate, X509_get0_pubkey(authority)) == 1
      {
        return true
      }
    }
    return false
  }

  /// Issues a server certificate for host names and IP addresses, with a new key.
  ///
  /// - Parameter lifetime: the lifetime in seconds; nil for the longest lifetime that clients accept.
  package func issueServer(
    names: [String], addresses: [String], lifetime: Int? = nil
  ) throws -> (certificatePEM: [UInt8], keyPEM: [UInt8]) {
    let serverKey = try ES256Key.generate()
    let server = try unsafe CertificateAuthority.unsigned(
      name: names.first ?? addresses.first ?? "localhost", key: serverKey,
      lifetime: lifetime ?? CertificateAuthority.serverLifetime)
    defer { unsafe X509_free(server) }
    unsafe X509_set_issuer_name(server, X509_get_subject_name(certificate))
    let alternatives = names.map { "DNS:\($0)" } + addresses.map { "IP:\($0)" }
    try unsafe extend(server, NID_subject_alt_name, alternatives.joined(separator: ","))
    try unsafe extend(server, NID_basic_constraints, "critical,CA:FALSE")
    try unsafe extend(server, NID_key_usage, "critical,digitalSignature")
    try unsafe extend(server, NID_ext_key_usage, "serverAuth")
    try unsafe extend(server, NID_authority_key_identifier, "keyid")
    try unsafe sign(server)
    return (unsafe PEM.bytes { unsafe PEM_write_bio_X509($0, server) }, serverKey.privatePEM)
  }

  /// Issues a provider certificate (reference §4.5), with a new key.
  ///
  /// - Parameters:
  ///   - topic: the default topic, which becomes the subject's UID.
  ///   - topics: all topics that the provider may push to, each with its kind: `app`, `voip`, `complication`, ….
  /// - Throws: ``TLSError``, also if a certificate can't list so many topics.
  package func issueProvider(
    topic: String, topics: [(topic: String, kind: String)], environments: [Environment], days: Int
  ) throws -> (certificatePEM: [UInt8], keyPEM: [UInt8]) {
    let listSize = topics.reduce(0) { $0 + PeerIdentity.maximumEntrySize(topic: $1.topic, kind: $1.kind) }
    guard listSize <= PeerIdentity.maximumListSize else {
      throw TLSError("\(topics.count) topics are too many for a certificate: issue several, with fewer topics each")
    }
    let providerKey = try ES256Key.generate()
    let provider = try unsafe CertificateAuthority.unsigned(
      name: "Apple Push Services: \(topic)", userID: topic, key: providerKey, lifetime: days * 86_400)
    defer { unsafe X509_free(provider) }
    unsafe X509_set_issuer_name(provider, X509_get_subject_name(certificate))
    try unsafe extend(provider, NID_basic_constraints, "critical,CA:FALSE")
    try unsafe extend(provider, NID_key_usage, "critical,digitalSignature")
    try unsafe extend(provider, NID_ext_key_usage, "clientAuth")
    try unsafe extend(provider, NID_authority_key_identifier, "keyid")
    let null: [UInt8] = [0x05, 0x00]
    for environment in environments {
      switch environment {
      case .development: try unsafe extend(provider, PeerIdentity.Extension.development, der: null)
      case .production: try unsafe extend(provider, PeerIdentity.Extension.production, der: null)
      }
    }
    if topics.contains(where: { $0.kind == PushType.voip.rawValue }) {
      try unsafe extend(provider, PeerIdentity.Extension.voip, der: null)
    }
    try unsafe extend(provider, PeerIdentity.Extension.topics, der: PeerIdentity.der(topics: topics))
    try unsafe sign(provider)
    return (unsafe PEM.bytes { unsafe PEM_write_bio_X509($0, provider) }, providerKey.privatePEM)
  }

  private static func unsigned(
    name: String, userID: String? = nil, key: ES256Key, lifetime: Int
  ) throws -> OpaquePointer {
    guard let certificate = unsafe X509_new() else { throw TLSError(openSSL: "no certificate can be made") }
    unsafe X509_set_version(certificate, 2)  // version 3
    let serial = unsafe BN_bin2bn(randomBytes(count: 16), 16, nil)
    unsafe BN_to_ASN1_INTEGER(serial, X509_get_serialNumber(certificate))
    unsafe BN_free(serial)
    unsafe X509_gmtime_adj(X509_getm_notBefore(certificate), -CertificateAuthority.clockMargin)
    unsafe X509_gmtime_adj(X509_getm_notAfter(certificate), lifetime)
    _ = unsafe key.withHandle { unsafe X509_set_pubkey(certificate, $0) }
    func add(_ kind: String, _ value: String) {
      let bytes = Array(value.utf8)
      unsafe X509_NAME_add_entry_by_txt(
        X509_get_subject_name(certificate), kind, MBSTRING_UTF8, bytes, Int32(bytes.count), -1, 0)
    }
    if let userID { add("UID", userID) }
    add("CN", name)
    return unsafe certificate
  }

  private func extend(_ subject: OpaquePointer, _ kind: Int32, _ value: String) throws {
    var context = unsafe X509V3_CTX()
    unsafe X509V3_set_ctx(&context, certificate, subject, nil, nil, 0)
    guard let `extension` = unsafe X509V3_EXT_conf_nid(nil, &context, kind, value) else {
      throw TLSError(openSSL: "a certificate can't contain \(value)")
    }
    unsafe X509_add_ext(subject, `extension`, -1)
    unsafe X509_EXTENSION_free(`extension`)
  }

  private func extend(_ subject: OpaquePointer, _ kind: String, der: [UInt8]) throws {
    let object = unsafe OBJ_txt2obj(kind, 1)
    defer { unsafe ASN1_OBJECT_free(object) }
    let data = unsafe ASN1_OCTET_STRING_new()
    defer { unsafe ASN1_OCTET_STRING_free(data) }
    unsafe ASN1_OCTET_STRING_set(data, der, Int32(der.count))
    guard let `extension` = unsafe X509_EXTENSION_create_by_OBJ(nil, object, 0, data) else {
      throw TLSError(openSSL: "a certificate can't have the extension \(kind)")
    }
    unsafe X509_add_ext(subject, `extension`, -1)
    unsafe X509_EXTENSION_free(`extension`)
  }

  private func sign(_ subject: OpaquePointer) throws {
    guard unsafe key.withHandle({ unsafe X509_sign(subject, $0, EVP_sha256()) }) > 0 else {
      throw TLSError(openSSL: "the certificate can't be signed")
    }
  }
}
