import GatewayProtocol
import HTTP2Transport
import PushCore
import Synchronization

/// The listeners for senders and devices: the entries of `listen`, and the sockets bound before the process began.
/// They can change while connections are open.
final class GatewayListeners: Sendable {
  /// One address to listen on.
  struct Plan: Sendable {
    /// The entry of `listen`; nil for a socket of the service manager without an entry.
    var entry: String?
    /// One of the addresses of the entry's host.
    var address: Listener.Address
    /// The host name, if it has one other than `localhost`: certificates are issued for names.
    var host: String?
    var environmentRule: ConnectionOptions.EnvironmentRule
    var servesChannelsOnly: Bool
    /// The socket, if it is already bound.
    var inherited: InheritedSockets.Entry?

    /// True if the system assigns the port, a different one for each socket.
    fileprivate var choosesPort: Bool {
      guard case .tcp(_, 0) = address else { return false }
      return true
    }

    /// Returns true if a listener of this plan serves the other one.
    fileprivate func isSame(as other: Plan) -> Bool { entry == other.entry && address == other.address }

    /// Returns true if both are addresses of one host name.
    fileprivate func isBeside(_ other: Plan) -> Bool { entry == other.entry && address != other.address }

    /// The name by which the next program finds its socket.
    fileprivate var name: String { inherited?.name ?? entry.map(InheritedSockets.Name.listener) ?? "unknown" }
  }

  private struct Open: Sendable {
    let plan: Plan
    let listener: Listener

    /// The bound address, with the port that the system assigned.
    var address: Listener.Address { plan.address.with(port: listener.port) }

    var shown: Shown {
      let suffix = plan.servesChannelsOnly ? "+channels" : ""
      return Shown(
        record: .init(address: listener.description, environment: plan.environmentRule.description + suffix),
        servesChannelsOnly: plan.servesChannelsOnly)
    }
  }

  /// A listener as users see it.
  private struct Shown: Sendable {
    let record: GatewayStatus.ListenerRecord
    let servesChannelsOnly: Bool
  }

  private struct State: Sendable {
    var open: [Open] = []
    /// The listeners of the last change. They stay after the gateway has stopped accepting: a command that asks then
    /// sends to the next gateway, which listens on the same addresses.
    var shown: [Shown] = []
  }

  private let tls: TLSSource
  private let unauthenticated: UnauthenticatedConnections
  private let state = Mutex(State())
  private let loops = Mutex<Loops?>(nil)

  init(tls: TLSSource, unauthenticated: UnauthenticatedConnections) {
    (self.tls, self.unauthenticated) = (tls, unauthenticated)
  }

  /// Sets the loops for connections. To be called once, before listening begins.
  func attach(_ loops: Loops) { self.loops.withLock { $0 = loops } }

  /// The addresses in the order of `listen`; those for all requests precede those for channels only.
  var addresses: [String] {
    let shown = state.withLock { $0.shown }
    let all = (shown.filter { !$0.servesChannelsOnly } + shown.filter(\.servesChannelsOnly)).map(\.record.address)
    // A name is listed once, independent of the number of its addresses.
    return all.enumerated().filter { all.firstIndex(of: $0.element) == $0.offset }.map(\.element)
  }

  /// The status line for the service manager.
  var status: String { "listening on \(addresses.joined(separator: ", "))" }

  /// The use of each of ``addresses``.
  var records: [GatewayStatus.ListenerRecord] {
    state.withLock { $0.shown }.map(\.record).reduce(into: []) { records, record in
      if !records.contains(where: { $0.address == record.address }) { records.append(record) }
    }
  }

  /// Returns the plans for listeners.
  ///
  /// A bound socket is assigned to the entry of `listen` with its address. A socket without an entry gets a plan of
  /// its own, in the environment in its name, or else the gateway's; it replaces the default of `listen`. A socket of
  /// the previous gateway process without an entry is released.
  ///
  /// - Throws: ``ConfigurationError``, or ``ListenError`` for a name without an address.
  static func plans(_ configuration: Configuration, _ inherited: InheritedSockets) async throws -> [Plan] {
    var left = inherited.entries.filter { $0.name != InheritedSockets.Name.admin }
    var plans: [Plan] = []
    for entry in configuration.listen {
      let (listenAddress, rule) = try SettingAddress.listener(entry, otherwise: configuration.environment)
      let name = InheritedSockets.Name.listener(entry)
      for address in try await listenAddress.expanded() {
        let socket =
          left.firstIndex { $0.name == name && $0.socket.address?.host == address.numeric.host }
          ?? left.firstIndex { !InheritedSockets.Name.isOwn($0.name) && $0.socket.address == address.numeric }
        plans.append(
          Plan(
            entry: entry, address: address,
            host: address == listenAddress || listenAddress.host == "localhost" ? nil : listenAddress.host,
            environmentRule: rule, servesChannelsOnly: SettingAddress.servesChannelsOnly(entry),
            inherited: socket.map { left.remove(at: $0) }))
      }
    }
    left.removeAll { InheritedSockets.Name.isOwn($0.name) }
    if !left.isEmpty, !configuration.namesListeners { plans.removeAll { $0.inherited == nil } }
    return plans
      + left.compactMap { socket in
        guard let address = socket.socket.address else { return nil }
        let words = socket.name.replacing(SettingAddress.channelsMark, with: "")
        let rule = SettingAddress.environmentRule(words, otherwise: configuration.environment)
        return Plan(
          entry: nil, address: address, host: nil, environmentRule: rule ?? .fixed(configuration.environment),
          servesChannelsOnly: SettingAddress.servesChannelsOnly(socket.name), inherited: socket)
      }
  }

