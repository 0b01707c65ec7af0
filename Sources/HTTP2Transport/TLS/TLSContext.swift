import COpenSSL
import Glibc
package import PushCore
import Synchronization

/// A shared TLS configuration: an `SSL_CTX`, for which OpenSSL does the reference counting and locking.
///
/// `@unchecked Sendable`: it is configured in `init` and only read afterwards; `SSL_new` may be called from any
/// thread.
@safe package final class TLSContext: @unchecked Sendable {
  fileprivate let handle: OpaquePointer

  /// Creates a server's configuration: TLS 1.2 or newer, by ALPN the protocol of the connection's ``TLSConnection/Server``, and
  /// clients without ALPN accepted.
  ///
  /// With CA files in `clientTrustPaths`, clients are asked for a certificate, which is optional. An untrusted
  /// certificate does not fail the handshake; it is reported by ``PeerIdentity/fault`` (APNs reference §5.4).
  ///
  /// - Parameter checksValidity: false to accept a certificate outside its validity period, for tests of clients.
  /// - Throws: ``TLSError`` if a file can't be read or is invalid, or if the certificate is outside its validity
  ///   period.
  package static func server(
    certificatePath: String, keyPath: String, clientTrustPaths: [String] = [], ticketKeys: TicketKeys = .shared,
    checksValidity: Bool = true
  ) throws(TLSError) -> TLSContext {
    for path in [certificatePath, keyPath] + clientTrustPaths { try requireFile(path) }
    let context = try unsafe TLSContext(TLS_server_method())
    let handle = unsafe context.handle
    guard unsafe SSL_CTX_use_certificate_chain_file(handle, certificatePath) == 1 else {
      throw TLSError(file: "\(certificatePath) holds no certificate: expected PEM")
    }
    guard unsafe SSL_CTX_use_PrivateKey_file(handle, keyPath, SSL_FILETYPE_PEM) == 1 else {
      throw TLSError(file: "\(keyPath) holds no private key for \(certificatePath)")
    }
    if checksValidity, let certificate = unsafe SSL_CTX_get0_certificate(handle) {
      if unsafe X509_cmp_current_time(X509_get0_notAfter(certificate)) < 0 {
        throw TLSError(
          "the certificate \(certificatePath) has expired: replace it, or delete it and its key, and the gateway creates new ones"
        )
      }
      if unsafe X509_cmp_current_time(X509_get0_notBefore(certificate)) > 0 {
        throw TLSError("the certificate \(certificatePath) is not valid yet: check the clock")
      }
    }
    // Only TLS 1.2 ciphers with forward secrecy and authenticated encryption, in the server's order; TLS 1.3 has no
    // others.
    guard unsafe SSL_CTX_set_cipher_list(handle, "ECDHE+AESGCM:ECDHE+CHACHA20") == 1 else {
      throw TLSError(openSSL: "TLS can't be set up")
    }
    // One key share of a finite-field group (ffdhe2048 to ffdhe8192) costs the server up to 120 ms, and its sender
    // nothing.
    guard unsafe COpenSSL_set_groups(handle, "X25519:P-256:P-384") == 1 else {
      throw TLSError(openSSL: "TLS can't be set up")
    }
    unsafe COpenSSL_set_options(handle)
    context.use(ticketKeys)
    unsafe SSL_CTX_set_alpn_select_cb(handle, selectALPN, nil)
    // Sessions are resumed together with the client's certificate, for which OpenSSL requires a context name.
    let name = Array("pushgateway".utf8)
    unsafe SSL_CTX_set_session_id_context(handle, name, UInt32(name.count))
    for path in clientTrustPaths {
      guard unsafe SSL_CTX_load_verify_locations(handle, path, nil) == 1 else {
        throw TLSError(file: "\(path) holds no certificates to trust: expected PEM")
      }
    }
    if !clientTrustPaths.isEmpty {
      unsafe SSL_CTX_set_verify(handle, SSL_VERIFY_PEER, nil)
      unsafe SSL_CTX_set_cert_verify_callback(handle, verifyClient, nil)
      unsafe SSL_CTX_set_verify_depth(handle, Limits.clientChainDepth)
      unsafe COpenSSL_set_max_cert_list(handle, Limits.clientChainSize)
      guard unsafe COpenSSL_set_client_sigalgs(handle, TLSContext.clientSignatures) == 1 else {
        throw TLSError(openSSL: "TLS can't be set up")
      }
    }
    return context
  }

  /// The signatures that clients may make with the keys of their certificates. DSA is missing: its keys can be so large
  /// that one signature takes many milliseconds.
  private static let clientSignatures =
    "ECDSA+SHA256:ECDSA+SHA384:ECDSA+SHA512:ed25519:RSA-PSS+SHA256:RSA-PSS+SHA384:RSA-PSS+SHA512:RSA+SHA256:RSA+SHA384"
    + ":RSA+SHA512"

  /// Requires a regular file.
  ///
  /// - Throws: ``TLSError`` for a file that can't be read, and for a pipe, a socket or a device: reading it may never
  ///   end, and the server reads the file again later.
  private static func requireFile(_ path: String) throws(TLSError) {
    var status = stat()
    guard unsafe stat(path, &status) == 0, unsafe access(path, R_OK) == 0 else {
      throw TLSError("\(path) can't be read: \(UnreadableFile.reason(of: path))", kind: .file)
    }
    guard status.st_mode & S_IFMT == S_IFREG else {
      throw TLSError("\(path) is not a regular file: name a file with PEM", kind: .file)
    }
  }

  /// Creates a client's configuration that trusts the certificates in one file, and presents a certificate of its own
  /// if it has one.
  ///
  /// A server that presents the only certificate of the file is trusted for every host name.
  package static func client(trustPath: String, identity: ClientIdentity? = nil) throws(TLSError) -> TLSContext {
    let context = try unsafe TLSContext(TLS_client_method())
    guard unsafe SSL_CTX_load_verify_locations(context.handle, trustPath, nil) == 1 else {
      throw TLSError(file: "\(trustPath) holds no certificates to trust: expected PEM, as ca.pem of a state folder")
    }
    if unsafe onlyCertificate(SSL_CTX_get_cert_store(context.handle)) != nil {
      unsafe SSL_CTX_set_cert_verify_callback(context.handle, verifyOnly, nil)
    }
    unsafe SSL_CTX_set_verify(context.handle, SSL_VERIFY_PEER, nil)
    // A certificate that a user put into the file is trusted, independently of its issuer.
    unsafe X509_VERIFY_PARAM_set_flags(SSL_CTX_get0_param(context.handle), UInt(X509_V_FLAG_PARTIAL_CHAIN))
    if let identity {
      for path in [identity.certificatePath, identity.keyPath] { try requireFile(path) }
      guard unsafe SSL_CTX_use_certificate_chain_file(context.handle, identity.certificatePath) == 1 else {
        throw TLSError(file: "\(identity.certificatePath) holds no certificate: expected PEM")
      }
      guard unsafe SSL_CTX_use_PrivateKey_file(context.handle, identity.keyPath, SSL_FILETYPE_PEM) == 1 else {
        throw TLSError(file: "\(identity.keyPath) holds no private key for \(identity.certificatePath)")
      }
    }
    return context
  }

  /// Creates a client's configuration that trusts the certificates in a file, and those in a text.
  ///
  /// - Parameter pem: certificates in PEM; empty: none.
  /// - Throws: ``TLSError`` if there is no certificate in the text, or if neither has one.
  package static func client(trustPath: String, adding pem: [UInt8]) throws(TLSError) -> TLSContext {
    let context = try unsafe TLSContext(TLS_client_method())
    let isFileRead = unsafe SSL_CTX_load_verify_locations(context.handle, trustPath, nil) == 1
    ERR_clear_error()
    if !pem.isEmpty, !context.trust(pem) {
      throw TLSError(file: "there are no certificates in this text: expected PEM (-----BEGIN CERTIFICATE-----)")
    }
    guard isFileRead || !pem.isEmpty else {
      throw TLSError(file: "\(trustPath) holds no certificates to trust: install the package ca-certificates")
    }
    unsafe SSL_CTX_set_verify(context.handle, SSL_VERIFY_PEER, nil)
    // A certificate that a user named is trusted, independently of its issuer.
    unsafe X509_VERIFY_PARAM_set_flags(SSL_CTX_get0_param(context.handle), UInt(X509_V_FLAG_PARTIAL_CHAIN))
    return context
  }

  /// Adds certificates in PEM to the trusted ones.
  ///
  /// - Returns: false if there is none.
  private func trust(_ pem: [UInt8]) -> Bool {
    defer { ERR_clear_error() }
    guard let bio = unsafe PEM.reader(pem) else { return false }
    defer { unsafe BIO_free(bio) }
    var hasAdded = false
    while let certificate = unsafe PEM.certificate(in: bio) {
      defer { unsafe X509_free(certificate) }
      if unsafe X509_STORE_add_cert(SSL_CTX_get_cert_store(handle), certificate) == 1 { hasAdded = true }
    }
    return hasAdded
  }

  /// The certificate that this side presents, without its chain, as PEM; nil if it has none.
  package var certificatePEM: [UInt8]? {
    guard let certificate = unsafe SSL_CTX_get0_certificate(handle) else { return nil }
    return unsafe PEM.bytes { unsafe PEM_write_bio_X509($0, certificate) }
  }

  /// Creates a client's configuration that trusts a fingerprint, for its first connection. The pin is never freed.
  package static func client(pin: AuthorityPin) throws(TLSError) -> TLSContext {
    let context = try unsafe TLSContext(TLS_client_method())
    unsafe SSL_CTX_set_verify(context.handle, SSL_VERIFY_PEER, nil)
    unsafe SSL_CTX_set_cert_verify_callback(
      context.handle, AuthorityPin.verify, Unmanaged.passRetained(pin).toOpaque())
    return context
  }

  private init(_ method: OpaquePointer?) throws(TLSError) {
    guard let handle = unsafe SSL_CTX_new(method) else { throw TLSError(openSSL: "TLS can't be set up") }
    unsafe self.handle = unsafe handle
    // The empty password prevents OpenSSL from asking on the terminal: an encrypted key is an error.
    unsafe SSL_CTX_set_default_passwd_cb(handle) { _, _, _, _ in 0 }
    unsafe COpenSSL_set_min_proto_version(handle, TLS1_2_VERSION)
    // An idle connection releases its record buffers (9 KB each).
    unsafe COpenSSL_set_mode(handle, Int(SSL_MODE_RELEASE_BUFFERS))
  }

  deinit { unsafe SSL_CTX_free(handle) }

  /// Seals tickets with these keys, which are never freed: a connection outlives its context.
  private func use(_ keys: TicketKeys) {
    unsafe SSL_CTX_set_ex_data(handle, 0, Unmanaged.passRetained(keys).toOpaque())
    unsafe SSL_CTX_set_tlsext_ticket_key_evp_cb(handle, TicketKeys.callback)
  }

  /// Creates an `SSL`, owned by the caller.
  package func makeSSL() throws(TLSError) -> OpaquePointer {
    guard let ssl = unsafe SSL_new(handle) else { throw TLSError(openSSL: "TLS can't be set up") }
    return unsafe ssl
  }
}

