import Foundation
import Glibc

/// The folder with all data of a gateway (design §7), and the files that a first start creates there.
package struct StateFolder: Sendable {
  package let path: String

  package init(_ path: String) { self.path = path }

  /// The certificate of the CA that clients trust.
  package var trustPath: String { path + "/ca.pem" }
  /// A certificate of another CA that the gateway uses, for clients on this machine; missing if the gateway's own CA
  /// issued its certificate.
  package var shownCertificatePath: String { path + "/shown.pem" }
  package var adminSocket: String { path + "/admin.sock" }
  /// The file with the gateway's addresses, one `HOST:PORT` a line, while the gateway is ready.
  package var listeningPath: String { path + "/listening" }
  /// The file with the addresses of HTTP/1.1, one `HOST:PORT` or `https://HOST:PORT` a line, while the gateway is ready.
  package var httpListeningPath: String { path + "/http-listening" }
  /// The file with the development key of the first start.
  package var developmentPath: String { path + "/development.json" }
  /// The folder with the secrets and cursors of clients on this machine.
  package var devicesPath: String { path + "/devices" }
  /// The folder with the user's own sounds.
  package var soundsPath: String { path + "/sounds" }
  package var databasePath: String { path + "/pushgateway.sqlite" }
  package var logPath: String { path + "/delivery-log.sqlite" }
  package var certificatePath: String { path + "/server.pem" }
  package var keyPath: String { path + "/server.key" }
  package var authorityKeyPath: String { path + "/ca.key" }
  /// The certificate of the CA that replaces the current one, during a rollover.
  package var nextTrustPath: String { path + "/ca-next.pem" }
  package var nextAuthorityKeyPath: String { path + "/ca-next.key" }
  /// The certificates of the previous CAs, whose provider certificates are still valid.
  package var previousTrustPath: String { path + "/ca-previous.pem" }
  /// The file of ``ReservedSpace``.
  package var reservedSpacePath: String { path + "/ballast" }
  /// The file of a backup in progress.
  package var backupDraftPath: String { path + "/backup-draft" }
  /// The file with the id of this gateway in its cluster.
  package var gatewayIDPath: String { path + "/gateway-id" }
  private var lockPath: String { path + "/lock" }

  /// The development key of the first start.
  package struct Development: Codable, Sendable {
    package var teamID: String
    package var keyID: String
    package var keyPath: String
    package var topic: String

    package init(teamID: String, keyID: String, keyPath: String, topic: String) {
      (self.teamID, self.keyID, self.keyPath, self.topic) = (teamID, keyID, keyPath, topic)
    }

    package enum CodingKeys: String, CodingKey {
      case teamID = "team_id"
      case keyID = "key_id"
      case keyPath = "key_path"
      case topic
    }
  }

  /// The reason why a folder can't be used, in one line.
  package struct Failure: Error, CustomStringConvertible {
    package var description: String

    package init(description: String) { self.description = description }
  }

  /// The exclusive lock of a folder by one gateway; it is released with the last reference, and when the process
  /// ends.
  package final class Claim: Sendable {
    private let file: Int32
    /// True if other users could access the folder before; it was empty then.
    package let hasNarrowed: Bool

    fileprivate init(file: Int32, hasNarrowed: Bool) { (self.file, self.hasNarrowed) = (file, hasNarrowed) }

    deinit {
      // `close` alone keeps the lock while a child process has a copy of the descriptor, between `fork` and `exec`.
      flock(file, LOCK_UN)
      close(file)
    }
  }

  /// Creates the folder if it is missing, and locks it for one gateway as long as the returned claim exists.
  package func claim() throws(Failure) -> Claim {
    do {
      try PrivateFile.createFolder(path)
    } catch {
      throw Failure(description: "the state folder \(path) can't be made (\(error)): choose another with --state DIR")
    }
    let hasNarrowed = try secure()
    let lock = unsafe open(lockPath, O_RDWR | O_CREAT | O_NOFOLLOW | O_CLOEXEC, 0o600)
    guard lock >= 0 else {
      throw Failure(
        description:
          "the state folder \(path) can't be written (\(reason(errno))): correct its permissions or choose another with --state DIR"
      )
    }
    let claim = Claim(file: lock, hasNarrowed: hasNarrowed)
    guard flock(lock, LOCK_EX | LOCK_NB) == 0 else {
      throw Failure(description: "another gateway runs on \(path): stop it, or choose another folder with --state DIR")
    }
    return claim
  }

  /// Restricts the folder to its user, because it contains keys and the pushes of all users.
  ///
  /// An empty folder of this user is restricted, and the result is true. Files that an earlier version left readable
  /// are restricted, too.
  private func secure() throws(Failure) -> Bool {
    let folder = unsafe open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC)
    guard folder >= 0 else {
      throw Failure(
        description: "the state folder \(path) can't be read (\(reason(errno))): choose another with --state DIR")
    }
    defer { close(folder) }
    var status = stat()
    guard unsafe fstat(folder, &status) == 0 else {
      throw Failure(description: "the state folder \(path) can't be read (\(reason(errno)))")
    }
    // Root is refused, too: the owner could create links there, and root would write to their targets.
    guard status.st_uid == geteuid() else {
      let owner = ServiceUser.name(status.st_uid)
      throw Failure(
        description:
          "the state folder \(path) belongs to another user (\(owner)): run as that user, or choose another with --state DIR"
      )
    }
    let names = (try? FileManager.default.contentsOfDirectory(atPath: path)) ?? []
    var hasNarrowed = false
    if status.st_mode & PrivateFile.foreignRights != 0 {
      guard names.isEmpty, fchmod(folder, 0o700) == 0 else {
        let mode = String(status.st_mode & 0o7777, radix: 8)
        throw Failure(
          description:
            "other users can access the state folder \(path) (mode \(mode)), which holds keys: chmod 700 '\(path)' and start again"
        )
      }
      hasNarrowed = true
    }
    for name in names {
      guard unsafe fstatat(folder, name, &status, AT_SYMLINK_NOFOLLOW) == 0, status.st_uid == geteuid(),
        status.st_mode & S_IFMT == S_IFREG, status.st_mode & PrivateFile.foreignRights != 0,
        ![trustPath, certificatePath, listeningPath, httpListeningPath].contains(path + "/" + name)
      else { continue }
      unsafe fchmodat(folder, name, 0o600, 0)
    }
    return hasNarrowed
  }

  /// Creates the folder for another user, who is to run the gateway; called by root, who starts it.
  ///
  /// The owner of an existing folder changes only if it is empty.
  package func prepare(for user: ServiceUser) throws(Failure) {
    do {
      try PrivateFile.createFolder(path)
    } catch {
      throw Failure(description: "the state folder \(path) can't be made (\(error)): choose another with --state DIR")
    }
    guard (try? FileManager.default.contentsOfDirectory(atPath: path))?.isEmpty ?? false else { return }
    guard unsafe lchown(path, user.uid, user.gid) == 0 else {
      throw Failure(description: "the state folder \(path) can't be given to \(user.name) (\(reason(errno)))")
    }
  }

  package func absolute(_ name: String) -> String { URL(fileURLWithPath: path + "/" + name).path }

  /// Writes the addresses of the gateway, until ``withdraw()`` removes them.
  ///
  /// - Parameter http: the addresses of HTTP/1.1.
  package func announce(_ addresses: [String], http: [String]) throws {
    for (addresses, path) in [(http, httpListeningPath), (addresses, listeningPath)] {
      try write(Array(addresses.map { $0 + "\n" }.joined().utf8), to: path, mode: 0o644)
    }
  }

  package func withdraw() {
    try? FileManager.default.removeItem(atPath: listeningPath)
    try? FileManager.default.removeItem(atPath: httpListeningPath)
    try? FileManager.default.removeItem(atPath: adminSocket)
  }

  /// Replaces a file atomically: a reader never sees a part of it.
  package func write(_ bytes: [UInt8], to path: String, mode: Int) throws(Failure) {
    do {
      try PrivateFile.replace(path, with: bytes, mode: mode_t(mode))
    } catch {
      throw Failure(description: "\(path) can't be written (\(error)): check the disk and the folder's permissions")
    }
  }

  /// Returns the system's message for an error.
  private func reason(_ code: Int32) -> String { unsafe String(cString: strerror(code)) }
}
