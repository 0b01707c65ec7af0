import Foundation
import PushTesting
import Testing

@testable import PushCore

@Suite struct SystemTrustTests {
  @Test func `a certificate is verified by a trusted authority, and by no other`() throws {
    let folder = try TemporaryFolder()
    func file(_ name: String, _ pem: [UInt8]) throws -> String {
      let path = folder.path + "/" + name
      try Data(pem).write(to: URL(fileURLWithPath: path))
      return path
    }
    let authority = try CertificateAuthority()
    let issued = try authority.issueServer(names: ["push.example.com"], addresses: [])
    let certificate = try file("server.pem", issued.certificatePEM)
    let own = try file("ca.pem", authority.certificatePEM)
    let other = try file("other.pem", CertificateAuthority().certificatePEM)
    let both = try file("both.pem", CertificateAuthority().certificatePEM + authority.certificatePEM)
    #expect(SystemTrust.verifies(certificateFile: certificate, trustPath: own))
    #expect(SystemTrust.verifies(certificateFile: certificate, trustPath: both))
    #expect(!SystemTrust.verifies(certificateFile: certificate, trustPath: other))
    #expect(!SystemTrust.verifies(certificateFile: certificate, trustPath: folder.path + "/nothing.pem"))
    #expect(!SystemTrust.verifies(certificateFile: folder.path + "/nothing.pem", trustPath: own))
    // Certificates that a server sends after its own do not make it trusted.
    let chain = try file("chain.pem", issued.certificatePEM + authority.certificatePEM)
    #expect(SystemTrust.verifies(certificateFile: chain, trustPath: own))
    #expect(!SystemTrust.verifies(certificateFile: chain, trustPath: other))
  }

  @Test func `the fingerprint of the system's trust can be written in a code and a token`() {
    let none = AuthorityFingerprint.ofSystem
    #expect(AuthorityFingerprint.read(AuthorityFingerprint.grouped(none)) == none)
    let code = InvitationCode(authority: none, secret: InvitationCode.newSecret(.once))
    #expect(InvitationCode(code.description)?.authority == none)
    #expect(AdministratorTokenText.make(fingerprint: none).hasPrefix("pga-\(none)-"))
  }
}
