import Glibc
import NIOCore

/// Who may use an admin socket: processes of the gateway's own user, and root's.
///
/// The socket's mode says so, too; this holds also where a folder or a mode was opened by mistake.
enum AdminPeer {
  /// A process of another user.
  struct Refused: Error {}

  /// `struct ucred` of unix(7), which Glibc declares for GNU programs alone.
  private struct Credentials: Sendable {
    var process: pid_t
    var user: uid_t
    var group: gid_t
  }

  /// Whether a process of this user may.
  static func isAllowed(_ user: uid_t, own: uid_t) -> Bool { user == own || user == 0 }

  /// Asks the system whose process is at the other end of an admin socket; of other listeners it asks nothing.
  ///
  /// - Returns: the number of its user, and nil for other listeners; fails for a process that may not, and where the system
  ///   does not say.
  static func check(_ channel: any Channel, of options: ConnectionOptions) -> EventLoopFuture<UInt32?> {
    guard options.peer == .adminSocket else { return channel.eventLoop.makeSucceededFuture(nil) }
    guard let socket = channel as? any SocketOptionProvider else {
      return channel.eventLoop.makeFailedFuture(Refused())
    }
    let credentials: EventLoopFuture<Credentials> = socket.unsafeGetSocketOption(
      level: .socket, name: NIOBSDSocket.Option(rawValue: SO_PEERCRED))
    return credentials.flatMapThrowing { credentials in
      guard isAllowed(credentials.user, own: geteuid()) else { throw Refused() }
      return credentials.user
    }
  }
}