/// The current TLS configuration of the server: a new certificate replaces it without a restart.
package final class TLSSource: Sendable {
  private let current: Mutex<TLSContext>

  package init(_ context: TLSContext) { current = Mutex(context) }

  /// The configuration of the next connection.
  package var context: TLSContext { current.withLock { $0 } }

  package func replace(with context: TLSContext) { current.withLock { $0 = context } }
}

/// The files of a client certificate.
package struct ClientIdentity: Sendable {
  package var certificatePath: String
  package var keyPath: String

  package init(certificatePath: String, keyPath: String) {
    self.certificatePath = certificatePath
    self.keyPath = keyPath
  }
}

/// Verifies a client's chain up to its first fault, which the session stores for ``PeerIdentity/fault``; the
/// handshake continues.
///
/// A chain without a trusted root is detected before any of its signatures is computed. The client selects their
/// keys, and some cost milliseconds each. For the same reason an RSA key with a long exponent ends the handshake.
private let verifyClient: @convention(c) (OpaquePointer?, UnsafeMutableRawPointer?) -> Int32 = { store, _ in
  guard unsafe COpenSSL_exponent_bits(X509_STORE_CTX_get0_cert(store)) <= Limits.clientExponentBits else {
    unsafe X509_STORE_CTX_set_error(store, X509_V_ERR_CERT_REJECTED)
    return 0
  }
  let isTrusted = unsafe X509_verify_cert(store) == 1
  if !isTrusted, unsafe X509_STORE_CTX_get_error(store) == X509_V_OK {
    unsafe X509_STORE_CTX_set_error(store, X509_V_ERR_UNSPECIFIED)
  }
  return 1
}

