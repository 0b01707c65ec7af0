import Foundation
import GatewayProtocol
import HTTP2Transport
import PushCore
import PushStorage

/// The routes `/admin/v1/certificates…`: the gateway's own CA (APNs reference §4.5).
struct CertificatesAPI: Sendable {
  let registrations: any Registrations
  let clock: WallClock
  /// The cluster of the gateway; nil for a standalone gateway.
  let cluster: (any Cluster)?
  let folder: StateFolder
  /// Loads the server's certificate from the folder again, for all listeners.
  let reload: @Sendable () throws -> Void
  /// Returns the certificate file in the settings; nil while the listeners use the one in the folder.
  var configured: @Sendable () -> String? = { nil }

  /// The public route: the CA certificates that a device should trust.
  var publicRoutes: [Router.Route] {
    [
      .init("GET", "/v1/authority") { _ in
        let bundle = folder.trustBundle
        guard !bundle.isEmpty else {
          throw Problem.notFound(
            "this gateway has no certificate authority (CA) of its own: another CA issued its certificate")
        }
        return Response(status: 200, contentType: "application/x-pem-file", body: bundle)
      }
    ]
  }

  var routes: [Router.Route] {
    [
      .init("GET", .certificates, .reader) { _ in
        Response(registrations.certificates.map(CertificateRecord.init))
      },
      .init("POST", .certificates, .admin, create),
      .init("POST", .serverCertificate, .admin, createServer),
      .init("POST", .certificateRollover, .admin, rollOver),
      .init("POST", .certificateRevocations, .admin, revoke),
    ]
  }

  private func create(_ request: ControlRequest) async throws -> Response {
    let body: CertificateRequest = try request.decoded()
    guard Topic.isWellFormed(body.topic.utf8) else {
      throw Problem.badRequest(
        "invalid topic \"\(body.topic)\": expected letters, digits, hyphens and dots, as com.example.app")
    }
    try Problem.check(body.days, 1...3650, "number of days")
    var topics = [(topic: body.topic, kind: "app")] + body.topics.map { ($0, "app") }
    for kind in body.kinds {
      guard let type = PushType(Array(kind.utf8).span), !type.topicSuffix.isEmpty else {
        throw Problem.badRequest(
          "invalid kind \"\(kind)\": expected a push type with a topic of its own, as voip or complication")
      }
      topics.append((body.topic + type.topicSuffix, kind))
    }
    let environments = body.environment.flatMap(Environment.init).map { [$0] } ?? [.development, .production]
    let issued = try folder.authority().issueProvider(
      topic: body.topic, topics: topics, environments: environments, days: body.days)
    let identity = try PeerIdentity(pem: issued.certificatePEM)
    let record = ProviderCertificate(
      fingerprint: identity.fingerprint, topic: identity.topic, topics: identity.topics,
      environments: identity.environments, expires: identity.expires)
    try await registrations.putCertificate(record)
    return Response(created(issued, id: record.id), status: 201)
  }

  private func createServer(_ request: ControlRequest) async throws -> Response {
    let body: ServerCertificateRequest = try request.decoded()
    for name in body.names where !CertificateNames.isHostName(name) {
      throw Problem.badRequest("invalid host name \"\(name)\": expected a DNS name, as push.example.com")
    }
    for address in body.addresses where CertificateNames.canonical(address: address) == nil {
      throw Problem.badRequest("invalid address \"\(address)\": expected an IP address")
    }
    if body.isInstalled, let path = configured() { return try certificateOfSettings(path, for: body) }
    var names = CertificateNames(
      names: ["localhost"] + body.names, addresses: ["127.0.0.1", "::1"] + body.addresses)
    if body.keeps {
      guard let present = folder.ownNames else {
        throw Problem(
          409, "Conflict", "the gateway's own CA did not issue \(folder.certificatePath): names can't be added to it"
        )
      }
      names = present.union(names)
      if body.isInstalled, names == present, !(body.names + body.addresses).isEmpty {
        return presentServer(folder.certificatePath)
      }
    }
    let issued = try folder.issueServer(names, isInstalled: body.isInstalled)
    if body.isInstalled { try reload() }
    // The key of an installed certificate stays in the folder and is not returned.
    return Response(
      created((issued.certificatePEM, body.isInstalled ? [] : issued.keyPEM), id: id(of: issued.certificatePEM)),
      status: 201)
  }

