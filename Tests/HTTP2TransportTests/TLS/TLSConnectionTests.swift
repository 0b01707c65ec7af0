import COpenSSL
import Foundation
import NIOCore
import PushTesting
import Testing

@testable import HTTP2Transport
@testable import PushCore

@Suite struct TLSConnectionTests {
  let files: TLSFiles

  init() throws { files = try TLSFiles() }

  @Test(arguments: [1, 7, 100, Int.max])
  func `two connections shake hands, however the bytes are cut`(_ pieceSize: Int) throws {
    let pair = try TLSPair(files)
    #expect(!pair.client.isEstablished)
    try pair.run(pieceSize: pieceSize)
    #expect(pair.client.isEstablished)
    #expect(pair.server.isEstablished)
  }

  /// Connects a client that trusts the certificates of a file to a server at a host.
  private func connect(trusting path: String, host: String) throws {
    let pair = try TLSPair(
      client: TLSConnection(client: .client(trustPath: path), host: host),
      server: TLSConnection(server: .server(certificatePath: files.certificate, keyPath: files.key)))
    try pair.run()
    #expect(pair.client.isEstablished)
  }

  @Test(arguments: ["push.example.com", "192.0.2.1", "localhost"])
  func `one certificate that is trusted by itself is taken under any name`(_ host: String) throws {
    try connect(trusting: files.certificate, host: host)
    // The server is trusted together with another certificate, or through its CA, but only under its own names.
    let both = files.folder.file("both.pem")
    let others = try TLSFiles()
    let pems = [files.certificate, others.certificate].compactMap { FileManager.default.contents(atPath: $0) }
    try Data(pems.joined()).write(to: URL(fileURLWithPath: both))
    for path in [both, files.trust] {
      guard host != "localhost" else {
        try connect(trusting: path, host: host)
        continue
      }
      let error = #expect(throws: TLSError.self) { try connect(trusting: path, host: host) }
      #expect(error?.kind == .untrusted)
    }
    // Another certificate is not trusted, even of the same CA.
    let error = #expect(throws: TLSError.self) { try connect(trusting: others.certificate, host: host) }
    #expect(error?.kind == .untrusted)
  }

  @Test func `certificates in a text are trusted in addition to those of a file, under their own names`() throws {
    let none = files.folder.file("none.pem")
    let pem = Array(FileManager.default.contents(atPath: files.trust) ?? Data())
    func connect(_ path: String, _ pem: [UInt8], host: String) throws {
      let pair = try TLSPair(
        client: TLSConnection(client: .client(trustPath: path, adding: pem), host: host),
        server: TLSConnection(server: .server(certificatePath: files.certificate, keyPath: files.key)))
      try pair.run()
      #expect(pair.client.isEstablished)
    }
    try connect(none, pem, host: "localhost")
    try connect(files.trust, [], host: "localhost")
    #expect(throws: TLSError.self) { try connect(none, pem, host: "push.example.com") }
    let other = Array(FileManager.default.contents(atPath: try TLSFiles().trust) ?? Data())
    #expect(throws: TLSError.self) { try connect(none, other, host: "localhost") }
    for text in ["", "PEM", "-----BEGIN CERTIFICATE-----"] {
      #expect(throws: TLSError.self) { try TLSContext.client(trustPath: none, adding: Array(text.utf8)) }
    }
  }

  @Test(arguments: ["push.example.com", "192.0.2.1"])
  func `a self-signed certificate that is trusted by itself is taken under any name, also if it is a CA's`(
    _ host: String
  ) throws {
    let key = try files.folder.write(files.authority.keyPEM, "ca.key")
    let pair = try TLSPair(
      client: TLSConnection(client: .client(trustPath: files.trust), host: host),
      server: TLSConnection(server: .server(certificatePath: files.trust, keyPath: key)))
    try pair.run()
    #expect(pair.client.isEstablished)
  }

  @Test func `data goes both ways`() throws {
    let pair = try TLSPair(files)
    try pair.run()
    let large = (0..<100_000).map { UInt8(truncatingIfNeeded: $0 * 7) }
    try TLSPair.send(Array("up".utf8), by: pair.client)
    try TLSPair.send(large, by: pair.server)
    try pair.run(pieceSize: 1000)
    #expect(pair.atServer == Array("up".utf8))
    #expect(pair.atClient == large)
    try TLSPair.send([], by: pair.client)
    #expect(pair.client.outbound.readableBytes == 0)
  }

  @Test(arguments: [1, 50, 20_000])
  func `records that come together are all read, and the rest of one with the next piece`(_ size: Int) throws {
    let pair = try TLSPair(files)
    try pair.run()
    let texts = (0..<5).map { [UInt8](repeating: UInt8($0), count: size) }
    for text in texts { try TLSPair.send(text, by: pair.client) }
    try pair.run()
    #expect(pair.atServer == Array(texts.joined()))
  }