  /// Checks that the addresses of plans can be bound, by binding and releasing them.
  ///
  /// - Throws: ``ListenError`` for the first address that can't be bound.
  static func check(_ plans: [Plan]) async throws(ListenError) {
    for plan in plans where plan.inherited == nil && !plan.choosesPort {
      do {
        _ = try await ListeningSocket.bindApart(plan.address)
      } catch {
        // This machine need not have all addresses of an entry.
        if error.isUnavailable, plans.contains(where: plan.isBeside) { continue }
        throw error
      }
    }
  }

  /// Changes the listeners to `plans`: unchanged listeners continue, and connections stay open.
  ///
  /// - Parameter options: the connection options, except those in a plan.
  /// - Throws: ``ListenError``; then nothing has changed.
  func change(to plans: [Plan], _ options: ConnectionOptions) async throws(ListenError) {
    guard let loops = loops.withLock({ $0 }) else { return }
    let before = state.withLock { $0.open }
    var open: [Open] = []
    var made: [Open] = []
    // This machine need not have all addresses of an entry.
    var missing: [String?: ListenError] = [:]
    for var plan in plans {
      if let same = before.first(where: { $0.plan.isSame(as: plan) }) {
        open.append(same)
        continue
      }
      // The same address in a changed entry: both listeners share its socket until the first one is closed.
      if plan.inherited == nil, !plan.choosesPort, let same = before.first(where: { $0.plan.address == plan.address }) {
        plan.inherited = same.listener.shareSocket().map { .init(name: plan.name, socket: $0) }
      }
      let beside = plan.choosesPort ? open.first { plan.isBeside($0.plan) } : nil
      // `0.0.0.0` and a single address exclude each other on a port. A listener that this change closes shares its
      // port until then.
      let overlapping = before.filter { one in
        one.address.overlaps(plan.address) && !plans.contains { one.plan.isSame(as: $0) }
      }
      for one in overlapping { one.listener.sharePort(true) }
      defer { for one in overlapping { one.listener.sharePort(false) } }
      do {
        let listener = try await listen(
          plan, port: beside?.listener.port, sharesPort: !overlapping.isEmpty, options, on: loops)
        if !overlapping.isEmpty { listener.sharePort(false) }
        made.append(Open(plan: plan, listener: listener))
        open.append(made[made.count - 1])
      } catch {
        // The port that was free at one address need not be free at the other.
        if plans.contains(where: plan.isBeside), error.isUnavailable || beside != nil {
          missing[plan.entry] = missing[plan.entry] ?? error
          continue
        }
        for one in made { await one.listener.close() }
        throw error
      }
    }
    if let lost = missing.first(where: { entry, _ in !open.contains { $0.plan.entry == entry } }) {
      for one in made { await one.listener.close() }
      throw lost.value
    }
    let rest = before.filter { one in !open.contains { $0.listener === one.listener } }
    state.withLock { $0 = State(open: open, shown: open.map(\.shown)) }
    for one in rest { await one.listener.close() }
  }

  /// - Parameters:
  ///   - port: the port that the system assigned to another address of the same name.
  ///   - sharesPort: whether the address may overlap with the address of another listener.
  private func listen(
    _ plan: Plan, port: Int?, sharesPort: Bool, _ shared: ConnectionOptions, on loops: Loops
  ) async throws(ListenError) -> Listener {
    var options = shared
    options.environmentRule = plan.environmentRule
    options.servesChannelsOnly = plan.servesChannelsOnly
    return try await Listener.listen(
      on: plan.address.with(port: port), named: plan.host, socket: plan.inherited?.socket, sharesPort: sharesPort,
      tls: tls, options: options, loops: loops, unauthenticated: unauthenticated)
  }

  /// The sockets bound by the service manager, for the next plans.
  var inherited: InheritedSockets {
    InheritedSockets(state.withLock { $0.open.compactMap { $0.plan.entry == nil ? $0.plan.inherited : nil } })
  }

  /// Stops accepting.
  func close() async { _ = await handOver() }

  /// Stops accepting; new clients are queued until the next program of this process accepts.
  func handOver() async -> [InheritedSockets.Entry] {
    let open = state.withLock { state in
      defer { state.open = [] }
      return state.open
    }
    loops.withLock { $0 = nil }
    var entries: [InheritedSockets.Entry] = []
    for one in open {
      guard let socket = await one.listener.handOver() else { continue }
      entries.append(.init(name: one.plan.name, socket: socket))
    }
    return entries
  }
}
