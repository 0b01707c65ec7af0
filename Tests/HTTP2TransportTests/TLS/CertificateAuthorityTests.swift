import COpenSSL
import PushTesting
import Testing

@testable import HTTP2Transport
@testable import PushCore

@Suite struct CertificateAuthorityTests {
  @Test func `an authority that was written and read again issues certificates that the first one's clients trust`()
    throws
  {
    let files = try TLSFiles()
    let read = try CertificateAuthority(certificatePEM: files.authority.certificatePEM, keyPEM: files.authority.keyPEM)
    let server = try read.issueServer(names: ["push.example"], addresses: [])
    _ = try files.folder.write(server.certificatePEM, "server.pem")
    _ = try files.folder.write(server.keyPEM, "server.key")
    let pair = try TLSPair(files, host: "push.example")
    try pair.run()
    #expect(pair.client.isEstablished)
  }

  @Test func `what is no authority is refused`() throws {
    let authority = try CertificateAuthority()
    #expect(throws: TLSError.self) { try CertificateAuthority(certificatePEM: [], keyPEM: authority.keyPEM) }
    #expect(throws: TLSError.self) {
      try CertificateAuthority(certificatePEM: authority.certificatePEM, keyPEM: Array("x".utf8))
    }
  }

  @Test(arguments: [(12_000, true), (12_288, false), (700_000, false)])
  func `a certificate lists no more topics than a gateway takes`(_ size: Int, _ fits: Bool) throws {
    let files = try TLSFiles()
    let topics = [(topic: String(repeating: "a", count: size), kind: "app")]
    func issue() throws -> [UInt8] {
      try files.authority.issueProvider(topic: "com.example", topics: topics, environments: [], days: 1).certificatePEM
    }
    if fits {
      #expect(try PeerIdentity(pem: issue()).topics.first?.count == size)
    } else {
      #expect(throws: TLSError.self) { try issue() }
    }
  }

  @Test func `a server's certificate can't issue others`() throws {
    let files = try TLSFiles()
    let server = try files.authority.issueServer(names: ["localhost"], addresses: [])
    #expect(throws: TLSError.self) {
      let pretender = try CertificateAuthority(certificatePEM: server.certificatePEM, keyPEM: server.keyPEM)
      let forged = try pretender.issueServer(names: ["bank.example"], addresses: [])
      _ = try files.folder.write(forged.certificatePEM + server.certificatePEM, "server.pem")
      _ = try files.folder.write(forged.keyPEM, "server.key")
      try TLSPair(files, host: "bank.example").run()
    }
  }

  @Test func `a server's certificate lasts less than 825 days, and serials differ`() throws {
    let authority = try CertificateAuthority()
    var serials: Set<Int> = []
    for _ in 0..<5 {
      let pem = try authority.issueServer(names: ["localhost"], addresses: ["127.0.0.1"]).certificatePEM
      let bio = unsafe BIO_new_mem_buf(pem, Int32(pem.count))
      defer { unsafe BIO_free(bio) }
      let certificate = try unsafe #require(PEM_read_bio_X509(bio, nil, nil, nil))
      defer { unsafe X509_free(certificate) }
      var (days, seconds): (Int32, Int32) = (0, 0)
      unsafe ASN1_TIME_diff(&days, &seconds, X509_get0_notBefore(certificate), X509_get0_notAfter(certificate))
      #expect((800..<825).contains(days))
      #expect(unsafe X509_get_version(certificate) == 2)
      serials.insert(Int(bitPattern: unsafe X509_issuer_and_serial_hash(certificate)))
    }
    #expect(serials.count == 5)
  }

  @Test func `certificates are valid from a day before their issue, for clients whose clock is behind`() throws {
    let authority = try CertificateAuthority()
    let issued = [
      authority.certificatePEM, try authority.issueServer(names: ["localhost"], addresses: []).certificatePEM,
      try authority.issueProvider(topic: "com.example", topics: [], environments: [], days: 1).certificatePEM,
    ]
    for pem in issued {
      let bio = unsafe BIO_new_mem_buf(pem, Int32(pem.count))
      defer { unsafe BIO_free(bio) }
      let certificate = try unsafe #require(PEM_read_bio_X509(bio, nil, nil, nil))
      defer { unsafe X509_free(certificate) }
      var (days, seconds): (Int32, Int32) = (0, 0)
      // The second time is now.
      unsafe ASN1_TIME_diff(&days, &seconds, X509_get0_notBefore(certificate), nil)
      #expect(days == 1)
    }
  }
}
