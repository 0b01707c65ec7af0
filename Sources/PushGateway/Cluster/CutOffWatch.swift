import GatewayClient
import GatewayProtocol
import Synchronization

/// Detects that this gateway reaches no broker while another gateway of the cluster is ready, so that devices are
/// redirected to it.
///
/// Devices stay while no other gateway is ready.
final class CutOffWatch: Sendable {
  private struct State {
    /// The number of consecutive checks without a connected broker.
    var failures = 0
    var isCutOff = false
    var work: Task<Void, Never>?
  }

  private static let interval = Duration.seconds(1)
  /// The number of checks without a broker between two queries to the other gateways. A connection to a restarted
  /// broker, or to another broker, is established sooner.
  private static let looksForQuestion = 3

  private let isConnected: @Sendable () -> Bool
  private let isOtherReady: @Sendable () async -> Bool
  private let changed: @Sendable (Bool) -> Void
  private let state = Mutex(State())

  /// Creates a watch, which ``start()`` starts.
  ///
  /// - Parameters:
  ///   - isConnected: returns true if a broker is connected.
  ///   - isOtherReady: queries the other gateways at their own addresses; returns true if one of them is ready.
  ///   - changed: called when the state begins and when it ends, on any thread.
  init(
    isConnected: @escaping @Sendable () -> Bool, isOtherReady: @escaping @Sendable () async -> Bool,
    changed: @escaping @Sendable (_ isCutOff: Bool) -> Void
  ) {
    (self.isConnected, self.isOtherReady, self.changed) = (isConnected, isOtherReady, changed)
  }

  /// True while devices are to be redirected to another gateway.
  var isCutOff: Bool { state.withLock { $0.isCutOff } }

  func start() {
    let work = Task { [weak self] in
      while !Task.isCancelled, let self {
        await look()
        try? await Task.sleep(for: CutOffWatch.interval)
      }
    }
    state.withLock { $0.work = work }
  }

  func stop() { state.withLock { $0.work }?.cancel() }

  /// Runs one check.
  func look() async {
    guard !isConnected() else {
      state.withLock { $0.failures = 0 }
      return set(false)
    }
    let isAsking = state.withLock { state in
      state.failures += 1
      return state.failures.isMultiple(of: CutOffWatch.looksForQuestion)
    }
    // The brokers may have recovered for all gateways, and this one may be the last to reconnect.
    if isAsking { set(await isOtherReady() && !isConnected()) }
  }

  private func set(_ isCutOff: Bool) {
    let isNew = state.withLock { state in
      defer { state.isCutOff = isCutOff }
      return state.isCutOff != isCutOff
    }
    if isNew { changed(isCutOff) }
  }
}

/// Queries other gateways over TLS at their device addresses; queries through the brokers would need a broker.
enum OtherGateways {
  /// The time for all answers, and for one answer once its connection is made.
  private static let time = Duration.seconds(3)
  /// The maximum number of addresses that are queried.
  private static let maximumCount = 8

  /// Returns true if one of the gateways is ready.
  ///
  /// - Parameter trustPath: the file with the certificates of the CA that issued their certificates.
  static func isAnyReady(_ addresses: [GatewayAddress], trustPath: String) async -> Bool {
    let asked = addresses.prefix(maximumCount)
    let (answers, continuation) = AsyncStream.makeStream(of: Bool.self)
    for address in asked {
      Task { continuation.yield(await isReady(address, trustPath: trustPath)) }
    }
    let deadline = Task {
      try await Task.sleep(for: time)
      continuation.finish()
    }
    defer { deadline.cancel() }
    var left = asked.count
    if left == 0 { return false }
    for await isReady in answers {
      if isReady { return true }
      left -= 1
      if left == 0 { return false }
    }
    return false
  }

  private static func isReady(_ address: GatewayAddress, trustPath: String) async -> Bool {
    guard
      let client = try? await Client.connect(to: .tls(host: address.host, port: address.port, trustPath: trustPath))
    else { return false }
    let deadline = Task {
      try await Task.sleep(for: time)
      client.close()
    }
    defer {
      deadline.cancel()
      client.close()
    }
    return (try? await client.request("GET", "/readyz"))?.status == 200
  }
}
