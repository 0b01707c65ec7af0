import Glibc
import HTTP2Transport
import NIOCore
import Synchronization

/// The sockets of `http_listen`: the sockets on which this process accepts, and the sockets for the next process.
final class HTTP1Sockets: Sendable {
  private struct State: Sendable {
    var bound: [InheritedSockets.Entry] = []
    /// The sockets for the next process after its settings were prepared; until then it inherits ``bound``.
    var next: [InheritedSockets.Entry]?
  }

  private let state = Mutex(State())

  static let backlog: Int32 = 64
  /// The flag that sets the addresses.
  static let flag = "--http-listen"

  /// Notes the sockets on which this process accepts.
  func note(_ bound: [InheritedSockets.Entry]) { state.withLock { $0.bound = bound } }

  /// Binds the addresses of a setting for the next process; clients of new sockets are queued from now on.
  ///
  /// A socket of this process with one of the addresses is reused. While `0.0.0.0` follows a single address on the
  /// same port, or the other way round, both sockets share the port.
  ///
  /// - Returns: the sockets, for ``prepare(_:)``. For `auto`, the socket of this process if it has one; otherwise the
  ///   next process binds a free address of loopback.
  /// - Throws: ``ListenError`` for the first address that can't be bound; then nothing has changed.
  func bind(_ setting: HTTPListen) async throws(ListenError) -> [InheritedSockets.Entry] {
    var left = state.withLock { $0.bound + ($0.next ?? []) }
    switch setting {
    case .none: return []
    case .automatic:
      let names = [HTTPListen.free, HTTPListen.standard].map(InheritedSockets.Name.http)
      return Array(names.compactMap { name in left.first { $0.name == name } }.prefix(1))
    case .addresses(let entries):
      let names = entries.map(InheritedSockets.Name.http)
      var found: [InheritedSockets.Entry] = []
      for (entry, name) in zip(entries, names) {
        guard let address = (try? HTTPListen.Entry(entry))?.address else {
          preconditionFailure("the setting was checked: \(entry)")
        }
        let addresses = try await address.expanded()
        let same =
          left.firstIndex { $0.name == name }
          ?? left.firstIndex { one in one.socket.address.map { addresses.contains($0) } == true }
        if let same {
          found.append(.init(name: name, socket: left.remove(at: same).socket))
          continue
        }
        let overlapping = left.filter { one in
          guard !names.contains(one.name), let bound = one.socket.address else { return false }
          return addresses.contains { $0.overlaps(bound) }
        }
        found.append(.init(name: name, socket: try await HTTP1Sockets.bind(address, beside: overlapping)))
      }
      return found
    }
  }

  private static func bind(
    _ address: Listener.Address, beside others: [InheritedSockets.Entry]
  ) async throws(ListenError) -> ListeningSocket {
    for one in others { one.socket.sharePort(true) }
    defer { for one in others { one.socket.sharePort(false) } }
    let socket = try await ListeningSocket.bindApart(address, flag: flag, sharesPort: !others.isEmpty)
    // Two sockets can be bound to one address, but only one of them can listen.
    guard listen(socket.descriptor, backlog) == 0 else {
      throw ListenError(address, IOError(errnoCode: errno, reason: "listen"), flag: flag)
    }
    if !others.isEmpty { socket.sharePort(false) }
    return socket
  }

  /// Sets the sockets of ``bind(_:)`` for the next process.
  func prepare(_ sockets: [InheritedSockets.Entry]) { state.withLock { $0.next = sockets } }

  /// Returns the sockets for the next process: they stay bound when this process stops accepting.
  func handOver() -> [InheritedSockets.Entry] { state.withLock { $0.next ?? $0.bound } }

  /// Releases the sockets. A socket that was handed over stays open.
  func release() { state.withLock { $0 = State() } }
}
