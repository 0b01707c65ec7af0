import Foundation
import PushTesting
import Testing

@testable import GatewayProtocol
@testable import HTTP2Transport
@testable import PushCore
@testable import PushGateway

/// The renewal of the gateway's own certificates before they expire.
@Suite struct CertificateRenewalTests {
  let temporary: TemporaryFolder
  var folder: StateFolder { StateFolder(temporary.file("state")) }
  private let names = CertificateNames(names: ["localhost", "push.example.com"], addresses: ["127.0.0.1", "10.0.0.1"])

  init() throws {
    temporary = try TemporaryFolder()
    try PrivateFile.createFolder(folder.path)
    try folder.prepareCertificates()
    _ = try folder.issueServer(names, isInstalled: true)
  }

  private func configuration(_ flags: [String: String] = [:]) throws -> Configuration {
    try Configuration(state: folder.path, flags: flags, file: nil, environment: [:])
  }

  private var certificate: [UInt8] { Array(FileManager.default.contents(atPath: folder.certificatePath) ?? Data()) }

  private var end: Int64 {
    get throws { try #require(CertificateExpiry.seconds(ofFile: folder.certificatePath)) }
  }

  @Test func `a certificate is renewed 30 days before its end, with the same names`() throws {
    let (before, due) = (certificate, try end - 30 * 86_400)
    #expect(try !folder.renewCertificate(now: due))
    #expect(certificate == before)
    #expect(try folder.renewCertificate(now: due + 1))
    #expect(certificate != before)
    #expect(CertificateNames(pem: certificate) == names)
    _ = try ServerCertificate(folder, try configuration())
  }

  @Test func `one that has ended no longer keeps a gateway from starting`() throws {
    let issued = try folder.authority().issueServer(names: names.names, addresses: names.addresses, lifetime: -30)
    try folder.install(issued)
    #expect(throws: (any Error).self) { try ServerCertificate(folder, try configuration()) }
    #expect(try folder.renewCertificate(now: WallClock.system.seconds))
    _ = try ServerCertificate(folder, try configuration())
    #expect(folder.ownNames == names)
  }

  @Test func `one of another authority is left alone`() throws {
    try folder.install(try CertificateAuthority().issueServer(names: ["push.example.com"], addresses: []))
    let before = certificate
    #expect(try !folder.renewCertificate(now: try end))
    #expect(certificate == before)
    for path in [folder.trustPath, folder.authorityKeyPath] { try FileManager.default.removeItem(atPath: path) }
    #expect(try !folder.renewCertificate(now: try end))
  }

  @Test func `a gateway that runs uses the new one at once, and looks once an hour`() throws {
    let server = try ServerCertificate(folder, try configuration())
    let (context, now) = (server.source.context, try end / 3600 * 3600)
    #expect(try !server.renew(now: now - 40 * 86_400))
    #expect(server.source.context === context)
    #expect(try server.renew(now: now))
    #expect(server.source.context !== context)
    // The gateway's own renewal is not reported as a change by others.
    #expect(server.look() == nil)
    try folder.install(
      try folder.authority().issueServer(names: ["localhost"], addresses: [], lifetime: 86_400))
    #expect(try !server.renew(now: now + 3599))
    // A certificate that was installed by other means is found at the next check.
    #expect(server.look() == .replaced)
    #expect(try server.renew(now: now + 3599))
    #expect(folder.ownNames?.names == ["localhost"])
  }

  @Test func `one that the settings name is not the gateway's to renew`() throws {
    let (pem, key) = (temporary.file("other.pem"), temporary.file("other.key"))
    try FileManager.default.copyItem(atPath: folder.certificatePath, toPath: pem)
    try FileManager.default.copyItem(atPath: folder.keyPath, toPath: key)
    let server = try ServerCertificate(folder, try configuration(["certificate": pem, "certificate_key": key]))
    #expect(!server.isOwn)
    #expect(try !server.renew(now: try end))
  }

  @Test func `where it can't be renewed the reason is said, every hour`() throws {
    let server = try ServerCertificate(folder, try configuration())
    try FileManager.default.removeItem(atPath: folder.authorityKeyPath)
    let now = try end
    for hour in [0, 1] as [Int64] {
      let error = #expect(throws: StateFolder.Failure.self) { _ = try server.renew(now: now + hour * 3600) }
      #expect(error?.description.contains("ca.key") == true)
      #expect(try !server.renew(now: now + hour * 3600))
    }
  }

  // MARK: Names

  private func post(
    _ body: String, configured: String? = nil
  ) async throws -> (status: Int, created: CreatedCertificate?) {
    let folder = folder
    return try await { () async throws -> (Int, CreatedCertificate?) in
      let gateway = try await TestGateway()
      let api = CertificatesAPI(
        registrations: gateway.registrations, clock: gateway.parts.clock, cluster: nil, folder: folder, reload: {},
        configured: { configured })
      let route = try #require(api.routes.first { $0.pattern.last == "server" })
      let request = ControlRequest(
        method: "POST", target: "/admin/v1/certificates/server", body: Array(body.utf8), authorization: nil,
        from: .adminSocket)
      var answer: (Int, CreatedCertificate?)
      do {
        let response = try await route.serve(request)
        answer = (response.status, try decodeJSON(CreatedCertificate.self, from: response.body))
      } catch let problem as Problem {
        answer = (problem.status, nil)
      }
      await gateway.stop()
      return answer
    }()
  }

  @Test func `names are added to those that are there, and nothing is issued for none`() async throws {
    let added = try await post(
      #"{"names":["a.example"],"addresses":["10.0.0.2"],"installed":true,"keeps":true}"#)
    #expect(added.status == 201 && added.created?.key == "")
    #expect(folder.ownNames == names.union(.init(names: ["a.example"], addresses: ["::1", "10.0.0.2"])))
    let before = certificate
    let again = try await post(#"{"names":["A.example"],"addresses":["10.0.0.2"],"installed":true,"keeps":true}"#)
    #expect(again.status == 200 && again.created?.certificate == String(decoding: before, as: UTF8.self))
    #expect(again.created?.key == "" && certificate == before)
    // Without `keeps`, the given names replace those of the certificate.
    #expect(try await post(#"{"names":["b.example"],"addresses":[],"installed":true}"#).status == 201)
    #expect(folder.ownNames?.names == ["localhost", "b.example"])
  }

  @Test func `names are not added to a certificate that is not the gateway's own`() async throws {
    let body = #"{"names":["a.example"],"addresses":[],"installed":true,"keeps":true}"#
    #expect(try await post(body, configured: folder.path + "/nothing.pem").status == 409)
    try folder.install(try CertificateAuthority().issueServer(names: ["push.example.com"], addresses: []))
    let before = certificate
    #expect(try await post(body).status == 409)
    #expect(certificate == before)
  }

  @Test func `a certificate of the settings is left as it is, and refused for the names that it lacks`() async throws {
    let path = folder.path + "/public.pem"
    let issued = try CertificateAuthority().issueServer(
      names: ["push.example.com", "*.far.example"], addresses: ["10.0.0.2"])
    try Data(issued.certificatePEM).write(to: URL(fileURLWithPath: path))
    func status(_ names: String, _ addresses: String = "", keeps: Bool = true) async throws -> Int {
      let body = #"{"names":[\#(names)],"addresses":[\#(addresses)],"installed":true,"keeps":\#(keeps)}"#
      return try await post(body, configured: path).status
    }
    let before = certificate
    #expect(try await status(#""Push.example.com","a.far.example""#, #""10.0.0.2""#) == 200)
    #expect(try await status(#""push.example.com""#, keeps: false) == 409)
    for name in ["other.example.com", "far.example", "a.b.far.example"] {
      #expect(try await status("\"\(name)\"") == 409, "\(name)")
    }
    #expect(try await status("", #""10.0.0.3""#) == 409)
    #expect(certificate == before)
  }

  // MARK: Rollover

  @Test func `the next authority is told beside the present one, and then takes its place`() throws {
    let (old, server) = (folder.trustBundle, certificate)
    #expect(throws: StateFolder.Failure.self) { try folder.finishRollover() }
    try folder.beginRollover()
    let both = folder.trustBundle
    #expect(both.starts(with: old) && both.count > old.count)
    let next = Array(both.dropFirst(old.count))
    try folder.beginRollover()
    #expect(folder.trustBundle == both)
    #expect(certificate == server)

    try folder.finishRollover()
    #expect(folder.trustBundle == next)
    #expect(CertificateAuthority.hasIssued(certificate, authorities: next))
    #expect(folder.ownNames == names)
    #expect(Array(FileManager.default.contents(atPath: folder.previousTrustPath) ?? Data()) == old)
    // The key and the certificate match.
    let issued = try folder.authority().issueServer(names: ["a"], addresses: [])
    #expect(CertificateAuthority.hasIssued(issued.certificatePEM, authorities: next))
    _ = try ServerCertificate(folder, try configuration())
    #expect(throws: StateFolder.Failure.self) { try folder.finishRollover() }
  }

  @Test(arguments: [["ca.key"], ["ca.pem"], ["ca.key", "ca.pem"], ["server.pem", "server.key", "ca.pem", "ca.key"]])
  func `a rollover that was cut short is finished by doing it again`(_ left: [String]) throws {
    try folder.beginRollover()
    let files = FileManager.default
    func saved(_ names: [String]) -> [String: Data] {
      Dictionary(
        uniqueKeysWithValues: names.compactMap { name in
          files.contents(atPath: folder.path + "/" + name).map { (name, $0) }
        })
    }
    let before = saved(left + ["ca-next.pem", "ca-next.key"])
    try folder.finishRollover()
    // The state before these files were written.
    for (name, content) in before { try folder.write(Array(content), to: folder.path + "/" + name, mode: 0o600) }
    let previous = files.contents(atPath: folder.previousTrustPath)
    try folder.finishRollover()
    let next = try #require(before["ca-next.pem"])
    #expect(folder.trustBundle == Array(next))
    #expect(CertificateAuthority.hasIssued(certificate, authorities: Array(next)))
    if !left.contains("ca.pem") { #expect(files.contents(atPath: folder.previousTrustPath) == previous) }
    _ = try ServerCertificate(folder, try configuration())
  }

  @Test func `so many authorities of the past are kept, and no more`() throws {
    for _ in 0..<6 {
      try folder.beginRollover()
      try folder.finishRollover()
    }
    let previous = String(
      decoding: try #require(FileManager.default.contents(atPath: folder.previousTrustPath)), as: UTF8.self)
    #expect(previous.ranges(of: "BEGIN CERTIFICATE").count == 4)
    _ = try ServerCertificate(folder, try configuration())
  }
}
