import Dispatch
import Glibc
package import NIOCore
import PushCore

/// A bound socket and the owner of its descriptor: a listener accepts on a copy of it. It can outlive the listener,
/// so that one process passes it to the next while clients stay in its backlog.
package final class ListeningSocket: Sendable {
  /// The descriptor, open as long as this object exists.
  package let descriptor: Int32

  /// Takes ownership of an open socket.
  package init(adopting descriptor: Int32) { self.descriptor = descriptor }

  deinit { Glibc.close(descriptor) }

  /// Binds on a separate thread, since the lookup of a host name may take long.
  ///
  /// - Parameters:
  ///   - flag: the flag that sets the address, for the error.
  ///   - sharesPort: whether the socket may have an address that overlaps with another one, as in ``sharePort(_:)``.
  /// - Throws: ``ListenError`` with advice if the address can't be bound.
  package static func bindApart(
    _ address: Listener.Address, flag: String = ListenError.flag, sharesPort: Bool = false
  ) async throws(ListenError) -> ListeningSocket {
    let outcome = await withCheckedContinuation { done in
      DispatchQueue.global().async {
        done.resume(
          returning: Result { () throws(ListenError) in
            try ListeningSocket.bind(address, flag: flag, sharesPort: sharesPort)
          })
      }
    }
    return try outcome.get()
  }

  /// Binds on this thread.
  ///
  /// - Throws: ``ListenError`` with advice if the address can't be bound.
  package static func bind(
    _ address: Listener.Address, flag: String = ListenError.flag, sharesPort: Bool = false
  ) throws(ListenError) -> ListeningSocket {
    do {
      let place = try address.resolved()
      let descriptor = Glibc.socket(
        Int32(place.protocol.rawValue), Int32(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue | SOCK_NONBLOCK.rawValue), 0)
      guard descriptor >= 0 else { throw IOError(errnoCode: errno, reason: "socket") }
      let socket = ListeningSocket(adopting: descriptor)
      var yes: Int32 = 1
      unsafe setsockopt(descriptor, SOL_SOCKET, SO_REUSEADDR, &yes, socklen_t(MemoryLayout<Int32>.size))
      if sharesPort { socket.sharePort(true) }
      let result = unsafe place.withSockAddr { pointer, size in
        unsafe Glibc.bind(descriptor, pointer, socklen_t(size))
      }
      guard result == 0 else { throw IOError(errnoCode: errno, reason: "bind") }
      return socket
    } catch {
      throw ListenError(address, error, flag: flag, holder: holder(of: address, after: error))
    }
  }

  /// Returns the process that uses an address.
  private static func holder(of address: Listener.Address, after error: any Error) -> String? {
    guard (error as? IOError)?.errnoCode == EADDRINUSE, case .tcp(let host, let port) = address.numeric else {
      return nil
    }
    return PortHolder.find(host: host, port: port)
  }

  /// Permits another socket of this user to listen on an overlapping address and the same port, if that socket permits
  /// it, too (`SO_REUSEPORT`). Linux compares the options at `bind` and at `listen` of the later socket.
  package func sharePort(_ isShared: Bool) {
    var value: Int32 = isShared ? 1 : 0
    unsafe setsockopt(descriptor, SOL_SOCKET, SO_REUSEPORT, &value, socklen_t(MemoryLayout<Int32>.size))
  }

  /// Returns a copy of the descriptor, for a caller that closes the descriptor on which it accepts.
  package func duplicate() throws(IOError) -> Int32 {
    let copy = fcntl(descriptor, F_DUPFD_CLOEXEC, 3)
    guard copy >= 0 else { throw IOError(errnoCode: errno, reason: "dup") }
    return copy
  }

  /// The bound address; nil if the descriptor is neither a TCP socket nor a Unix socket.
  package var address: Listener.Address? {
    var storage = sockaddr_storage()
    var size = socklen_t(MemoryLayout<sockaddr_storage>.size)
    let result = unsafe withUnsafeMutablePointer(to: &storage) { pointer in
      unsafe pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { unsafe getsockname(descriptor, $0, &size) }
    }
    var type: Int32 = 0
    var typeSize = socklen_t(MemoryLayout<Int32>.size)
    guard result == 0, unsafe getsockopt(descriptor, SOL_SOCKET, SO_TYPE, &type, &typeSize) == 0,
      type == Int32(SOCK_STREAM.rawValue)
    else { return nil }
    return ListeningSocket.address(storage)
  }

  fileprivate static func address(_ storage: sockaddr_storage) -> Listener.Address? {
    unsafe withUnsafePointer(to: storage) { pointer in
      switch Int32(storage.ss_family) {
      case AF_INET:
        unsafe pointer.withMemoryRebound(to: sockaddr_in.self, capacity: 1) {
          unsafe Listener.Address(SocketAddress($0.pointee))
        }
      case AF_INET6:
        unsafe pointer.withMemoryRebound(to: sockaddr_in6.self, capacity: 1) {
          unsafe Listener.Address(SocketAddress($0.pointee))
        }
      case AF_UNIX:
        unsafe pointer.withMemoryRebound(to: sockaddr_un.self, capacity: 1) {
          unsafe Listener.Address(SocketAddress($0.pointee))
        }
      default: nil
      }
    }
  }
}