  /// Returns the certificate in the settings, if it already has all the names to add.
  ///
  /// - Throws: ``Problem`` for any other change of it: only its CA can issue one.
  private func certificateOfSettings(_ path: String, for body: ServerCertificateRequest) throws -> Response {
    let asked = CertificateNames(names: body.names, addresses: body.addresses)
    let present = FileManager.default.contents(atPath: path).flatMap { CertificateNames(pem: Array($0)) }
    guard body.keeps, let present, !(asked.names + asked.addresses).isEmpty else {
      throw Problem(
        409, "Conflict",
        "the certificate is managed outside the gateway (setting `certificate`): request one for the new names "
          + "from its CA")
    }
    let missing = present.missing(of: asked)
    guard missing.isEmpty else {
      throw Problem(
        409, "Conflict",
        "the certificate of the setting `certificate` is not issued for \(missing.joined(separator: ", ")): request one "
          + "with this name from its CA")
    }
    return presentServer(path)
  }

  /// Returns the response with an existing certificate.
  private func presentServer(_ path: String) -> Response {
    let pem = FileManager.default.contents(atPath: path).map { Array($0) } ?? []
    return Response(created((pem, []), id: id(of: pem)))
  }

  private func id(of pem: [UInt8]) -> String {
    String(decoding: Digest.sha256(pem).prefix(8).flatMap { [hexDigit($0 >> 4), hexDigit($0 & 15)] }, as: UTF8.self)
  }

  private func rollOver(_ request: ControlRequest) async throws -> Response {
    let body: RolloverRequest = try request.decoded()
    do {
      if body.isLast {
        try folder.finishRollover()
        try reload()
      } else {
        try folder.beginRollover()
      }
    } catch let failure as StateFolder.Failure {
      throw Problem(409, "Conflict", failure.description)
    }
    try await cluster?.publishAuthority(folder)
    return Response(
      RolloverRecord(
        authority: AuthorityFingerprint.text(ofCertificateFile: folder.trustPath),
        next: AuthorityFingerprint.text(ofCertificateFile: folder.nextTrustPath)), status: 201)
  }

  private func revoke(_ request: ControlRequest) async throws -> Response {
    let body: RevocationRequest = try request.decoded()
    var certificate: ProviderCertificate
    if let pem = body.certificate {
      let identity: PeerIdentity
      do {
        identity = try PeerIdentity(pem: Array(pem.utf8))
      } catch {
        throw Problem.badRequest("invalid certificate: \(error)")
      }
      certificate = ProviderCertificate(
        fingerprint: identity.fingerprint, topic: identity.topic, topics: identity.topics,
        environments: identity.environments, expires: identity.expires)
    } else {
      let id = body.id?.lowercased() ?? ""
      guard let known = registrations.certificates.first(where: { $0.id == id }) else {
        throw Problem.notFound("there is no certificate \(id): `pushcli certs list` shows them")
      }
      certificate = known
    }
    certificate.revoked = certificate.revoked ?? clock.milliseconds()
    try await registrations.putCertificate(certificate)
    return Response(CertificateRecord(certificate))
  }

  private func created(_ issued: (certificatePEM: [UInt8], keyPEM: [UInt8]), id: String) -> CreatedCertificate {
    CreatedCertificate(
      id: id, certificate: String(decoding: issued.certificatePEM, as: UTF8.self),
      key: String(decoding: issued.keyPEM, as: UTF8.self))
  }
}
