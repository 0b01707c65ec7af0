import Synchronization

/// Determines whether this gateway has the current shared data of the cluster, retractions among them.
///
/// A gateway that was stopped for some seconds, or whose broker was, finds old pushes in its buffers when it continues.
/// Their senders may have retracted them since. Therefore it delivers no stored push before it has caught up. A sender
/// gets the answer to a retraction when every other gateway has it (``settle(_:pause:)``), or delivers nothing without
/// it.
final class SharedDataWatch: Sendable {
  private struct State {
    /// The beginning of the last check that found all changes.
    var checked: ContinuousClock.Instant?
    var work: Task<Void, Never>?
  }

  /// The time after a check for which the data counts as current. A gateway without a heartbeat for this time counts as
  /// absent (``Membership``), so its data is not current.
  static let lifetime = Duration.seconds(5)
  private static let interval = Duration.seconds(1)
  /// The name of the request for a check at another gateway.
  private static let request = "current"

  /// Returns when this gateway has all changes that were made before the call.
  private let catchUp: @Sendable () async throws -> Void
  private let now: @Sendable () -> ContinuousClock.Instant
  private let state = Mutex(State())

  init(
    now: @escaping @Sendable () -> ContinuousClock.Instant = { .now },
    catchUp: @escaping @Sendable () async throws -> Void
  ) { (self.now, self.catchUp) = (now, catchUp) }

  /// True if the data is current.
  var isCurrent: Bool {
    let now = now()
    return state.withLock { $0.checked.map { now - $0 < SharedDataWatch.lifetime } ?? false }
  }

  /// Starts checks, one second apart.
  func start() {
    let work = Task { [weak self] in
      while !Task.isCancelled, let self {
        try? await check()
        try? await Task.sleep(for: SharedDataWatch.interval)
      }
    }
    state.withLock { $0.work = work }
  }

  func stop() { state.withLock { $0.work }?.cancel() }

  /// Runs one check.
  func check() async throws {
    let begun = now()
    try await catchUp()
    state.withLock { $0.checked = max($0.checked ?? begun, begun) }
  }

  /// Runs a check, unless the data is current.
  func becomeCurrent() async throws { if !isCurrent { try await check() } }

  // MARK: Other gateways

  /// Answers the requests of other gateways.
  func answer(_ cluster: any Cluster) throws {
    try cluster.answer(SharedDataWatch.request) { [self] _ in
      do { try await check() } catch { return [] }
      return [1]
    }
  }

  /// Returns when all other gateways have the changes that were made before the call. If one does not answer, returns
  /// after ``lifetime``: from then on it delivers nothing before it has them.
  static func settle(
    _ cluster: any Cluster, pause: @escaping @Sendable (Duration) async -> Void = { try? await Task.sleep(for: $0) }
  ) async {
    let begun = ContinuousClock.now
    let isSettled = await withTaskGroup(of: Bool.self) { group in
      for other in cluster.others where other.process != nil {
        group.addTask { await cluster.ask(other, request, [1], within: lifetime) != nil }
      }
      return await group.reduce(true) { $0 && $1 }
    }
    if !isSettled { await pause(max(.zero, begun + lifetime - .now)) }
  }
}
