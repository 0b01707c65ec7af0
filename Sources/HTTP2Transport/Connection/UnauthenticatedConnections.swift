import DequeModule
package import NIOCore
import PushCore
import Synchronization

/// The unauthenticated connections of all loops of a process: their number for each address, and their order of age.
///
/// It stores one number for each address that has such a connection, and the connections themselves, so that its size
/// is bounded by the descriptor limit.
package final class UnauthenticatedConnections: Sendable {
  /// A group of addresses whose connections are counted together.
  package enum Source: Hashable, Sendable {
    case loopback
    /// The four bytes of an IPv4 address, or the first eight bytes of an IPv6 address (its /64 network).
    case network([UInt8])
  }

  /// The entry of a connection, until it is authenticated or ends.
  package final class Ticket: Sendable {
    fileprivate let number: Int
    fileprivate let unauthenticated: UnauthenticatedConnections

    fileprivate init(_ number: Int, _ unauthenticated: UnauthenticatedConnections) {
      self.number = number
      self.unauthenticated = unauthenticated
    }

    deinit { release() }

    /// Stops counting the connection.
    package func release() { unauthenticated.remove(number) }

    /// Sets the action that ends the connection if it is idle; `end` may be called on any thread.
    package func attach(_ end: @escaping @Sendable () -> Void) {
      unauthenticated.state.withLock { $0.entries[number]?.end = end }
    }
  }

  private struct Entry {
    var source: Source
    /// The time of the admission or of the last eviction attempt, in seconds of the clock.
    var since: Int64
    var end: (@Sendable () -> Void)?
  }

  /// The numbers of connections in the order of their admission; some of them may have ended.
  private struct Line {
    var numbers: Deque<Int> = []
    var count = 0
  }

  private struct State {
    var next = 0
    var entries: [Int: Entry] = [:]
    var counts: [Source: Int] = [:]
    var remote = Line()
    var local = Line()

    mutating func join(_ line: WritableKeyPath<State, Line>, _ entry: Entry) -> Int {
      defer { next += 1 }
      entries[next] = entry
      counts[entry.source, default: 0] += 1
      self[keyPath: line].numbers.append(next)
      self[keyPath: line].count += 1
      return next
    }

    mutating func leave(_ line: WritableKeyPath<State, Line>) {
      self[keyPath: line].count -= 1
      guard self[keyPath: line].numbers.count > 2 * self[keyPath: line].count + 64 else { return }
      let entries = entries
      self[keyPath: line].numbers.removeAll { entries[$0] == nil }
    }

    /// Returns the actions that end the oldest connections, and moves those behind all others: a connection in use
    /// stays.
    mutating func oldest(_ count: Int, in line: WritableKeyPath<State, Line>, now: Int64) -> [@Sendable () -> Void] {
      var ends: [@Sendable () -> Void] = []
      while ends.count < count, let number = self[keyPath: line].numbers.popFirst() {
        guard let entry = entries[number] else { continue }
        guard let end = entry.end, now - entry.since >= Int64(Limits.evictionAge) else {
          self[keyPath: line].numbers.prepend(number)
          break
        }
        entries[number]?.since = now
        self[keyPath: line].numbers.append(number)
        ends.append(end)
      }
      return ends
    }
  }

  private let state = Mutex(State())
  private let maximumRemote: Int
  private let now: @Sendable () -> Int64
  private let exceeded: @Sendable (TransportLimit, String?) -> Void

  /// - Parameters:
  ///   - descriptors: the maximum number of descriptors of this process.
  ///   - now: the seconds of a clock that never goes back.
  ///   - exceeded: called with the exceeded limit and the address.
  package init(
    descriptors: Int = DescriptorLimit.raise(),
    now: @escaping @Sendable () -> Int64 = { Int64(clamping: NIODeadline.now().uptimeNanoseconds / 1_000_000_000) },
    exceeded: @escaping @Sendable (TransportLimit, String?) -> Void
  ) {
    maximumRemote = max(1, descriptors / Limits.unauthenticatedShare)
    self.now = now
    self.exceeded = exceeded
  }

  /// The number of unauthenticated connections.
  package var count: Int { state.withLock { $0.entries.count } }

  /// Counts one more connection.
  ///
  /// - Parameter address: an IP address as text.
  /// - Returns: nil if the address has the maximum number of connections.
  package func admit(_ address: String?) -> Ticket? {
    let source = Source(text: address)
    enum Outcome {
      case admitted(Int, isFull: Bool)
      case refused
    }
    let since = now()
    let outcome = state.withLock { state -> Outcome in
      guard source == .loopback || state.counts[source, default: 0] < Limits.maximumAddressConnections else {
        return .refused
      }
      let isFull = source != .loopback && state.remote.count >= maximumRemote
      let number = state.join(
        source == .loopback ? \.local : \.remote, Entry(source: source, since: since))
      return .admitted(number, isFull: isFull)
    }
    switch outcome {
    case .refused:
      exceeded(.addressConnections, address)
      return nil
    case .admitted(let number, let isFull):
      if isFull {
        exceeded(.unauthenticatedConnections, address)
        evict(1, remoteOnly: true)
      }
      return Ticket(number, self)
    }
  }

  /// Reports that a load balancer's connection began without a ``ProxyHeader``.
  package func noteMissingProxyHeader(from address: SocketAddress?) { exceeded(.proxyHeader, address?.ipAddress) }

  /// Ends the oldest idle connections when few descriptors are left.
  package func evictOldest() {
    exceeded(.descriptors, nil)
    evict(Limits.evictionSlice, remoteOnly: false)
  }

  /// Ends up to `count` of the oldest connections, remote ones first; a connection in use moves to the end of the
  /// queue.
  private func evict(_ count: Int, remoteOnly: Bool) {
    let now = now()
    let ends = state.withLock { state in
      var ends = state.oldest(count, in: \.remote, now: now)
      if !remoteOnly { ends += state.oldest(count - ends.count, in: \.local, now: now) }
      return ends
    }
    for end in ends { end() }
  }

  private func remove(_ number: Int) {
    state.withLock { state in
      guard let entry = state.entries.removeValue(forKey: number) else { return }
      let count = state.counts[entry.source, default: 1] - 1
      state.counts[entry.source] = count > 0 ? count : nil
      state.leave(entry.source == .loopback ? \.local : \.remote)
    }
  }
}

extension UnauthenticatedConnections.Source {
  /// Creates the source of an address.
  ///
  /// - Parameter text: an IP address; nil, or any other text, counts as local.
  package init(text: String?) {
    guard let address = text.flatMap(IPAddress.init), !address.isLoopback else {
      self = .loopback
      return
    }
    self = .network(Array(address.bytes.prefix(address.bytes.count == 4 ? 4 : 8)))
  }
}
