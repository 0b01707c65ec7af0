import COpenSSL
import Glibc
import NIOCore
import PushTesting
import Testing

@testable import HTTP2Transport
@testable import PushCore

@Suite struct TLSContextTests {
  let files: TLSFiles

  init() throws { files = try TLSFiles() }

  func failure(_ body: () throws -> Void) -> String {
    do {
      try body()
      return "no failure"
    } catch {
      return "\(error)"
    }
  }

  /// Performs a handshake between a plain OpenSSL client with memory BIOs and a server.
  ///
  /// - Parameters:
  ///   - kind: The kind of the server.
  ///   - configure: Sets the offers of the client.
  ///   - read: Reads a value from the client after the handshake.
  /// - Returns: Nil if the handshake failed.
  func handshake<Value>(
    with kind: TLSConnection.Server = .gateway, _ configure: (_ client: OpaquePointer?) -> Void,
    read: (_ client: OpaquePointer?) -> Value
  ) throws -> Value? {
    let context = unsafe SSL_CTX_new(TLS_client_method())
    defer { unsafe SSL_CTX_free(context) }
    let client = unsafe SSL_new(context)
    defer { unsafe SSL_free(client) }
    unsafe configure(client)
    let (inbound, outbound) = unsafe (BIO_new(BIO_s_mem()), BIO_new(BIO_s_mem()))
    unsafe SSL_set_bio(client, inbound, outbound)
    unsafe SSL_set_connect_state(client)
    let server = try TLSConnection(
      server: .server(certificatePath: files.certificate, keyPath: files.key), of: kind)
    try server.start()
    var scratch = [UInt8](repeating: 0, count: Limits.recordSize)
    for _ in 0..<5 {
      _ = unsafe SSL_do_handshake(client)
      var flight = [UInt8](repeating: 0, count: 20_000)
      let size = unsafe BIO_read(outbound, &flight, Int32(flight.count))
      if size > 0 {
        do {
          try unsafe flight.prefix(Int(size)).withUnsafeBytes { flight in
            try unsafe scratch.withUnsafeMutableBytes { scratch in
              _ = try unsafe server.receive(flight, scratch: scratch) { _ in Result<Void, TLSError>.success(()) }
            }
          }
        } catch {
          return nil
        }
      }
      let ciphertext = Array(buffer: server.takeOutbound())
      unsafe BIO_write(inbound, ciphertext, Int32(ciphertext.count))
    }
    return server.isEstablished ? unsafe read(client) : nil
  }

  /// Returns the cipher that a server selects from the offers of a TLS 1.2 client, or nil if there is none.
  func cipher(offering ciphers: String) throws -> String? {
    try unsafe handshake { client in
      unsafe SSL_set_cipher_list(client, ciphers)
      unsafe SSL_ctrl(client, SSL_CTRL_SET_MAX_PROTO_VERSION, Int(TLS1_2_VERSION), nil)
    } read: { client in
      unsafe String(cString: SSL_CIPHER_get_name(SSL_get_current_cipher(client)))
    }
  }

  @Test(arguments: [
    ("ECDHE-ECDSA-AES256-SHA", nil), ("ECDHE-ECDSA-AES128-SHA256", nil), ("AES128-GCM-SHA256", nil),
    ("ECDHE-ECDSA-AES128-GCM-SHA256", "ECDHE-ECDSA-AES128-GCM-SHA256"),
    ("ECDHE-ECDSA-CHACHA20-POLY1305", "ECDHE-ECDSA-CHACHA20-POLY1305"),
    ("ECDHE-ECDSA-CHACHA20-POLY1305:ECDHE-ECDSA-AES256-GCM-SHA384", "ECDHE-ECDSA-AES256-GCM-SHA384"),
  ])
  func `TLS 1.2 has forward secrecy and authenticated encryption, in the server's order`(
    _ offered: String, _ selected: String?
  ) throws {
    #expect(try cipher(offering: offered) == selected)
  }

  /// A finite-field key share costs the server a hundred times as much as one of an elliptic curve.
  @Test(arguments: [
    ("X25519", true), ("P-256", true), ("P-384", true), ("ffdhe2048", false), ("ffdhe8192", false), ("P-521", false),
    ("X448", false), ("ffdhe8192:P-256", true),
  ])
  func `keys are agreed on by curves alone`(_ groups: String, _ isTaken: Bool) throws {
    let isDone: Bool? = try unsafe handshake { client in
      let list = unsafe strdup(groups)
      unsafe SSL_ctrl(client, SSL_CTRL_SET_GROUPS_LIST, 0, list)
      unsafe free(list)
    } read: { _ in
      true
    }
    #expect(isDone == (isTaken ? true : nil))
  }

  /// Returns the protocol that the server selects from the client's ALPN offers. With nil, the client offers none.
  ///
  /// - Returns: Nil if the handshake failed.
  func selected(offering protocols: [String]?, by kind: TLSConnection.Server = .gateway) throws -> String? {
    try unsafe handshake(with: kind) { client in
      guard let protocols else { return }
      let list = protocols.flatMap { [UInt8($0.utf8.count)] + Array($0.utf8) }
      unsafe SSL_set_alpn_protos(client, list, UInt32(list.count))
    } read: { client in
      var (name, nameSize): (UnsafePointer<UInt8>?, UInt32) = (nil, 0)
      unsafe SSL_get0_alpn_selected(client, &name, &nameSize)
      return unsafe String(decoding: UnsafeBufferPointer(start: name, count: Int(nameSize)), as: UTF8.self)
    }
  }

