import Foundation
import Glibc

/// The folder that holds everything a gateway keeps (design §7), and what a first start puts there.
package struct StateFolder: Sendable {
  package let path: String

  package init(_ path: String) { self.path = path }

  /// The trust anchor for clients.
  package var trustPath: String { path + "/ca.pem" }
  /// The certificate that a gateway with one from elsewhere shows, for clients on this machine; not there for its own one.
  package var shownCertificatePath: String { path + "/shown.pem" }
  /// The admin socket.
  package var adminSocket: String { path + "/admin.sock" }
  /// One `HOST:PORT` a line, while a gateway is ready.
  package var listeningPath: String { path + "/listening" }
  /// One `HOST:PORT` a line of where HTTP/1.1 is served, while a gateway is ready.
  package var httpListeningPath: String { path + "/http-listening" }
  /// The first start's development key.
  package var developmentPath: String { path + "/development.json" }
  /// Clients on this machine keep their secrets and cursors here.
  package var devicesPath: String { path + "/devices" }
  /// The person's own sounds.
  package var soundsPath: String { path + "/sounds" }
  package var databasePath: String { path + "/pushgateway.sqlite" }
  package var logPath: String { path + "/delivery-log.sqlite" }
  /// What the gateway shows to clients.
  package var certificatePath: String { path + "/server.pem" }
  package var keyPath: String { path + "/server.key" }
  package var authorityKeyPath: String { path + "/ca.key" }
  /// The authority that takes over from the present one, while a rollover goes on.
  package var nextTrustPath: String { path + "/ca-next.pem" }
  package var nextAuthorityKeyPath: String { path + "/ca-next.key" }
  /// The authorities before the present one, whose certificates of senders are still good.
  package var previousTrustPath: String { path + "/ca-previous.pem" }
  /// What ``ReservedSpace`` sets aside.
  package var ballastPath: String { path + "/ballast" }
  /// The path of a file that a backup makes just now.
  package var backupDraftPath: String { path + "/backup-draft" }
  /// What the other gateways of a cell know this one by.
  package var gatewayIDPath: String { path + "/gateway-id" }
  private var lockPath: String { path + "/lock" }

  /// The development key of a first start.
  package struct Development: Codable, Sendable {
    package var teamID: String
    package var keyID: String
    package var keyPath: String
    package var topic: String

    package init(teamID: String, keyID: String, keyPath: String, topic: String) {
      self.teamID = teamID
      self.keyID = keyID
      self.keyPath = keyPath
      self.topic = topic
    }

    package enum CodingKeys: String, CodingKey {
      case teamID = "team_id"
      case keyID = "key_id"
      case keyPath = "key_path"
      case topic
    }
  }

  /// A folder that can't be used, in one line.
  package struct Failure: Error, CustomStringConvertible {
    package var description: String

    package init(description: String) { self.description = description }
  }

  /// That one gateway alone uses a folder; given up with the last reference, and with the process.
  package final class Claim: Sendable {
    private let file: Int32
    /// Whether the folder was open to others, and empty, before this.
    package let hasNarrowed: Bool

    fileprivate init(file: Int32, hasNarrowed: Bool) { (self.file, self.hasNarrowed) = (file, hasNarrowed) }

    deinit {
      // `close` alone keeps the lock while a child process holds a copy of the descriptor, between `fork` and `exec`.
      flock(file, LOCK_UN)
      close(file)
    }
  }

  /// Makes the folder, and sees to it that one gateway alone uses it for as long as the claim is held.
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

  /// Sees to it that nobody else can read or change what is in the folder: it holds keys and everybody's pushes.
  ///
  /// An empty folder of this user is narrowed; then this returns true. Files in it that an earlier version left readable
  /// are narrowed, too.
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
    // Also for root: the owner could put links there, and root would write to what they name.
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

  /// Makes the folder for another user, who is to run the gateway: for root, who starts it. One that is there and empty
  /// becomes the user's, any other stays whose it is.
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

  /// The whole path of a file in the folder.
  package func absolute(_ name: String) -> String { URL(fileURLWithPath: path + "/" + name).path }

  /// Says where the gateway listens, for as long as it does.
  ///
  /// - Parameter http: where it serves HTTP/1.1.
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

  /// Replaces a file as a whole: nobody ever sees half of it.
  package func write(_ bytes: [UInt8], to path: String, mode: Int) throws(Failure) {
    do {
      try PrivateFile.replace(path, with: bytes, mode: mode_t(mode))
    } catch {
      throw Failure(description: "\(path) can't be written (\(error)): check the disk and the folder's permissions")
    }
  }

  /// What the system calls an error.
  private func reason(_ code: Int32) -> String { unsafe String(cString: strerror(code)) }
}
