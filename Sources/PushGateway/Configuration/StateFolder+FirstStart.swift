import Foundation
import HTTP2Transport
import PushCore
import PushStorage

extension StateFolder {
  /// Creates a local CA and a server certificate, unless they exist.
  func prepareCertificates() throws {
    let files = FileManager.default
    guard !files.fileExists(atPath: certificatePath) || !files.fileExists(atPath: keyPath) else { return }
    let isNew = !files.fileExists(atPath: trustPath) || !files.fileExists(atPath: authorityKeyPath)
    let authority = try isNew ? CertificateAuthority() : self.authority()
    if isNew {
      try write(authority.keyPEM, to: authorityKeyPath, mode: 0o600)
      try write(authority.certificatePEM, to: trustPath, mode: 0o644)
    }
    try install(try authority.issueServer(names: ["localhost"], addresses: ["127.0.0.1", "::1"]))
  }

  /// Returns the gateway's own CA.
  func authority() throws -> CertificateAuthority {
    let files = FileManager.default
    guard let certificate = files.contents(atPath: trustPath), let key = files.contents(atPath: authorityKeyPath) else {
      throw Failure(description: "the CA's \(trustPath) and \(authorityKeyPath) can't be read: restore them")
    }
    do {
      return try CertificateAuthority(certificatePEM: Array(certificate), keyPEM: Array(key))
    } catch {
      throw Failure(
        description:
          "\(trustPath) or \(authorityKeyPath) can't be used (\(error)): delete both, and the gateway creates new ones")
    }
  }

  /// Installs a server certificate, for listeners that begin or reload after this.
  func install(_ server: (certificatePEM: [UInt8], keyPEM: [UInt8])) throws {
    try write(server.keyPEM, to: keyPath, mode: 0o600)
    try write(server.certificatePEM, to: certificatePath, mode: 0o644)
  }

  /// Returns the TLS configuration with the server's certificate, which requests client certificates of the trusted
  /// CAs.
  func serverContext(_ configuration: Configuration) throws -> TLSContext {
    // A folder may contain a server certificate of another CA, and no CA of its own.
    let own = [trustPath, previousTrustPath].filter { FileManager.default.fileExists(atPath: $0) }
    return try TLSContext.server(
      certificatePath: configuration.certificate ?? certificatePath, keyPath: configuration.certificateKey ?? keyPath,
      clientTrustPaths: own + (configuration.clientCA.map { [$0] } ?? []))
  }

  /// Writes the certificate that a gateway presents to the file where clients on this machine look for it.
  ///
  /// - Parameter certificate: PEM; nil if the certificate is from the gateway's own CA.
  /// - Throws: ``Failure`` if the folder can't be written.
  func show(_ certificate: [UInt8]?) throws(Failure) {
    let present = FileManager.default.contents(atPath: shownCertificatePath).map(Array.init)
    guard present != certificate else { return }
    guard let certificate else {
      try? FileManager.default.removeItem(atPath: shownCertificatePath)
      return
    }
    try write(certificate, to: shownCertificatePath, mode: 0o644)
  }

  /// Creates a development team, its key and a sample app, unless a first start has done so.
  func prepareDevelopment(_ registrations: any Registrations) async throws {
    guard !FileManager.default.fileExists(atPath: developmentPath) else { return }
    let (team, topic) = ("DEVTEAM001", "com.example.news")
    let key = try ES256Key.generate()
    let keyID = "DEV" + String(decoding: randomBytes(count: 7).map { UInt8(ascii: "A") + $0 % 26 }, as: UTF8.self)
    try await registrations.addTeam(team)
    try await registrations.addKey(
      ProviderKey(id: keyID, team: team, publicKey: key, environment: nil, topics: nil))
    // Another gateway of a cluster may have created the app, with its own settings.
    if !registrations.hasApp(topic: topic) {
      _ = try await registrations.putApp(
        topic: topic, name: "News", icon: "📰", policyMode: .enforce, isStrict: false, ads: .standard,
        team: team)
    }
    let keyPath = path + "/AuthKey_\(keyID).p8"
    try write(key.privatePEM, to: keyPath, mode: 0o600)
    let development = Development(
      teamID: team, keyID: keyID, keyPath: absolute("AuthKey_\(keyID).p8"), topic: topic)
    try write(controlJSON(development), to: developmentPath, mode: 0o600)
  }
}
