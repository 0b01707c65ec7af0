package import Logging
package import NATSClient
import PushCore
import Synchronization

/// Disconnects from a broker that can't reach the others.
///
/// Such a broker keeps its connections and answers requests that need no other broker, so nothing else reveals the
/// failure: pushes time out, and devices receive none. Therefore the watch sends periodic requests to the cluster's
/// leader over this gateway's broker.
package final class BrokerWatch: Sendable {
  private static let interval = Duration.seconds(2)
  /// The number of consecutive failed requests before a change of the broker; an election takes one or two.
  private static let failureLimit = 3
  /// The minimum time that a broker is kept, and the maximum while no broker answers: after each change all mailboxes
  /// are read again.
  private static let (shortestStay, longestStay) = (Duration.seconds(10), Duration.seconds(80))

  private let engine: JetStream
  private let logger: Logger
  private let work = Mutex<Task<Void, Never>?>(nil)

  package init(_ engine: JetStream, logger: Logger) {
    (self.engine, self.logger) = (engine, logger)
  }

  package func start() {
    let task = Task { [engine, logger] in await BrokerWatch.run(engine, logger) }
    work.withLock { $0 = task }
  }

  package func stop() { work.withLock { $0 }?.cancel() }

  private static func run(_ engine: JetStream, _ logger: Logger) async {
    var (failures, stay, moved) = (0, shortestStay, ContinuousClock.Instant?.none)
    while !Task.isCancelled {
      try? await Task.sleep(for: interval)
      // Without a link the library connects to another broker automatically.
      guard engine.transport.link.isConnected else { continue }
      do {
        try await engine.requireLeader()
        (failures, stay) = (0, shortestStay)
      } catch {
        failures += 1
        guard failures >= failureLimit, moved.map({ .now - $0 >= stay }) ?? true, !Task.isCancelled else { continue }
        logger.log(
          .brokerLeft, "the broker does not reach the cluster's leader (\(error)); the gateway connects to another")
        (failures, stay, moved) = (0, moved == nil ? stay : min(stay * 2, longestStay), .now)
        engine.transport.reconnect()
      }
    }
  }
}