  @Test(
    arguments: [
      (["h2"], "h2"), (["http/1.1", "h2"], "h2"), (["h2", "http/1.1"], "h2"), (nil, ""), (["http/1.1"], nil),
      (["h2c", "h3"], nil), (["H2"], nil),
    ] as [([String]?, String?)])
  func `h2 is selected when offered, nothing when nothing is, and all else is refused`(
    _ offered: [String]?, _ expected: String?
  ) throws {
    #expect(try selected(offering: offered) == expected)
  }

  @Test(
    arguments: [
      (["http/1.1"], "http/1.1"), (["h2", "http/1.1"], "http/1.1"), (["http/1.1", "h2"], "http/1.1"), (nil, ""),
      (["h2"], nil), (["http/1.0"], nil), (["HTTP/1.1"], nil),
    ] as [([String]?, String?)])
  func `a server of HTTP 1_1 selects it when offered, nothing when nothing is, and refuses all else`(
    _ offered: [String]?, _ expected: String?
  ) throws {
    #expect(try selected(offering: offered, by: .http1) == expected)
  }

  @Test func `files that are not there or hold something else are refused in one line that names them`() throws {
    let nothing = files.folder.file("nothing")
    let text = try files.folder.write("words".utf8, "text")
    let missing = "\(nothing) can't be read: there is no such file"
    #expect(failure { _ = try TLSContext.server(certificatePath: nothing, keyPath: files.key) } == missing)
    #expect(failure { _ = try TLSContext.server(certificatePath: files.certificate, keyPath: nothing) } == missing)
    for path in [text, files.key] {
      let words = failure { _ = try TLSContext.server(certificatePath: path, keyPath: files.key) }
      #expect(words.hasPrefix("\(path) holds no certificate"))
    }
    let other = try files.folder.write(try ES256Key.generate().privatePEM, "other.key")
    for path in [text, files.certificate, other] {
      let words = failure { _ = try TLSContext.server(certificatePath: files.certificate, keyPath: path) }
      #expect(words.hasPrefix("\(path) holds no private key for \(files.certificate)"))
    }
    for path in [nothing, text, files.key] {
      let words = failure { _ = try TLSContext.client(trustPath: path) }
      #expect(words.hasPrefix("\(path) holds no certificates to trust"))
    }
  }

  @Test func `a pipe in place of a file is refused, and nothing waits for a writer`() throws {
    let pipe = files.folder.file("pipe")
    #expect(unsafe mkfifo(pipe, 0o600) == 0)
    let asked: [(certificate: String, key: String, trust: [String])] = [
      (pipe, files.key, []), (files.certificate, pipe, []), (files.certificate, files.key, [pipe]),
    ]
    for (certificate, key, trust) in asked {
      let words = failure {
        _ = try TLSContext.server(certificatePath: certificate, keyPath: key, clientTrustPaths: trust)
      }
      #expect(words == "\(pipe) is not a regular file: name a file with PEM")
    }
  }

  /// Writes a self-signed copy of the server's certificate with another period of validity. Returns its path.
  func certificate(from start: Int, to end: Int) throws -> String {
    let pem = try #require(try? files.authority.issueServer(names: ["localhost"], addresses: []))
    let key = try ES256Key(privatePEM: pem.keyPEM)
    let bio = unsafe BIO_new_mem_buf(pem.certificatePEM, Int32(pem.certificatePEM.count))
    defer { unsafe BIO_free(bio) }
    let certificate = try unsafe #require(PEM_read_bio_X509(bio, nil, nil, nil))
    defer { unsafe X509_free(certificate) }
    unsafe X509_gmtime_adj(X509_getm_notBefore(certificate), start)
    unsafe X509_gmtime_adj(X509_getm_notAfter(certificate), end)
    _ = unsafe key.withHandle { unsafe X509_sign(certificate, $0, EVP_sha256()) }
    _ = try files.folder.write(pem.keyPEM, "moved.key")
    return try files.folder.write(unsafe PEM.bytes { unsafe PEM_write_bio_X509($0, certificate) }, "moved.pem")
  }

  @Test func `a certificate out of its time is refused`() throws {
    let key = files.folder.file("moved.key")
    let expired = try certificate(from: -1000, to: -10)
    #expect(
      failure { _ = try TLSContext.server(certificatePath: expired, keyPath: key) }
        == "the certificate \(expired) has expired: replace it, or delete it and its key, and the gateway creates new ones"
    )
    let early = try certificate(from: 1000, to: 2000)
    #expect(
      failure { _ = try TLSContext.server(certificatePath: early, keyPath: key) }
        == "the certificate \(early) is not valid yet: check the clock"
    )
    let current = try certificate(from: -1000, to: 1000)
    _ = try TLSContext.server(certificatePath: current, keyPath: key)
  }
}
