import PushTesting
import Testing

@testable import HTTP2Transport
@testable import PushCore

@Suite struct PeerIdentityTests {
  let topic = "com.example.news"

  func issue(_ files: TLSFiles, _ environments: [PushCore.Environment] = [.development], days: Int = 30) throws
    -> ClientIdentity
  {
    let issued = try files.authority.issueProvider(
      topic: topic, topics: [(topic, "app"), (topic + ".voip", "voip")], environments: environments, days: days)
    return ClientIdentity(
      certificatePath: try files.folder.write(issued.certificatePEM, "client.pem"),
      keyPath: try files.folder.write(issued.keyPEM, "client.key"))
  }

  /// Returns the identity that the server reads from a client's certificate.
  func seen(_ identity: ClientIdentity?, _ files: TLSFiles, trust: [String]? = nil) throws -> PeerIdentity? {
    let pair = try TLSPair(
      client: TLSConnection(client: .client(trustPath: files.trust, identity: identity), host: "localhost"),
      server: TLSConnection(
        server: .server(
          certificatePath: files.certificate, keyPath: files.key, clientTrustPaths: trust ?? [files.trust])))
    var atHandshake: PeerIdentity?
    pair.server.established = { [server = pair.server] in atHandshake = server.peerIdentity }
    try pair.run()
    #expect(pair.server.isEstablished)
    #expect(pair.server.peerIdentity == atHandshake)
    #expect(pair.server.serverName == "localhost")
    return atHandshake
  }

  @Test func `an issued certificate says its topics and environments`() throws {
    let files = try TLSFiles()
    let identity = try #require(try seen(try issue(files), files))
    #expect(identity.fault == nil)
    #expect(identity.topic == topic)
    #expect(identity.topics == [topic, topic + ".voip"])
    #expect(identity.environments == [.development])
    #expect((29..<31).contains((identity.expires - WallClock.system.seconds + 3600) / 86_400))
    #expect(try PeerIdentity(pem: files.folder.read("client.pem")) == identity)
    #expect(try seen(try issue(files, [.production]), files)?.environments == [.production])
    #expect(try seen(try issue(files, [.development, .production]), files)?.environments.count == 2)
  }

  @Test func `a client without a certificate is nobody, and is served`() throws {
    let files = try TLSFiles()
    #expect(try seen(nil, files) == nil)
    #expect(try seen(nil, files, trust: []) == nil)
  }

  @Test func `a server of HTTP 1_1 asks for no certificate`() throws {
    let files = try TLSFiles()
    let pair = try TLSPair(
      client: TLSConnection(
        client: .client(trustPath: files.trust, identity: try issue(files)), host: "localhost", of: .http1),
      server: TLSConnection(
        server: .server(
          certificatePath: files.certificate, keyPath: files.key, clientTrustPaths: [files.trust]), of: .http1))
    try pair.run()
    #expect(pair.server.isEstablished && pair.server.peerIdentity == nil)
  }

  @Test func `a certificate that can't be trusted has a fault, and the handshake goes through`() throws {
    let (files, other) = (try TLSFiles(), try TLSFiles())
    #expect(try seen(try issue(other), files)?.fault != nil)
    #expect(try seen(try issue(other), files, trust: [files.trust, other.trust])?.fault == nil)
    #expect(try seen(try issue(files, days: -1), files)?.fault == "certificate has expired")
    // A server certificate is not valid for clients and has no topic.
    let server = ClientIdentity(certificatePath: files.certificate, keyPath: files.key)
    #expect(try seen(server, files)?.fault != nil)
    #expect(try seen(server, files)?.topics == [])
  }

  /// The client chooses the keys of such a chain, and with them the cost of checking its signatures. If OpenSSL checked
  /// the signatures, the fault would be "unable to verify the first certificate".
  @Test func `a chain without a trusted end is left before its signatures are looked at`() throws {
    let (files, other) = (try TLSFiles(), try TLSFiles())
    #expect(try seen(try issue(other), files)?.fault == "unable to get local issuer certificate")
  }

  @Test func `a chain is no larger than its limit`() throws {
    let files = try TLSFiles()
    let identity = try issue(files)
    let pem = try files.folder.read("client.pem")
    func chain(of count: Int) throws -> ClientIdentity {
      let path = try files.folder.write(Array(repeatElement(pem, count: count).joined()), "\(count).pem")
      return ClientIdentity(certificatePath: path, keyPath: identity.keyPath)
    }
    #expect(try seen(chain(of: 4), files)?.fault == nil)
    #expect(throws: TLSError.self) { try seen(chain(of: 75), files) }
  }

  @Test func `the largest list of topics that is issued fits into the chain's limit`() throws {
    let files = try TLSFiles()
    let entry = PeerIdentity.maximumEntrySize(topic: "com.example.0000", kind: "app")
    let topics = (0..<PeerIdentity.maximumListSize / entry).map { (topic: "com.example.\(1000 + $0)", kind: "app") }
    func issued(_ topics: [(topic: String, kind: String)]) throws -> ClientIdentity {
      let pem = try files.authority.issueProvider(
        topic: topic, topics: topics, environments: [.development, .production], days: 1)
      return ClientIdentity(
        certificatePath: try files.folder.write(pem.certificatePEM, "large.pem"),
        keyPath: try files.folder.write(pem.keyPEM, "large.key"))
    }
    #expect(try seen(issued(topics), files)?.topics.count == topics.count)
    #expect(throws: TLSError.self) { try issued(topics + [("com.example.more", "app")]) }
  }

  @Test func `a list of topics is read with and without another wrapping`() {
    let long = String(repeating: "x", count: 200)
    let topics = [("com.example.a", "app"), ("com.example.a.voip", "voip"), (long, "app")]
    let der = PeerIdentity.der(topics: topics.map { (topic: $0.0, kind: $0.1) })
    #expect(PeerIdentity.topics(der: der) == topics.map(\.0))
    #expect(
      PeerIdentity.topics(der: [0x04, 0x82, UInt8(der.count >> 8), UInt8(der.count & 0xFF)] + der) == topics.map(\.0))
    #expect(
      PeerIdentity.der(topics: [("a", "app")]) == [0x30, 10, 0x0C, 1, 0x61, 0x30, 5, 0x0C, 3] + Array("app".utf8))
  }

  /// Without the check, OpenSSL would ask for the password on the terminal.
  @Test func `an encrypted certificate is refused, and nobody is asked for its password`() {
    let pem = """
      -----BEGIN CERTIFICATE-----
      Proc-Type: 4,ENCRYPTED
      DEK-Info: AES-128-CBC,00112233445566778899AABBCCDDEEFF

      AAAAAAAAAAAAAAAAAAAAAA==
      -----END CERTIFICATE-----

      """
    #expect(throws: TLSError.self) { try PeerIdentity(pem: Array(pem.utf8)) }
  }

  @Test func `what is no list of topics holds none, however it is cut`() {
    let der = PeerIdentity.der(topics: [("com.example.a", "app"), (String(repeating: "x", count: 300), "app")])
    for end in der.indices { #expect(PeerIdentity.topics(der: Array(der[..<end])) == []) }
    #expect(PeerIdentity.topics(der: [0x05, 0x00]) == [])
    #expect(PeerIdentity.topics(der: [0x30, 0x84, 0, 0, 0, 0]) == [])
  }
}
