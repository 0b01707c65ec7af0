import Foundation
import PushTesting
import Testing

@testable import PushCore

@Suite struct AuthorityFingerprintTests {
  @Test func `a fingerprint is the first 80 bits of the certificate's SHA-256`() throws {
    let folder = try TemporaryFolder()
    let pem = try CertificateAuthority().certificatePEM
    try Data(pem).write(to: URL(fileURLWithPath: folder.path + "/ca.pem"))
    let base64 = String(decoding: pem, as: UTF8.self).split(separator: "\n").filter { !$0.hasPrefix("-") }.joined()
    let der = Array(try #require(Data(base64Encoded: base64)))

    let text = AuthorityFingerprint.text(ofDER: der)
    #expect(text == Base32.text(Array(try PeerIdentity(pem: pem).fingerprint.prefix(10))))
    #expect(text.utf8.count == AuthorityFingerprint.count)
    #expect(AuthorityFingerprint.text(ofCertificateFile: folder.path + "/ca.pem") == text)
  }

  @Test func `the highest certificate of a chain is its last`() throws {
    let folder = try TemporaryFolder()
    let authorities = [try CertificateAuthority(), try CertificateAuthority()]
    let path = folder.path + "/chain.pem"
    try Data(authorities.flatMap(\.certificatePEM)).write(to: URL(fileURLWithPath: path))
    let last = folder.path + "/last.pem"
    try Data(authorities[1].certificatePEM).write(to: URL(fileURLWithPath: last))
    #expect(AuthorityFingerprint.text(ofLastIn: path) == AuthorityFingerprint.text(ofCertificateFile: last))
    #expect(AuthorityFingerprint.text(ofLastIn: last) == AuthorityFingerprint.text(ofCertificateFile: last))
    #expect(AuthorityFingerprint.text(ofLastIn: folder.path + "/nothing.pem") == nil)
  }

  @Test func `a fingerprint is written in groups, and read in any`() {
    #expect(AuthorityFingerprint.grouped("0123456789ABCDEF") == "0123-4567-89AB-CDEF")
    for text in ["0123-4567-89AB-CDEF", "o123456789abcdef", " 0I23 4567 89ab-cdef"] {
      #expect(AuthorityFingerprint.read(text) == "0123456789ABCDEF", "\(text)")
    }
    for text in ["", "0123-4567-89AB-CDE", "0123-4567-89AB-CDEFG", "0123-4567-89AB-CDEU"] {
      #expect(AuthorityFingerprint.read(text) == nil, "\(text)")
    }
  }

  @Test func `a file without a certificate has none`() throws {
    let folder = try TemporaryFolder()
    #expect(AuthorityFingerprint.text(ofCertificateFile: folder.path + "/nothing.pem") == nil)
    try Data("-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n".utf8).write(
      to: URL(fileURLWithPath: folder.path + "/ca.pem"))
    #expect(AuthorityFingerprint.text(ofCertificateFile: folder.path + "/ca.pem") == nil)
  }
}
