import Testing

@testable import PushCore

@Suite struct CertificateNamesTests {
  @Test func `a certificate says what it was issued for`() throws {
    let wanted = CertificateNames(
      names: ["localhost", "Push.Example.com", "*.example.com", "localhost"],
      addresses: ["127.0.0.1", "::1", "2001:db8:0:0::1", "127.0.0.1"])
    #expect(wanted.names == ["localhost", "push.example.com", "*.example.com"])
    #expect(wanted.addresses == ["127.0.0.1", "::1", "2001:db8::1"])
    let issued = try CertificateAuthority().issueServer(names: wanted.names, addresses: wanted.addresses)
    #expect(CertificateNames(pem: issued.certificatePEM) == wanted)
  }

  @Test func `what is no certificate has no names, and an authority has none in it`() throws {
    #expect(CertificateNames(pem: Array("nothing".utf8)) == nil)
    #expect(
      CertificateNames(pem: try CertificateAuthority().certificatePEM) == CertificateNames(names: [], addresses: []))
  }

  @Test func `names are added behind those that are there`() {
    let (one, two) = (
      CertificateNames(names: ["a", "b"], addresses: ["::1"]),
      CertificateNames(names: ["c", "a"], addresses: ["10.0.0.1"])
    )
    #expect(one.union(two) == CertificateNames(names: ["a", "b", "c"], addresses: ["::1", "10.0.0.1"]))
    #expect(one.union(one) == one)
  }

  @Test func `names that a certificate lacks are those that neither it nor a wildcard of it has`() {
    let present = CertificateNames(names: ["push.example.com", "*.far.example"], addresses: ["10.0.0.1"])
    let asked = CertificateNames(
      names: ["push.example.com", "a.far.example", "far.example", "a.b.far.example"], addresses: ["10.0.0.1", "::1"])
    #expect(present.missing(of: asked) == ["far.example", "a.b.far.example", "::1"])
    #expect(present.missing(of: present).isEmpty)
  }

  @Test(arguments: ["", "a b", "a,DNS:b", "a\n", "ä", String(repeating: "a", count: 254)])
  func `what is no host name is left out`(_ name: String) {
    #expect(!CertificateNames.isHostName(name))
    #expect(CertificateNames(names: [name], addresses: []).names.isEmpty)
  }

  @Test(arguments: ["", "1.2.3", "1.2.3.4.5", "::g", "localhost", "1.2.3.4 "])
  func `what is no address is left out`(_ address: String) {
    #expect(CertificateNames.canonical(address: address) == nil)
    #expect(CertificateNames(names: [], addresses: [address]).addresses.isEmpty)
  }

  @Test func `the issuer of a certificate is named by its organization and its common name`() throws {
    let issued = try CertificateAuthority().issueServer(names: ["localhost"], addresses: []).certificatePEM
    #expect(CertificateIssuer.name(ofPEM: issued) == "PushGateway local CA")
    #expect(CertificateIssuer.name(ofPEM: Array("nothing".utf8)) == nil)
    // Issued by openssl, with the subject /C=US/O=Example Trust/CN=R1.
    let other = """
      -----BEGIN CERTIFICATE-----
      MIIBuzCCAWGgAwIBAgIUCB2bRhaX8+84GbpFd7UwHMwpcx4wCgYIKoZIzj0EAwIw
      MjELMAkGA1UEBhMCVVMxFjAUBgNVBAoMDUV4YW1wbGUgVHJ1c3QxCzAJBgNVBAMM
      AlIxMCAXDTI2MTEyODA5MTE1M1oYDzIxMjYxMTA0MDkxMTUzWjAyMQswCQYDVQQG
      EwJVUzEWMBQGA1UECgwNRXhhbXBsZSBUcnVzdDELMAkGA1UEAwwCUjEwWTATBgcq
      hkjOPQIBBggqhkjOPQMBBwNCAAT5/uFSLIQ7/y9864oGFoui9yqdHm6NZS7B/9TL
      QJfddxgbaLw8KxRHyw3WfyxFcjTAE1jFqI/fbXIDQUoH6PtOo1MwUTAdBgNVHQ4E
      FgQUd2Lv0YK11wsFHDqRYBvXW/M115kwHwYDVR0jBBgwFoAUd2Lv0YK11wsFHDqR
      YBvXW/M115kwDwYDVR0TAQH/BAUwAwEB/zAKBggqhkjOPQQDAgNIADBFAiEAlmAc
      PZzXDY5PrhEjfLuqzJLnVlcvCks54Ys9Ylcr08gCIB7MmEE7i3nzDRDOeG2sfEKo
      HrnfW6TlDIDIvh2c3g7J
      -----END CERTIFICATE-----
      """
    #expect(CertificateIssuer.name(ofPEM: Array(other.utf8)) == "Example Trust, R1")
  }

  @Test func `it is known which authority has issued a certificate`() throws {
    let (own, other) = (try CertificateAuthority(), try CertificateAuthority())
    let pem = try own.issueServer(names: ["localhost"], addresses: []).certificatePEM
    #expect(CertificateAuthority.hasIssued(pem, authorities: own.certificatePEM))
    #expect(CertificateAuthority.hasIssued(pem, authorities: other.certificatePEM + own.certificatePEM))
    // A CA of the same name with another key.
    #expect(!CertificateAuthority.hasIssued(pem, authorities: other.certificatePEM))
    #expect(!CertificateAuthority.hasIssued(pem, authorities: []))
    #expect(!CertificateAuthority.hasIssued([], authorities: own.certificatePEM))
  }
}
