import COpenSSL
package import NIOCore
package import PushCore

/// One TLS connection over a custom BIO, which converts between ciphertext and plaintext. It uses no sockets.
///
/// Not `Sendable`: it belongs to the loop of its connection.
@safe package final class TLSConnection {
  package enum Progress: Sendable { case open, closedByPeer }

  /// The kind of the server of a connection.
  package enum Server: Sendable {
    /// A gateway, with HTTP/2.
    case gateway
    /// Any server with HTTP/1.1, also the one of a gateway. It asks for no certificate of the client.
    case http1

    /// The name of the protocol in ALPN (RFC 7301 §6).
    var protocolName: String { self == .gateway ? "h2" : "http/1.1" }

    /// The protocols in the form of ALPN (RFC 7301 §3.1).
    fileprivate var protocols: [UInt8] { [UInt8(protocolName.utf8.count)] + Array(protocolName.utf8) }
  }

  private let ssl: OpaquePointer
  private let isServer: Bool
  /// The kind of this server, or of the server at the other end.
  private let server: Server
  /// The ciphertext of the current ``receive(_:scratch:_:)`` that OpenSSL has not read yet.
  private var inbound = unsafe UnsafeRawBufferPointer(start: nil, count: 0)
  /// The ciphertext to send; an idle connection uses no storage for it.
  package private(set) var outbound = ByteBuffer()
  /// True if there is ciphertext to send.
  package var hasOutbound: Bool { outbound.readableBytes > 0 }
  /// True if the handshake is complete, so that plaintext may be sent.
  package private(set) var isEstablished = false
  /// Called once, when the handshake is complete and before any plaintext is passed on.
  package var established: (() -> Void)?

  /// Creates the server's side of a connection.
  package init(server context: TLSContext, of server: Server = .gateway) throws(TLSError) {
    unsafe ssl = try context.makeSSL()
    isServer = true
    self.server = server
    try attach()
    if server == .http1 { unsafe SSL_set_verify(ssl, SSL_VERIFY_NONE, nil) }
    unsafe SSL_set_accept_state(ssl)
  }

  /// Creates the client's side; `host` is checked against the peer's certificate, as a name or an address.
  package init(client context: TLSContext, host: String, of server: Server = .gateway) throws(TLSError) {
    unsafe ssl = try context.makeSSL()
    isServer = false
    self.server = server
    try attach()
    unsafe SSL_set_connect_state(ssl)
    let isAddress = unsafe X509_VERIFY_PARAM_set1_ip_asc(SSL_get0_param(ssl), host) == 1
    if !isAddress {
      unsafe SSL_set1_host(ssl, host)
      unsafe COpenSSL_set_tlsext_host_name(ssl, host)
    }
    let protocols = server.protocols
    unsafe SSL_set_alpn_protos(ssl, protocols, UInt32(protocols.count))
  }

  deinit { unsafe SSL_free(ssl) }

  /// The identity in the peer's certificate; nil if the peer sent none.
  package var peerIdentity: PeerIdentity? {
    guard let certificate = unsafe SSL_get1_peer_certificate(ssl) else { return nil }
    defer { unsafe X509_free(certificate) }
    return unsafe PeerIdentity(certificate, verified: SSL_get_verify_result(ssl))
  }

  /// The TLS version, for example `TLSv1.3`.
  package var version: String { unsafe String(cString: SSL_get_version(ssl)) }

  /// The host name that the client sent (RFC 6066 §3).
  package var serverName: String? {
    unsafe SSL_get_servername(ssl, TLSEXT_NAMETYPE_host_name).map { unsafe String(cString: $0) }
  }

  /// Shortens a client's handshake by resuming a session of an earlier connection to the same server; call it before
  /// ``start()``.
  package func resume(_ session: TLSSession) { unsafe SSL_set_session(ssl, session.handle) }

  /// The session that a later connection may resume; nil before the server has sent a ticket.
  package var session: TLSSession? {
    // A copy, because a connection that ends without close_notify invalidates its session.
    guard let session = unsafe SSL_get_session(ssl), unsafe SSL_SESSION_is_resumable(session) == 1,
      let copy = unsafe SSL_SESSION_dup(session)
    else { return nil }
    return unsafe TLSSession(owning: copy)
  }

  /// True if the handshake was short because it resumed a session.
  package var isResumed: Bool { unsafe SSL_session_reused(ssl) == 1 }

  /// Begins the handshake; a client's first flight is then in ``outbound``.
  package func start() throws(TLSError) { try handshake() }

  /// Decrypts ciphertext and passes the plaintext on, piece by piece, in `scratch`.
  ///
  /// - Throws: ``TLSError`` if the peer violates the protocol; ``outbound`` then contains the alert to send.
  package func receive<Failure: Error>(
    _ ciphertext: UnsafeRawBufferPointer, scratch: UnsafeMutableRawBufferPointer,
    _ plaintext: (UnsafeRawBufferPointer) -> Result<Void, Failure>
  ) throws -> Progress {
    unsafe inbound = unsafe ciphertext
    defer { unsafe inbound = unsafe UnsafeRawBufferPointer(start: nil, count: 0) }
    if !isEstablished {
      try handshake()
      if !isEstablished { return .open }
    }
    while true {
      TLSConnection.forgetErrors()
      let size = unsafe SSL_read(ssl, scratch.baseAddress, Int32(clamping: scratch.count))
      if size > 0 {
        try unsafe plaintext(UnsafeRawBufferPointer(rebasing: scratch[..<Int(size)])).get()
        // Another read that returns no data would cost as much as a short record.
        if unsafe inbound.isEmpty && SSL_pending(ssl) == 0 { return .open }
        continue
      }
      switch unsafe SSL_get_error(ssl, size) {
      case SSL_ERROR_WANT_READ, SSL_ERROR_WANT_WRITE: return .open
      case SSL_ERROR_ZERO_RETURN: return .closedByPeer
      default: throw TLSError(openSSL: "TLS failed")
      }
    }
  }

  /// Encrypts plaintext into ``outbound``.
  package func send(_ plaintext: UnsafeRawBufferPointer) throws(TLSError) {
    guard plaintext.count > 0 else { return }
    outbound.reserveCapacity(minimumWritableBytes: plaintext.count + TLSConnection.recordOverhead)
    TLSConnection.forgetErrors()
    // The BIO accepts all data, so a write is never partial.
    guard unsafe SSL_write(ssl, plaintext.baseAddress, Int32(clamping: plaintext.count)) > 0 else {
      throw TLSError(openSSL: "TLS can't send")
    }
  }

  /// Announces that no more data is sent (`close_notify`).
  package func close() {
    TLSConnection.forgetErrors()
    if isEstablished { unsafe SSL_shutdown(ssl) }
  }

  /// Returns the ciphertext to send, with its storage, and clears ``outbound``.
  package func takeOutbound() -> ByteBuffer {
    defer { outbound = ByteBuffer() }
    return outbound
  }

  /// The number of bytes to reserve for the overhead of a record, with a cipher of this gateway (RFC 8446 §5.2; more
  /// in TLS 1.2).
  private static let recordOverhead = 64

  /// The errors of a certificate itself, independent of its issuer.
  private static let ownFaults = [
    X509_V_ERR_CERT_HAS_EXPIRED, X509_V_ERR_CERT_NOT_YET_VALID, X509_V_ERR_HOSTNAME_MISMATCH,
    X509_V_ERR_IP_ADDRESS_MISMATCH,
  ]

  /// Returns the reason for which the certificate of a server is not trusted, with advice.
  private static func words(ofFault code: Int, of server: Server) -> String {
    guard server == .gateway else { return http1Words(ofFault: code) }
    let reason =
      switch Int32(truncatingIfNeeded: code) {
      case X509_V_ERR_CERT_HAS_EXPIRED: "it has expired: replace the gateway's certificate"
      case X509_V_ERR_CERT_NOT_YET_VALID: "it is not valid yet: check the clocks"
      case X509_V_ERR_HOSTNAME_MISMATCH, X509_V_ERR_IP_ADDRESS_MISMATCH:
        "it is for other names: `pushcli certs create-server` creates one with more names"
      default:
        "its CA is not trusted: another gateway answers at this address, or the gateway has a new CA"
      }
    return "the gateway's certificate is not trusted: \(reason)"
  }

  private static func http1Words(ofFault code: Int) -> String {
    let reason =
      switch Int32(truncatingIfNeeded: code) {
      case X509_V_ERR_CERT_HAS_EXPIRED: "it has expired"
      case X509_V_ERR_CERT_NOT_YET_VALID: "it is not valid yet: check the clocks"
      case X509_V_ERR_HOSTNAME_MISMATCH, X509_V_ERR_IP_ADDRESS_MISMATCH: "it is for other names"
      default: "no CA of this machine has issued it: name the file of its CA"
      }
    return "the certificate of the server is not trusted: \(reason)"
  }

  private func handshake() throws(TLSError) {
    TLSConnection.forgetErrors()
    let result = unsafe SSL_do_handshake(ssl)
    if result == 1 {
      isEstablished = true
      established?()
      established = nil
      return
    }
    switch unsafe SSL_get_error(ssl, result) {
    case SSL_ERROR_WANT_READ, SSL_ERROR_WANT_WRITE: return
    default:
      let verified = unsafe SSL_get_verify_result(ssl)
      if !isServer, verified != Int(X509_V_OK) {
        ERR_clear_error()
        var error = TLSError(TLSConnection.words(ofFault: verified, of: server), kind: .untrusted)
        error.isOfAuthority = !TLSConnection.ownFaults.contains(Int32(truncatingIfNeeded: verified))
        throw error
      }
      // The first bytes of another protocol, such as HTTP/1.1, are not a version of TLS.
      if !isServer, ERR_GET_REASON(ERR_peek_error()) == SSL_R_WRONG_VERSION_NUMBER {
        ERR_clear_error()
        throw TLSError(
          "the answer is not TLS: expected an address of the setting listen, not of http_listen", kind: .notTLS)
      }
      // The alert of a server without the protocol of the client (RFC 7301 §3.2).
      let noProtocol = SSL_AD_REASON_OFFSET + TLS1_AD_NO_APPLICATION_PROTOCOL
      if !isServer, server == .gateway, ERR_GET_REASON(ERR_peek_error()) == noProtocol {
        ERR_clear_error()
        throw TLSError(
          "the server at this address speaks HTTP/1.1 only: expected an address of the setting listen, not of http_listen",
          kind: .notTLS)
      }
      throw TLSError(openSSL: "the TLS handshake failed")
    }
  }

  /// Clears OpenSSL errors of earlier calls on this thread, which `SSL_get_error` would report for the next call.
  /// There are almost never any, and checking costs a tenth of clearing.
  private static func forgetErrors() {
    if ERR_peek_error() != 0 { ERR_clear_error() }
  }

  private func attach() throws(TLSError) {
    guard let bio = unsafe BIO_new(TLSConnection.bioMethod) else {
      throw TLSError(openSSL: "TLS can't be set up")
    }
    unsafe BIO_set_data(bio, Unmanaged.passUnretained(self).toOpaque())
    unsafe SSL_set_bio(ssl, bio, bio)
  }

  /// Returns the kind of server of the connection that owns an `SSL`.
  static func server(of ssl: OpaquePointer?) -> Server {
    guard let owner = unsafe BIO_get_data(SSL_get_rbio(ssl)) else { return .gateway }
    return unsafe Unmanaged<TLSConnection>.fromOpaque(owner).takeUnretainedValue().server
  }

  // MARK: The BIO: reads from the ciphertext passed to `receive`, writes to `outbound`

  fileprivate func take(into buffer: UnsafeMutableRawBufferPointer) -> Int {
    let size = unsafe min(buffer.count, inbound.count)
    unsafe buffer.copyMemory(from: .init(rebasing: inbound[..<size]))
    unsafe inbound = unsafe .init(rebasing: inbound[size...])
    return size
  }

  fileprivate func give(_ bytes: UnsafeRawBufferPointer) { unsafe outbound.writeBytes(bytes) }

  /// Passes the connection of a BIO to `body`, without reference counting: it outlives every call. Returns -1 without
  /// one.
  @inline(__always)
  private static func with(_ bio: OpaquePointer?, _ body: (TLSConnection) -> Int32) -> Int32 {
    guard let owner = unsafe BIO_get_data(bio) else { return -1 }
    return unsafe Unmanaged<TLSConnection>.fromOpaque(owner)._withUnsafeGuaranteedRef(body)
  }

  /// The BIO method, created once and used by every connection.
  nonisolated(unsafe) private static let bioMethod: OpaquePointer? = {
    let method = unsafe BIO_meth_new(BIO_get_new_index() | BIO_TYPE_SOURCE_SINK, "pushgateway")
    unsafe BIO_meth_set_create(method) { bio in
      unsafe BIO_set_init(bio, 1)
      return 1
    }
    unsafe BIO_meth_set_read(method) { bio, buffer, size in
      unsafe BIO_clear_flags(bio, BIO_FLAGS_READ | BIO_FLAGS_SHOULD_RETRY)
      let taken = unsafe with(bio) { unsafe Int32($0.take(into: .init(start: buffer, count: Int(size)))) }
      if taken > 0 { return taken }
      unsafe BIO_set_flags(bio, BIO_FLAGS_READ | BIO_FLAGS_SHOULD_RETRY)
      return -1
    }
    unsafe BIO_meth_set_write(method) { bio, bytes, size in
      unsafe with(bio) { connection in
        unsafe connection.give(.init(start: bytes, count: Int(size)))
        return size
      }
    }
    unsafe BIO_meth_set_ctrl(method) { _, command, _, _ in command == BIO_CTRL_FLUSH ? 1 : 0 }
    return unsafe method
  }()
}
