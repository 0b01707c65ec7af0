package import HTTP2Transport
import NIOCore
package import PushCore

/// The files of a certificate authority and of a server certificate that it issued.
package struct TLSFiles {
  package let folder: TemporaryFolder
  package let authority: CertificateAuthority
  package var trust: String { folder.file("ca.pem") }
  package var certificate: String { folder.file("server.pem") }
  package var key: String { folder.file("server.key") }

  package init(names: [String] = ["localhost"], addresses: [String] = ["127.0.0.1", "::1"]) throws {
    folder = try TemporaryFolder()
    authority = try CertificateAuthority()
    let server = try authority.issueServer(names: names, addresses: addresses)
    _ = try folder.write(authority.certificatePEM, "ca.pem")
    _ = try folder.write(server.certificatePEM, "server.pem")
    _ = try folder.write(server.keyPEM, "server.key")
  }
}

/// A client's and a server's TLS connection connected in memory.
package final class TLSPair {
  package let client: TLSConnection
  package let server: TLSConnection
  package var atClient: [UInt8] = []
  package var atServer: [UInt8] = []
  package var clientProgress = TLSConnection.Progress.open
  package var serverProgress = TLSConnection.Progress.open

  package init(client: TLSConnection, server: TLSConnection) throws {
    self.client = client
    self.server = server
    try client.start()
    try server.start()
  }

  package convenience init(_ files: TLSFiles, host: String = "localhost", trust: String? = nil) throws {
    try self.init(
      client: TLSConnection(client: .client(trustPath: trust ?? files.trust), host: host),
      server: TLSConnection(server: .server(certificatePath: files.certificate, keyPath: files.key)))
  }

  /// Transfers ciphertext in both directions, in pieces of `pieceSize`, until neither side sends more.
  package func run(pieceSize: Int = .max) throws {
    while client.outbound.readableBytes > 0 || server.outbound.readableBytes > 0 {
      serverProgress = try TLSPair.carry(from: client, to: server, pieceSize, into: &atServer) ?? serverProgress
      clientProgress = try TLSPair.carry(from: server, to: client, pieceSize, into: &atClient) ?? clientProgress
    }
  }

  package static func send(_ bytes: [UInt8], by connection: TLSConnection) throws {
    try unsafe bytes.withUnsafeBytes { try unsafe connection.send($0) }
  }

  private static func carry(
    from one: TLSConnection, to other: TLSConnection, _ pieceSize: Int, into plaintext: inout [UInt8]
  ) throws -> TLSConnection.Progress? {
    let ciphertext = Array(buffer: one.takeOutbound())
    var scratch = [UInt8](repeating: 0, count: Limits.recordSize)
    var taken: [UInt8] = []
    defer { plaintext += taken }
    var progress: TLSConnection.Progress?
    for piece in ciphertext.pieces(of: pieceSize) {
      progress = try unsafe piece.withUnsafeBytes { piece in
        try unsafe scratch.withUnsafeMutableBytes { scratch in
          try unsafe other.receive(piece, scratch: scratch) { bytes -> Result<Void, TLSError> in
            unsafe taken.append(contentsOf: bytes)
            return .success(())
          }
        }
      }
    }
    return progress
  }
}
