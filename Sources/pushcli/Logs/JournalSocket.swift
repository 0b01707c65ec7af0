import Glibc

final class JournalSocket: Sendable {
  private let descriptor: Int32
  private let path: String

  /// - Parameter path: the path of the socket, which need not exist yet.
  init(path: String = "/run/systemd/journal/socket") {
    descriptor = socket(AF_UNIX, Int32(SOCK_DGRAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue), 0)
    self.path = path
  }

  deinit { if descriptor >= 0 { close(descriptor) } }

  /// Sends one entry; can block until the journal accepts it. Returns false if no journal receives it.
  func send(_ entry: [UInt8]) -> Bool {
    var address = sockaddr_un()
    address.sun_family = sa_family_t(AF_UNIX)
    let fits = unsafe withUnsafeMutableBytes(of: &address.sun_path) { field in
      guard path.utf8.count < field.count else { return false }
      unsafe field.copyBytes(from: path.utf8)
      return true
    }
    guard fits, descriptor >= 0 else { return false }
    return unsafe withUnsafePointer(to: &address) { address in
      unsafe address.withMemoryRebound(to: sockaddr.self, capacity: 1) { address in
        while true {
          let sent = unsafe sendto(
            descriptor, entry, entry.count, Int32(MSG_NOSIGNAL), address,
            socklen_t(MemoryLayout<sockaddr_un>.size))
          if sent == entry.count { return true }
          if errno != EINTR { return false }
        }
      }
    }
  }
}
