import Foundation
import Glibc

/// The folder that holds everything a gateway keeps (design §7), and what a first start puts there.
public struct StateFolder: Sendable {
  public let path: String

  public init(_ path: String) { self.path = path }

  /// The trust anchor for clients.
  public var trustPath: String { path + "/ca.pem" }
  /// The admin socket.
  public var adminSocket: String { path + "/admin.sock" }
  /// One `HOST:PORT` a line, while a gateway is ready.
  public var listeningPath: String { path + "/listening" }
  /// The first start's development key.
  public var developmentPath: String { path + "/development.json" }
  /// Clients on this machine keep their secrets and cursors here.
  public var devicesPath: String { path + "/devices" }
  var databasePath: String { path + "/pushgateway.sqlite" }
  var logPath: String { path + "/delivery-log.sqlite" }
  /// What the gateway shows to clients.
  public var certificatePath: String { path + "/server.pem" }
  var keyPath: String { path + "/server.key" }
  private var authorityKeyPath: String { path + "/ca.key" }
  private var lockPath: String { path + "/lock" }

  /// The development key of a first start.
  public struct Development: Codable, Sendable {
    public var teamID: String
    public var keyID: String
    public var keyPath: String
    public var topic: String

    enum CodingKeys: String, CodingKey {
      case teamID = "team_id"
      case keyID = "key_id"
      case keyPath = "key_path"
      case topic
    }
  }

  /// A folder that can't be used, in one line.
  public struct Failure: Error, CustomStringConvertible {
    public var description: String
  }

  /// That one gateway alone uses a folder; given up with the last reference, and with the process.
  final class Claim: Sendable {
    private let file: Int32

    fileprivate init(file: Int32) { self.file = file }

    deinit { close(file) }
  }

  /// Makes the folder, and sees to it that one gateway alone uses it for as long as the claim is held.
  func claim() throws(Failure) -> Claim {
    do {
      try FileManager.default.createDirectory(
        atPath: path, withIntermediateDirectories: true, attributes: [.posixPermissions: 0o700])
    } catch {
      throw Failure(description: "the state folder \(path) can't be made: choose another with --state DIR")
    }
    let lock = unsafe open(lockPath, O_RDWR | O_CREAT | O_CLOEXEC, 0o600)
    guard lock >= 0 else {
      throw Failure(
        description:
          "the state folder \(path) can't be written (\(reason(errno))): mend its permissions or choose another with --state DIR"
      )
    }
    let claim = Claim(file: lock)
    guard flock(lock, LOCK_EX | LOCK_NB) == 0 else {
      throw Failure(description: "another gateway runs on \(path): stop it, or choose another folder with --state DIR")
    }
    return claim
  }

  /// Makes a local authority and a server certificate, unless there are some.
  func prepareCertificates() throws {
    let files = FileManager.default
    guard !files.fileExists(atPath: certificatePath) || !files.fileExists(atPath: keyPath) else { return }
    if !files.fileExists(atPath: trustPath) || !files.fileExists(atPath: authorityKeyPath) {
      let authority = try CertificateAuthority()
      try write(authority.keyPEM, to: authorityKeyPath, mode: 0o600)
      try write(authority.certificatePEM, to: trustPath, mode: 0o644)
    }
    try install(try authority().issueServer(names: ["localhost"], addresses: ["127.0.0.1", "::1"]))
  }

  /// The gateway's own authority.
  func authority() throws -> CertificateAuthority {
    let files = FileManager.default
    guard let certificate = files.contents(atPath: trustPath), let key = files.contents(atPath: authorityKeyPath) else {
      throw Failure(description: "the authority's \(trustPath) and \(authorityKeyPath) can't be read: put them back")
    }
    do {
      return try CertificateAuthority(certificatePEM: Array(certificate), keyPEM: Array(key))
    } catch {
      throw Failure(
        description: "\(trustPath) or \(authorityKeyPath) can't be used (\(error)): delete both to have new ones made")
    }
  }

  /// Makes a certificate the server's, for listeners that begin or reload after this.
  func install(_ server: (certificatePEM: [UInt8], keyPEM: [UInt8])) throws {
    try write(server.keyPEM, to: keyPath, mode: 0o600)
    try write(server.certificatePEM, to: certificatePath, mode: 0o644)
  }

  /// The TLS configuration of the server's certificate, asking clients for certificates of these authorities.
  func serverContext(clientTrust: [String]) throws -> TLSContext {
    // A folder may have a server's certificate from elsewhere and no authority of its own.
    let trusted = clientTrust.filter { $0 != trustPath || FileManager.default.fileExists(atPath: $0) }
    return try TLSContext.server(certificatePath: certificatePath, keyPath: keyPath, clientTrustPaths: trusted)
  }

  /// Makes a development team, its key and a sample app, unless a first start has done so.
  func prepareDevelopment(_ registrations: any Registrations) async throws {
    guard !FileManager.default.fileExists(atPath: developmentPath) else { return }
    let (team, topic) = ("DEVTEAM001", "com.example.news")
    let key = try ES256Key.generate()
    let keyID = "DEV" + String(decoding: Digest.random(count: 7).map { UInt8(ascii: "A") + $0 % 26 }, as: UTF8.self)
    try await registrations.addTeam(team)
    try await registrations.addKey(
      ProviderKey(id: keyID, team: team, publicKey: key, environment: nil, topics: nil))
    _ = try await registrations.putApp(
      topic: topic, name: "News", icon: "📰", policyMode: .enforce, isStrict: false, ads: .standard)
    let keyPath = path + "/AuthKey_\(keyID).p8"
    try write(key.privatePEM, to: keyPath, mode: 0o600)
    let development = Development(
      teamID: team, keyID: keyID, keyPath: absolute("AuthKey_\(keyID).p8"), topic: topic)
    try write(controlJSON(development), to: developmentPath, mode: 0o600)
  }

  /// The whole path of a file in the folder.
  func absolute(_ name: String) -> String { URL(fileURLWithPath: path + "/" + name).path }

  /// Says where the gateway listens, for as long as it does.
  func announce(_ addresses: [String]) throws {
    try write(Array((addresses.joined(separator: "\n") + "\n").utf8), to: listeningPath, mode: 0o644)
  }

  func withdraw() {
    try? FileManager.default.removeItem(atPath: listeningPath)
    try? FileManager.default.removeItem(atPath: adminSocket)
  }

  /// Replaces a file as a whole: nobody ever sees half of it.
  func write(_ bytes: [UInt8], to path: String, mode: Int) throws(Failure) {
    let draft = path + ".new"
    let files = FileManager.default
    try? files.removeItem(atPath: draft)
    guard files.createFile(atPath: draft, contents: Data(bytes), attributes: [.posixPermissions: mode]),
      unsafe rename(draft, path) == 0
    else {
      throw Failure(
        description: "\(path) can't be written (\(reason(errno))): check the disk and the folder's permissions")
    }
  }

  /// What the system calls an error.
  private func reason(_ code: Int32) -> String { unsafe String(cString: strerror(code)) }
}