extension Listener.Address {
  fileprivate init?(_ address: SocketAddress) {
    if let path = address.pathname {
      self = .unix(path: path)
    } else if let host = address.ipAddress, let port = address.port {
      self = .tcp(host: host, port: port)
    } else {
      return nil
    }
  }

  /// Returns the numeric address of a host name.
  fileprivate func resolved() throws -> SocketAddress {
    switch self {
    case .tcp(let host, let port): try SocketAddress.makeAddressResolvingHost(host, port: port)
    case .unix(let path): try SocketAddress(unixDomainSocketPath: path)
    }
  }

  /// Returns all addresses of a host name, each with the port. For `localhost` both loopback addresses, independently
  /// of the system's hosts file; a numeric host is returned unchanged. Looks up the name on a separate thread.
  ///
  /// - Throws: ``ListenError`` for a name without an address.
  package func expanded() async throws(ListenError) -> [Listener.Address] {
    guard case .tcp(let host, let port) = self, (try? SocketAddress(ipAddress: host, port: port)) == nil else {
      return [self]
    }
    if host == "localhost" { return ["127.0.0.1", "::1"].map { .tcp(host: $0, port: port) } }
    let found = await withCheckedContinuation { done in
      DispatchQueue.global().async { done.resume(returning: Listener.Address.lookUp(host, port)) }
    }
    guard !found.isEmpty else { throw ListenError(self, SocketAddressError.failedToParseIPString(host)) }
    return found
  }

  private static func lookUp(_ host: String, _ port: Int) -> [Listener.Address] {
    var hints = unsafe addrinfo()
    unsafe hints.ai_socktype = Int32(SOCK_STREAM.rawValue)
    var list: UnsafeMutablePointer<addrinfo>?
    guard unsafe getaddrinfo(host, String(port), &hints, &list) == 0 else { return [] }
    defer { unsafe freeaddrinfo(list) }
    var found: [Listener.Address] = []
    var next = unsafe list
    while let entry = unsafe next {
      var storage = sockaddr_storage()
      unsafe memcpy(&storage, entry.pointee.ai_addr, Int(entry.pointee.ai_addrlen))
      if let address = ListeningSocket.address(storage), !found.contains(address) { found.append(address) }
      unsafe next = entry.pointee.ai_next
    }
    return found
  }

  /// True for all addresses of this machine: `0.0.0.0` and `::`.
  private var isWildcard: Bool {
    guard case .tcp(let host, _) = self, let address = IPAddress(host) else { return false }
    return address.bytes.allSatisfy { $0 == 0 }
  }

  /// Returns true if one socket at most can listen on both addresses: they have the same port, and one of them is for
  /// all addresses of this machine. Both hosts are numeric.
  package func overlaps(_ other: Listener.Address) -> Bool {
    guard case .tcp(_, let port) = self, case .tcp(_, port) = other else { return false }
    return isWildcard || other.isWildcard
  }

  /// The same address with a numeric host; unchanged if the lookup fails.
  package var numeric: Listener.Address { (try? resolved()).flatMap(Listener.Address.init) ?? self }
}
