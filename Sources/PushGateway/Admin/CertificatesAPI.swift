import Foundation
import GatewayProtocol
import HTTP2Transport
import PushCore
import PushStorage

/// `/admin/v1/certificates…`: the gateway's own authority at work (reference §4.5).
struct CertificatesAPI: Sendable {
  let services: Services
  let folder: StateFolder
  /// Has the listeners use the server's certificate that is in the folder now.
  let reload: @Sendable () throws -> Void

  var routes: [Router.Route] {
    [
      .init("GET", "/admin/v1/certificates", .reader) { _ in
        Response(services.registrations.certificates.map(CertificateRecord.init))
      },
      .init("POST", "/admin/v1/certificates", .admin, create),
      .init("POST", "/admin/v1/certificates/server", .admin, createServer),
      .init("POST", "/admin/v1/certificates/revocations", .admin, revoke),
    ]
  }

  private func create(_ request: ControlRequest) async throws -> Response {
    let wanted: CertificateRequest = try request.decoded()
    guard Topic.isWellFormed(wanted.topic.utf8) else {
      throw Problem.badRequest("\(wanted.topic) is no topic: letters, digits, hyphens and dots, as com.example.app")
    }
    guard (1...3650).contains(wanted.days) else { throw Problem.badRequest("a certificate lasts from 1 to 3650 days") }
    var topics = [(topic: wanted.topic, kind: "app")] + wanted.topics.map { ($0, "app") }
    for kind in wanted.kinds {
      guard let type = PushType(Array(kind.utf8).span), !type.topicSuffix.isEmpty else {
        throw Problem.badRequest("\(kind) is no kind of push with a topic of its own: voip, complication, …")
      }
      topics.append((wanted.topic + type.topicSuffix, kind))
    }
    let environments = wanted.environment.flatMap(Environment.init).map { [$0] } ?? [.development, .production]
    let issued = try folder.authority().issueProvider(
      topic: wanted.topic, topics: topics, environments: environments, days: wanted.days)
    let identity = try PeerIdentity(pem: issued.certificatePEM)
    let record = ProviderCertificate(
      fingerprint: identity.fingerprint, topic: identity.topic, topics: identity.topics,
      environments: identity.environments, expires: identity.expires)
    try await services.registrations.putCertificate(record)
    return Response(created(issued, id: record.id), status: 201)
  }

  private func createServer(_ request: ControlRequest) async throws -> Response {
    let wanted: ServerCertificateRequest = try request.decoded()
    for name in wanted.names where !name.utf8.allSatisfy({ isHostNameCharacter($0) }) || name.isEmpty {
      throw Problem.badRequest("\(name) is no host name")
    }
    for address in wanted.addresses where !address.utf8.allSatisfy({ hexValue($0) != nil || ".:".utf8.contains($0) }) {
      throw Problem.badRequest("\(address) is no address")
    }
    let issued = try folder.authority().issueServer(
      names: ["localhost"] + wanted.names, addresses: ["127.0.0.1", "::1"] + wanted.addresses)
    if wanted.isInstalled {
      try folder.install(issued)
      try reload()
    }
    let id = Digest.sha256(issued.certificatePEM).prefix(8).flatMap { [hexDigit($0 >> 4), hexDigit($0 & 15)] }
    return Response(created(issued, id: String(decoding: id, as: UTF8.self)), status: 201)
  }

  private func revoke(_ request: ControlRequest) async throws -> Response {
    let wanted: RevocationRequest = try request.decoded()
    let registrations = services.registrations
    var certificate: ProviderCertificate
    if let pem = wanted.certificate {
      let identity: PeerIdentity
      do {
        identity = try PeerIdentity(pem: Array(pem.utf8))
      } catch {
        throw Problem.badRequest("this is no certificate: \(error)")
      }
      certificate = ProviderCertificate(
        fingerprint: identity.fingerprint, topic: identity.topic, topics: identity.topics,
        environments: identity.environments, expires: identity.expires)
    } else {
      let id = wanted.id?.lowercased() ?? ""
      guard let known = registrations.certificates.first(where: { $0.id == id }) else {
        throw Problem.notFound("there is no certificate \(id): `pushcli certs list` shows them")
      }
      certificate = known
    }
    certificate.revoked = certificate.revoked ?? services.clock.milliseconds()
    try await registrations.putCertificate(certificate)
    return Response(CertificateRecord(certificate))
  }

  private func created(_ issued: (certificatePEM: [UInt8], keyPEM: [UInt8]), id: String) -> CreatedCertificate {
    CreatedCertificate(
      id: id, certificate: String(decoding: issued.certificatePEM, as: UTF8.self),
      key: String(decoding: issued.keyPEM, as: UTF8.self))
  }

  /// Letters, digits, hyphens and dots, and the star of a wildcard.
  private func isHostNameCharacter(_ byte: UInt8) -> Bool {
    Topic.isWellFormed(CollectionOfOne(byte)) || byte == UInt8(ascii: "*")
  }
}
