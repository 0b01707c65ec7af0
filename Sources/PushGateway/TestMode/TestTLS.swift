import HTTP2Transport
import PushCore

/// The certificate of the next connections, so that a sender's checks of certificates can be tested.
struct TestTLS: Sendable {
  enum Certificate: String, CaseIterable, Sendable {
    case valid
    case unknownCA = "unknown-ca"
    case expired
    case wrongName = "wrong-name"
  }

  let folder: StateFolder
  let source: TLSSource
  /// Returns the configuration with the gateway's own certificate.
  let valid: @Sendable () throws -> TLSContext

  private static let (names, addresses) = (["localhost"], ["127.0.0.1", "::1"])
  /// The lifetime of an expired certificate in seconds; certificates are valid from a minute ago.
  private static let expiredLifetime = -30

  /// Puts a certificate into effect for connections that begin from now on.
  func use(_ certificate: Certificate) throws {
    let issued: (certificatePEM: [UInt8], keyPEM: [UInt8])
    switch certificate {
    case .valid: return source.replace(with: try valid())
    case .unknownCA:
      issued = try CertificateAuthority().issueServer(names: TestTLS.names, addresses: TestTLS.addresses)
    case .expired:
      issued = try folder.authority().issueServer(
        names: TestTLS.names, addresses: TestTLS.addresses, lifetime: TestTLS.expiredLifetime)
    case .wrongName: issued = try folder.authority().issueServer(names: ["wrong-name.invalid"], addresses: [])
    }
    let (path, keyPath) = (folder.path + "/test-server.pem", folder.path + "/test-server.key")
    try folder.write(issued.certificatePEM, to: path, mode: 0o644)
    try folder.write(issued.keyPEM, to: keyPath, mode: 0o600)
    // No ticket of an earlier connection lets a client skip the certificate.
    let context = try TLSContext.server(
      certificatePath: path, keyPath: keyPath, clientTrustPaths: [folder.trustPath], ticketKeys: .separate(),
      checksValidity: false)
    source.replace(with: context)
  }
}