/// Returns the only certificate of a store, which owns it; nil if there are several.
private func onlyCertificate(_ store: OpaquePointer?) -> OpaquePointer? {
  let objects = unsafe X509_STORE_get0_objects(store)
  guard unsafe OPENSSL_sk_num(objects) == 1 else { return nil }
  return unsafe X509_OBJECT_get0_X509(OpaquePointer(OPENSSL_sk_value(objects, 0)))
}

/// Verifies that a server presents the only trusted certificate, and that it has not expired; host name and chain are
/// ignored. If the trusted certificate is a CA's, other certificates are verified as usual. A self-signed certificate
/// of a server is often a CA's, too: `openssl req -x509` makes such certificates.
private let verifyOnly: @convention(c) (OpaquePointer?, UnsafeMutableRawPointer?) -> Int32 = { store, _ in
  let only = unsafe onlyCertificate(X509_STORE_CTX_get0_store(store))
  guard let shown = unsafe X509_STORE_CTX_get0_cert(store), let trusted = unsafe only,
    unsafe X509_cmp(shown, trusted) == 0
  else {
    if let authority = unsafe only, unsafe X509_check_ca(authority) != 0 { return unsafe X509_verify_cert(store) }
    unsafe X509_STORE_CTX_set_error(store, X509_V_ERR_UNABLE_TO_GET_ISSUER_CERT_LOCALLY)
    return 0
  }
  guard unsafe X509_cmp_current_time(X509_get0_notAfter(shown)) > 0 else {
    unsafe X509_STORE_CTX_set_error(store, X509_V_ERR_CERT_HAS_EXPIRED)
    return 0
  }
  return 1
}

/// Selects the protocol of the connection, such as `h2` (RFC 9113 §3.2); refuses only a client that offers other protocols
/// without it.
private let selectALPN:
  @convention(c) (
    OpaquePointer?, UnsafeMutablePointer<UnsafePointer<UInt8>?>?, UnsafeMutablePointer<UInt8>?,
    UnsafePointer<UInt8>?, UInt32, UnsafeMutableRawPointer?
  ) -> Int32 = { ssl, selected, selectedSize, offered, offeredSize, _ in
    guard let offered = unsafe offered else { return SSL_TLSEXT_ERR_NOACK }
    let served = unsafe TLSConnection.server(of: ssl).protocolName
    var offset = 0
    while offset < Int(offeredSize) {
      let size = unsafe Int(offered[offset])
      let name = unsafe UnsafeBufferPointer(start: offered + offset + 1, count: size)
      if unsafe name.elementsEqual(served.utf8) {
        unsafe selected?.pointee = name.baseAddress
        unsafe selectedSize?.pointee = UInt8(size)
        return SSL_TLSEXT_ERR_OK
      }
      offset += 1 + size
    }
    return SSL_TLSEXT_ERR_ALERT_FATAL
  }
