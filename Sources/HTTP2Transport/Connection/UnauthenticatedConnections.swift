import DequeModule
package import NIOCore
import PushCore
import Synchronization

/// The connections of a process that have shown no credential, of all loops: how many there are of each address, and which
/// are the oldest.
///
/// What is known here is a number for each address that has such a connection, and the connections themselves, so that it
/// is bounded by the descriptors.
package final class UnauthenticatedConnections: Sendable {
  /// Where connections are counted together.
  package enum Source: Hashable, Sendable {
    case loopback
    /// The four bytes of an address of IPv4, or eight of the network of one of IPv6 (/64).
    case network([UInt8])
  }

  /// A connection's place, until it shows a credential or ends.
  package final class Ticket: Sendable {
    fileprivate let number: Int
    fileprivate let ledger: UnauthenticatedConnections

    fileprivate init(_ number: Int, _ ledger: UnauthenticatedConnections) {
      self.number = number
      self.ledger = ledger
    }

    deinit { release() }

    /// The connection does not count any more.
    package func release() { ledger.remove(number) }

    /// Says how the connection is ended if it is idle; `end` may be called on any thread.
    package func attach(_ end: @escaping @Sendable () -> Void) {
      ledger.state.withLock { $0.entries[number]?.end = end }
    }
  }

  private struct Entry {
    var source: Source
    /// When it was admitted, or asked to end, in seconds of the clock.
    var since: Int64
    var end: (@Sendable () -> Void)?
  }

  /// Connections in the order in which they came; some of the numbers may be gone.
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

    /// How to end the oldest, which then go behind all others: one that is at work stays.
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
  ///   - descriptors: how many this process may have.
  ///   - now: seconds of a clock that never goes back.
  ///   - exceeded: is told which limit an address met.
  package init(
    descriptors: Int = DescriptorLimit.raise(),
    now: @escaping @Sendable () -> Int64 = { Int64(clamping: NIODeadline.now().uptimeNanoseconds / 1_000_000_000) },
    exceeded: @escaping @Sendable (TransportLimit, String?) -> Void
  ) {
    maximumRemote = max(1, descriptors / Limits.strangerShare)
    self.now = now
    self.exceeded = exceeded
  }

  /// How many connections have shown no credential.
  package var count: Int { state.withLock { $0.entries.count } }

  /// Counts one more connection.
  ///
  /// - Returns: nil when its address has as many as it may.
  package func admit(_ address: SocketAddress?) -> Ticket? { admit(address?.ipAddress) }

  /// - Parameter address: an address of IP, as text.
  package func admit(_ address: String?) -> Ticket? {
    let source = Source(text: address)
    enum Outcome {
      case admitted(Int, isFull: Bool)
      case refused
    }
    let since = now()
    let outcome = state.withLock { state -> Outcome in
      guard source == .loopback || state.counts[source, default: 0] < Limits.maximumAddressStrangers else {
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
        exceeded(.strangerConnections, address)
        evict(1, remoteOnly: true)
      }
      return Ticket(number, self)
    }
  }

  /// A balancer began a connection with something else than a ``ProxyHeader``.
  package func noteMissingProxyHeader(from address: SocketAddress?) { exceeded(.proxyHeader, address?.ipAddress) }

  /// Descriptors run short: ends the oldest connections that are idle.
  package func evictOldest() {
    exceeded(.descriptors, nil)
    evict(Limits.evictionSlice, remoteOnly: false)
  }

  /// Ends so many of the oldest, of other addresses first; one that is at work goes to the end of the line.
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
  /// Creates the source of an address; one that is none of IP is of this machine.
  package init(_ address: SocketAddress) { self.init(text: address.ipAddress) }

  /// Creates the source of an address.
  ///
  /// - Parameter text: An IP address; nil, or a text that is none, counts as this machine's.
  package init(text: String?) {
    guard let address = text.flatMap(IPAddress.init), !address.isLoopback else {
      self = .loopback
      return
    }
    self = .network(Array(address.bytes.prefix(address.bytes.count == 4 ? 4 : 8)))
  }
}
