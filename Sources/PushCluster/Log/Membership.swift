package import NATSClient
import PushCore
import Synchronization

/// The gateways of a cluster; each publishes its own description once a second.
package final class Membership: Sendable {
  /// A gateway's description of itself.
  package struct Peer: Codable, Sendable, Equatable {
    /// The id of the process; each process has its own.
    package var id: String
    /// The id of the state folder, which stays the same over restarts; nil from an earlier version.
    package var folder: String?
    /// The addresses for devices, as `HOST:PORT`.
    package var addresses: [String]
    package var version: String
    /// The number of migrations of its schema.
    package var schema: Int
    /// True while the gateway shuts down and accepts no new devices.
    package var isLeaving = false

    package init(id: String, folder: String? = nil, addresses: [String], version: String, schema: Int) {
      (self.id, self.folder, self.addresses) = (id, folder, addresses)
      (self.version, self.schema) = (version, schema)
    }
  }

  private struct State {
    var own: Peer
    var others: [String: (peer: Peer, lastSeen: ContinuousClock.Instant)] = [:]
    /// Functions that cancel the subscriptions.
    var cancels: [@Sendable () -> Void] = []
    var work: Task<Void, Never>?
  }

  private static let subject = "cell.gateways"
  private static let interval = Duration.seconds(1)
  /// The time without a description after which a gateway counts as absent.
  private static let lifetime = Duration.seconds(5)
  /// The time without a description after which a gateway is forgotten. It allows for a restart or a repair: devices
  /// that connect until then need its address.
  private static let memory = Duration.seconds(3600)
  /// The maximum number of concurrent answers to other gateways; a request beyond it gets an empty answer.
  private static let maximumAnswers = 256
  /// The maximum numbers of remembered gateways, and of addresses of each.
  private static let (maximumCount, maximumAddresses) = (1_000, 16)

  private let transport: any NATSTransport
  private let now: @Sendable () -> ContinuousClock.Instant
  private let state: Mutex<State>
  private let answering = Atomic<Int>(0)

  package init(
    _ transport: any NATSTransport, own: Peer, now: @escaping @Sendable () -> ContinuousClock.Instant = { .now }
  ) {
    (self.transport, self.now) = (transport, now)
    state = Mutex(State(own: own))
  }

  /// The description of this gateway.
  package var own: Peer { state.withLock { $0.own } }

  /// The other gateways from which a description was received in the last hour: present ones first, in the order of
  /// their ids, then absent ones, the most recently received first.
  ///
  /// A gateway that was restarted is listed once, as its current process. `isPresent` is true if a description was
  /// received recently.
  package var others: [(peer: Peer, isPresent: Bool)] {
    let now = now()
    return state.withLock { state in
      state.others = state.others.filter { now - $0.value.lastSeen < Membership.memory }
      let present = state.others.values.filter { now - $0.lastSeen < Membership.lifetime }
      let absent = state.others.values.filter { now - $0.lastSeen >= Membership.lifetime }.sorted {
        $0.lastSeen > $1.lastSeen
      }
      let named = { (peer: Peer) in peer.folder ?? peer.addresses.first ?? peer.id }
      var names = Set(present.map { named($0.peer) })
      names.insert(named(state.own))
      var others = present.map(\.peer).sorted { $0.id < $1.id }.map { (peer: $0, isPresent: true) }
      for (peer, _) in absent where names.insert(named(peer)).inserted { others.append((peer, false)) }
      return others
    }
  }

  /// Starts publishing this gateway's description and receiving those of others.
  package func start() throws {
    let cancel = try transport.subscribe(Membership.subject, queue: nil) { [weak self] in self?.take($0) }
    let work = Task { [weak self] in
      while !Task.isCancelled, let self {
        publishOwn()
        try? await Task.sleep(for: Membership.interval)
      }
    }
    state.withLock { state in
      state.cancels.append(cancel)
      state.work = work
    }
  }

  /// Publishes the addresses for devices, once this gateway accepts connections.
  package func announce(_ addresses: [String]) {
    state.withLock { $0.own.addresses = Array(addresses.prefix(Membership.maximumAddresses)) }
    publishOwn()
  }

  /// Publishes that this gateway accepts no new devices.
  package func leave() {
    state.withLock { $0.own.isLeaving = true }
    publishOwn()
  }

  package func stop() {
    let (cancels, work) = state.withLock { ($0.cancels, $0.work) }
    work?.cancel()
    for cancel in cancels { cancel() }
  }

  private func publishOwn() { transport.publish(Membership.subject, controlJSON(own)) }

  private func take(_ message: NATSMessage) {
    guard let peer = try? decodeJSON(Peer.self, from: message.body),
      peer.addresses.count <= Membership.maximumAddresses
    else { return }
    let now = now()
    let isNew = state.withLock { state -> Bool in
      guard peer.id != state.own.id else { return false }
      let isNew = state.others[peer.id] == nil
      if isNew, state.others.count >= Membership.maximumCount {
        guard let oldest = state.others.min(by: { $0.value.lastSeen < $1.value.lastSeen }),
          now - oldest.value.lastSeen >= Membership.lifetime
        else { return false }
        state.others[oldest.key] = nil
      }
      state.others[peer.id] = (peer, now)
      return isNew
    }
    // Devices send requests to a new gateway at once, which may then need an answer of this one.
    if isNew { publishOwn() }
  }

  // MARK: Requests

  /// Answers requests of other gateways to this one.
  package func answer(
    _ what: String, _ body: @escaping @Sendable (_ question: [UInt8]) async -> [UInt8]
  ) throws {
    let cancel = try transport.subscribe("cell.gateway.\(own.id).\(what)", queue: nil) { [weak self] message in
      guard let self, let reply = message.reply else { return }
      guard answering.add(1, ordering: .relaxed).newValue <= Membership.maximumAnswers else {
        answering.subtract(1, ordering: .relaxed)
        return transport.publish(reply, [])
      }
      Task {
        let answer = await body(message.body)
        self.answering.subtract(1, ordering: .relaxed)
        self.transport.publish(reply, answer)
      }
    }
    state.withLock { $0.cancels.append(cancel) }
  }

  /// Sends a request to another gateway.
  ///
  /// - Parameter id: the id of its process.
  /// - Returns: the answer; nil when the gateway is not connected, has not answered in time, or has no answer.
  package func ask(_ id: String, _ what: String, _ question: [UInt8], within time: Duration) async -> [UInt8]? {
    let answer = try? await transport.request("cell.gateway.\(id).\(what)", question, timeout: time)
    return answer.flatMap { $0.body.isEmpty ? nil : $0.body }
  }

  // MARK: Messages to all gateways

  /// Calls `body` for messages from other gateways to all gateways.
  package func subscribe(_ what: String, _ body: @escaping @Sendable (NATSMessage) -> Void) throws {
    let id = own.id
    let cancel = try transport.subscribe("cell.\(what)", queue: nil) { message in
      if message.header(Membership.originHeader) != id { body(message) }
    }
    state.withLock { $0.cancels.append(cancel) }
  }

  /// Sends a message to all other gateways.
  package func publish(_ what: String, headers: [(name: String, value: String)] = [], _ body: [UInt8]) {
    transport.publish("cell.\(what)", headers: headers + [(name: Membership.originHeader, value: own.id)], body)
  }

  private static let originHeader = "Gateway"
}
