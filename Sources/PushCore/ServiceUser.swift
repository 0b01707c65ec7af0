package import Glibc

/// The user that a gateway becomes which root has started: it binds its ports, and then can do no more than this user.
package struct ServiceUser: Sendable, Equatable {
  package let name: String
  package let uid: uid_t
  package let gid: gid_t

  /// - Throws: ``SystemError`` `ENOENT` when the system knows no user of this name.
  package init(name: String) throws(SystemError) {
    var entry = unsafe passwd()
    var found: UnsafeMutablePointer<passwd>?
    var buffer = [CChar](repeating: 0, count: 16 << 10)
    let code = unsafe getpwnam_r(name, &entry, &buffer, buffer.count, &found)
    guard code == 0, unsafe found != nil else { throw SystemError(code == 0 ? ENOENT : code) }
    (self.name, uid, gid) = unsafe (name, entry.pw_uid, entry.pw_gid)
  }

  /// The name of a user, or its number where it has none.
  package static func name(_ uid: uid_t) -> String {
    var entry = unsafe passwd()
    var found: UnsafeMutablePointer<passwd>?
    var buffer = [CChar](repeating: 0, count: 16 << 10)
    guard unsafe getpwuid_r(uid, &entry, &buffer, buffer.count, &found) == 0, unsafe found != nil,
      let name = unsafe entry.pw_name
    else { return "user \(uid)" }
    return unsafe String(cString: name)
  }

  /// Whether the process can become another user.
  package static var isRoot: Bool { geteuid() == 0 }

  /// Acts as this user from now on, all threads, and keeps the way back to root: for ``regainRoot()`` alone.
  package func assume() throws(SystemError) {
    guard unsafe initgroups(name, gid) == 0, setegid(gid) == 0, seteuid(uid) == 0 else { throw SystemError(errno) }
  }

  /// Is root again for a moment, to bind a port.
  package func regainRoot() throws(SystemError) {
    guard seteuid(0) == 0 else { throw SystemError(errno) }
  }

  /// Is this user for good, all threads.
  ///
  /// - Throws: the C error also when the process could still become root.
  package func becomeForGood() throws(SystemError) {
    // Root's setgid() and setuid() leave no saved id behind.
    guard seteuid(0) == 0, setgid(gid) == 0, setuid(uid) == 0 else { throw SystemError(errno) }
    guard uid == 0 || setuid(0) != 0 && seteuid(0) != 0 else { throw SystemError(EPERM) }
  }
}
