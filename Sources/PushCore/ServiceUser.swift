package import Glibc

/// The user that the gateway switches to after root has started it: it binds its ports first, and then has only the
/// permissions of this user.
package struct ServiceUser: Sendable, Equatable {
  package let name: String
  package let uid: uid_t
  package let gid: gid_t

  /// - Throws: ``SystemError``, with `ENOENT` if the system has no user of this name.
  package init(name: String) throws(SystemError) {
    var entry = unsafe passwd()
    var found: UnsafeMutablePointer<passwd>?
    var buffer = [CChar](repeating: 0, count: 16 << 10)
    let code = unsafe getpwnam_r(name, &entry, &buffer, buffer.count, &found)
    guard code == 0, unsafe found != nil else { throw SystemError(code == 0 ? ENOENT : code) }
    (self.name, uid, gid) = unsafe (name, entry.pw_uid, entry.pw_gid)
  }

  /// Returns the name of a user, or its number if it has no name.
  package static func name(_ uid: uid_t) -> String {
    var entry = unsafe passwd()
    var found: UnsafeMutablePointer<passwd>?
    var buffer = [CChar](repeating: 0, count: 16 << 10)
    guard unsafe getpwuid_r(uid, &entry, &buffer, buffer.count, &found) == 0, unsafe found != nil,
      let name = unsafe entry.pw_name
    else { return "user \(uid)" }
    return unsafe String(cString: name)
  }

  /// True if the process can switch to another user.
  package static var isRoot: Bool { geteuid() == 0 }

  /// Switches all threads to this user. The process can still become root, which only ``regainRoot()`` uses.
  package func assume() throws(SystemError) {
    guard unsafe initgroups(name, gid) == 0, setegid(gid) == 0, seteuid(uid) == 0 else { throw SystemError(errno) }
  }

  /// Switches back to root temporarily, to bind a port.
  package func regainRoot() throws(SystemError) {
    guard seteuid(0) == 0 else { throw SystemError(errno) }
  }

  /// Switches all threads to this user permanently.
  ///
  /// - Throws: the C error; also if the process could still become root.
  package func becomeForGood() throws(SystemError) {
    // As root, setgid() and setuid() replace the saved ids, too.
    guard seteuid(0) == 0, setgid(gid) == 0, setuid(uid) == 0 else { throw SystemError(errno) }
    guard uid == 0 || setuid(0) != 0 && seteuid(0) != 0 else { throw SystemError(EPERM) }
  }
}