  @Test func `an error that somebody left on this thread is nobody's`() throws {
    let pair = try TLSPair(files)
    try pair.run()
    try TLSPair.send([UInt8](repeating: 7, count: 1000), by: pair.client)
    #expect(unsafe BIO_new_file("/nowhere/at/all", "r") == nil)
    #expect(ERR_peek_error() != 0)
    // In pieces, so that OpenSSL asks for more bytes. It distinguishes that from an error by its error queue.
    try pair.run(pieceSize: 100)
    #expect(pair.atServer == [UInt8](repeating: 7, count: 1000))
  }

  @Test func `a closed connection is seen by its peer`() throws {
    let pair = try TLSPair(files)
    try pair.run()
    try TLSPair.send(Array("last words".utf8), by: pair.client)
    pair.client.close()
    try pair.run()
    #expect(pair.serverProgress == .closedByPeer)
    #expect(pair.atServer == Array("last words".utf8))
  }

  @Test func `what was handed over leaves no buffer behind`() throws {
    let pair = try TLSPair(files)
    try pair.run()
    try TLSPair.send([UInt8](repeating: 1, count: 100_000), by: pair.server)
    #expect(pair.server.takeOutbound().readableBytes > 100_000)
    #expect(pair.server.outbound.readableBytes == 0)
    #expect(pair.server.outbound.capacity == 0)
  }

  @Test(arguments: ["localhost", "127.0.0.1", "::1"])
  func `a server's certificate holds for its names and addresses`(_ host: String) throws {
    let pair = try TLSPair(files, host: host)
    try pair.run()
    #expect(pair.client.isEstablished)
  }

  @Test(arguments: ["example.com", "127.0.0.2", "::2", "localhost.example.com"])
  func `a server's certificate does not hold for others`(_ host: String) throws {
    let pair = try TLSPair(files, host: host)
    let error = #expect(throws: TLSError.self) { try pair.run() }
    #expect(error?.description.hasPrefix("the gateway's certificate is not trusted: ") == true)
    #expect(!pair.client.isEstablished)
  }

  @Test func `an answer that is not TLS is reported as such, with the setting of the address to use`() throws {
    let client = try TLSConnection(client: .client(trustPath: files.trust), host: "localhost")
    try client.start()
    let error = #expect(throws: TLSError.self) {
      var scratch = [UInt8](repeating: 0, count: Limits.recordSize)
      try unsafe Array("HTTP/1.1 400 Bad Request\r\n".utf8).withUnsafeBytes { piece in
        try unsafe scratch.withUnsafeMutableBytes { scratch in
          _ = try unsafe client.receive(piece, scratch: scratch) { _ -> Result<Void, TLSError> in .success(()) }
        }
      }
    }
    #expect(error?.description.hasPrefix("the answer is not TLS: expected an address of the setting listen") == true)
  }

  @Test func `a server without HTTP 2 is reported as such, with the setting of the address to use`() throws {
    let pair = try TLSPair(
      client: TLSConnection(client: .client(trustPath: files.trust), host: "localhost"),
      server: TLSConnection(server: .server(certificatePath: files.certificate, keyPath: files.key), of: .http1))
    #expect(throws: TLSError.self) { try pair.run() }
    // The alert of the server.
    let error = #expect(throws: TLSError.self) { try pair.run() }
    #expect(error?.description.hasPrefix("the server at this address speaks HTTP/1.1 only: expected an ") == true)
    #expect(error?.isFinal == true)
  }

  @Test func `an authority that is not trusted is refused, and the server hears of it`() throws {
    let others = try TLSFiles()
    let pair = try TLSPair(files, trust: others.trust)
    let error = #expect(throws: TLSError.self) { try pair.run() }
    #expect(error?.description.hasPrefix("the gateway's certificate is not trusted: ") == true)
    #expect(pair.client.outbound.readableBytes > 0)
    #expect(throws: TLSError.self) { try pair.run() }
  }

  @Test(arguments: ["GET / HTTP/1.1\r\n\r\n", "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n", "\0\0\0\0\0\0\0\0"])
  func `a peer that speaks no TLS is refused`(_ text: String) throws {
    let server = try TLSConnection(server: .server(certificatePath: files.certificate, keyPath: files.key))
    try server.start()
    var scratch = [UInt8](repeating: 0, count: 100)
    #expect(throws: TLSError.self) {
      try unsafe Array(text.utf8).withUnsafeBytes { bytes in
        try unsafe scratch.withUnsafeMutableBytes { scratch in
          _ = try unsafe server.receive(bytes, scratch: scratch) { _ in Result<Void, TLSError>.success(()) }
        }
      }
    }
  }

  @Test func `a flipped byte ends an established connection`() throws {
    let pair = try TLSPair(files)
    try pair.run()
    try TLSPair.send(Array("secret".utf8), by: pair.client)
    var ciphertext = Array(buffer: pair.client.takeOutbound())
    ciphertext[ciphertext.count - 1] ^= 1
    var scratch = [UInt8](repeating: 0, count: 100)
    #expect(throws: TLSError.self) {
      try unsafe ciphertext.withUnsafeBytes { bytes in
        try unsafe scratch.withUnsafeMutableBytes { scratch in
          _ = try unsafe pair.server.receive(bytes, scratch: scratch) { _ in Result<Void, TLSError>.success(()) }
        }
      }
    }
  }
}
