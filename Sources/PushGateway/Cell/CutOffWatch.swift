import GatewayClient
import GatewayProtocol
import Logging
import PushCore
import Synchronization

/// Notices that this gateway reaches no broker while another gateway of the cell is ready, so that devices go there.
///
/// Devices stay while no other gateway is ready.
final class CutOffWatch: Sendable {
  private struct State {
    /// Looks in a row at which no broker was connected.
    var failures = 0
    var isCutOff = false
    var work: Task<Void, Never>?
  }

  private static let interval = Duration.seconds(1)
  /// The number of looks without a broker from one question to the other gateways to the next. A link to a broker that
  /// starts again, or to another broker, is there sooner.
  private static let looksForQuestion = 3

  private let isConnected: @Sendable () -> Bool
  private let isOtherReady: @Sendable () async -> Bool
  private let changed: @Sendable (Bool) -> Void
  private let state = Mutex(State())

  /// - Parameters:
  ///   - isConnected: whether a broker is connected.
  ///   - isOtherReady: asks the other gateways, at their own addresses, whether one of them is ready.
  ///   - changed: called when it begins and when it ends, on any thread.
  init(
    isConnected: @escaping @Sendable () -> Bool, isOtherReady: @escaping @Sendable () async -> Bool,
    changed: @escaping @Sendable (_ isCutOff: Bool) -> Void
  ) {
    (self.isConnected, self.isOtherReady, self.changed) = (isConnected, isOtherReady, changed)
  }

  /// Whether devices are to go to another gateway.
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

  /// Looks once.
  func look() async {
    guard !isConnected() else {
      state.withLock { $0.failures = 0 }
      return set(false)
    }
    let isAsking = state.withLock { state in
      state.failures += 1
      return state.failures.isMultiple(of: CutOffWatch.looksForQuestion)
    }
    // The brokers may have come back for all gateways, and for this one last.
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

/// Asks other gateways over TLS, at the addresses where devices reach them; questions through the brokers need a broker.
enum OtherGateways {
  /// The time for all answers, and for one answer once its connection is made.
  private static let time = Duration.seconds(3)
  /// The most addresses that are asked.
  private static let maximumCount = 8

  /// Whether one of these says that it is ready.
  ///
  /// - Parameter trustPath: the certificates of the authority that has certified them.
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
