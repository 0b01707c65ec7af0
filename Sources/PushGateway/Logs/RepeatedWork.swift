import Logging
import PushCore
import Synchronization

/// Work of the gateway that is repeated after a failure. The failure of each part is logged once, until the part succeeds.
final class RepeatedWork: Sendable {
  private let logger: Logger
  private let failing = Mutex<Set<String>>([])

  init(logger: Logger) { self.logger = logger }

  /// Does a part of the work. A failure during a cancellation is not logged, because the gateway ends.
  func attempt(_ part: String, _ work: () async throws -> Void) async {
    do {
      try await work()
      failing.withLock { _ = $0.remove(part) }
    } catch {
      guard !Task.isCancelled, failing.withLock({ $0.insert(part).inserted }) else { return }
      logger.log(
        .maintenanceFailed, "the periodic work on \(part) failed and is repeated: \(error)",
        metadata: ["part": "\(part)"])
    }
  }
}
