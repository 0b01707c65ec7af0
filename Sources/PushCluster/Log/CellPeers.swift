package import NATSClient
import PushCore
import Synchronization

/// The gateways of a cell, as each tells of itself once a second.
package final class CellPeers: Sendable {
  /// What a gateway tells of itself.
  package struct Peer: Codable, Sendable, Equatable {
    /// Of this process: another one has another.
    package var id: String
    /// `HOST:PORT` where devices reach it.
    package var addresses: [String]
    package var version: String
    /// How many migrations its schema has.
    package var schema: Int
    /// Whether it ends, and takes on nothing more.
    package var isLeaving = false

    package init(id: String, addresses: [String], version: String, schema: Int) {
      (self.id, self.addresses, self.version, self.schema) = (id, addresses, version, schema)
    }
  }

  private struct State {
    var own: Peer
    var others: [String: (peer: Peer, heard: ContinuousClock.Instant)] = [:]
    var subscriptions: [any EngineSubscription] = []
    var work: Task<Void, Never>?
  }

  private static let subject = "cell.gateways"
  private static let interval = Duration.seconds(1)
  /// One that was not heard of for so long is gone.
  private static let lifetime = Duration.seconds(5)
  /// So many are remembered at most, with as many addresses each.
  private static let (maximumCount, maximumAddresses) = (1_000, 16)

  private let transport: any EngineTransport
  private let state: Mutex<State>

  package init(_ transport: any EngineTransport, own: Peer) {
    self.transport = transport
    state = Mutex(State(own: own))
  }

  /// This gateway, as it tells of itself.
  package var own: Peer { state.withLock { $0.own } }

  /// Those that were heard of lately, without this one, in the order of their ids.
  package var others: [Peer] {
    let now = ContinuousClock.now
    return state.withLock { state in
      state.others = state.others.filter { now - $0.value.heard < CellPeers.lifetime }
      return state.others.values.map(\.peer).sorted { $0.id < $1.id }
    }
  }

  /// Begins to tell and to listen.
  package func start() throws {
    let heard = try transport.subscribe(CellPeers.subject, queue: nil) { [weak self] in self?.take($0) }
    let work = Task { [weak self] in
      while !Task.isCancelled, let self {
        tell()
        try? await Task.sleep(for: CellPeers.interval)
      }
    }
    state.withLock { state in
      state.subscriptions.append(heard)
      state.work = work
    }
  }

  /// Says where devices reach this gateway, once it listens.
  package func announce(_ addresses: [String]) {
    state.withLock { $0.own.addresses = Array(addresses.prefix(CellPeers.maximumAddresses)) }
    tell()
  }

  /// Says that this gateway takes on nothing more.
  package func leave() {
    state.withLock { $0.own.isLeaving = true }
    tell()
  }

  package func stop() {
    let (subscriptions, work) = state.withLock { ($0.subscriptions, $0.work) }
    work?.cancel()
    for subscription in subscriptions { subscription.cancel() }
  }

  private func tell() { transport.publish(CellPeers.subject, controlJSON(own)) }

  private func take(_ message: NATSMessage) {
    guard let peer = try? decodeJSON(Peer.self, from: message.body),
      peer.addresses.count <= CellPeers.maximumAddresses
    else { return }
    state.withLock { state in
      guard peer.id != state.own.id else { return }
      guard state.others[peer.id] != nil || state.others.count < CellPeers.maximumCount else { return }
      state.others[peer.id] = (peer, .now)
    }
  }

  // MARK: Asking

  /// Answers what other gateways ask of this one.
  package func answer(
    _ what: String, _ body: @escaping @Sendable (_ question: [UInt8]) async -> [UInt8]
  ) throws {
    let transport = transport
    let subscription = try transport.subscribe("cell.gateway.\(own.id).\(what)", queue: nil) { message in
      guard let reply = message.reply else { return }
      Task { transport.publish(reply, await body(message.body)) }
    }
    state.withLock { $0.subscriptions.append(subscription) }
  }

  /// Asks every other gateway.
  ///
  /// - Returns: what each answered; nil for one that did not.
  package func ask(
    _ what: String, _ question: [UInt8], within time: Duration
  ) async -> [(peer: Peer, answer: [UInt8]?)] {
    await withTaskGroup(of: (Peer, [UInt8]?).self) { group in
      for peer in others {
        group.addTask { [transport] in
          let answer = try? await transport.request("cell.gateway.\(peer.id).\(what)", question, timeout: time)
          return (peer, answer?.body)
        }
      }
      return await group.reduce(into: []) { $0.append((peer: $1.0, answer: $1.1)) }
    }
  }
}
