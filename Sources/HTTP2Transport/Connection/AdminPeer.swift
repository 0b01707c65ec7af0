import Glibc
import NIOCore

/// The access rule of an admin socket: processes of the gateway's own user, and of root.
///
/// The mode of the socket limits access as well. This check still applies where the mode of a folder or of the socket
/// was widened by mistake.
enum AdminPeer {
  /// An error: the peer is a process of another user.
  struct Refused: Error {}

  /// The struct `ucred` of unix(7), which Glibc declares only for GNU programs.
  private struct Credentials: Sendable {
    var process: pid_t
    var user: uid_t
    var group: gid_t
  }

  /// Returns true if a process of `user` may use the socket of a gateway that runs as `own`.
  static func isAllowed(_ user: uid_t, own: uid_t) -> Bool { user == own || user == 0 }

  /// Checks the user of the peer process of an admin socket; connections of other listeners are not checked.
  ///
  /// - Returns: the user ID of the peer; nil for other listeners. The future fails with ``Refused`` if the user is
  ///   not allowed, and with the error of the system if the user can't be read.
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
