import Foundation
import PushTesting
import Testing

@testable import HTTP2Transport
@testable import PushCore

@Suite struct AuthorityPinTests {
  let files: TLSFiles

  init() throws { files = try TLSFiles() }

  /// Connects for the first time to a server that sends its certificate authority, as the gateway does.
  private func connect(_ pin: AuthorityPin, host: String = "localhost", trust: [String]) throws {
    let pair = try TLSPair(
      client: TLSConnection(client: .client(pin: pin), host: host),
      server: TLSConnection(
        server: .server(certificatePath: files.certificate, keyPath: files.key, clientTrustPaths: trust)))
    try pair.run()
    #expect(pair.client.isEstablished)
  }

  private func fingerprint(_ path: String) throws -> String {
    try #require(AuthorityFingerprint.text(ofCertificateFile: path))
  }

  @Test func `a gateway with the right authority is trusted, and its certificate kept`() throws {
    let pin = AuthorityPin(try fingerprint(files.trust))
    #expect(pin.certificatePEM == nil)
    try connect(pin, trust: [files.trust])
    #expect(pin.certificatePEM == files.authority.certificatePEM && pin.otherAuthority == nil)
  }

  @Test func `another authority is refused, and told`() throws {
    let pin = AuthorityPin("0123456789ABCDEF")
    let error = #expect(throws: TLSError.self) { try connect(pin, trust: [files.trust]) }
    #expect(error?.kind == .untrusted && pin.certificatePEM == nil)
    #expect(try pin.otherAuthority == fingerprint(files.trust))
  }

  @Test func `the right authority is not enough for another host`() throws {
    let pin = AuthorityPin(try fingerprint(files.trust))
    let error = #expect(throws: TLSError.self) { try connect(pin, host: "gateway.example", trust: [files.trust]) }
    #expect(error?.kind == .untrusted && error?.description.contains("other names") == true)
  }

  @Test func `an authority that is only shown beside a certificate of another does not count`() throws {
    let others = try TLSFiles()
    let chain = files.folder.file("chain.pem")
    let shown = [others.certificate, files.trust].compactMap { FileManager.default.contents(atPath: $0) }.joined()
    try Data(shown).write(to: URL(fileURLWithPath: chain))
    let pin = AuthorityPin(try fingerprint(files.trust))
    let pair = try TLSPair(
      client: TLSConnection(client: .client(pin: pin), host: "localhost"),
      server: TLSConnection(server: .server(certificatePath: chain, keyPath: others.key)))
    let error = #expect(throws: TLSError.self) { try pair.run() }
    #expect(error?.kind == .untrusted)
  }

  @Test func `the certificate itself may be what is pinned`() throws {
    let pin = AuthorityPin(try fingerprint(files.certificate))
    try connect(pin, trust: [])
    #expect(pin.certificatePEM != nil)
  }
}
