package import Logging
package import NATSClient
import PushCore
import Synchronization

/// Leaves a broker that is cut off from the others.
///
/// Such a broker keeps its connections and answers what it knows by itself, so nothing else tells: pushes time out, and
/// devices hear of none. The leader of the cluster is asked now and then, over the broker that this gateway has.
package final class BrokerWatch: Sendable {
  private static let interval = Duration.seconds(2)
  /// So many questions in a row without an answer are enough; an election takes one or two.
  private static let patience = 3
  /// How long a broker is kept at least, and at most while none has an answer: each change has all mailboxes read again.
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
      // Without a link the library looks for another broker by itself.
      guard engine.transport.link.isConnected else { continue }
      do {
        try await engine.requireLeader()
        (failures, stay) = (0, shortestStay)
      } catch {
        failures += 1
        guard failures >= patience, moved.map({ .now - $0 >= stay }) ?? true, !Task.isCancelled else { continue }
        logger.log(
          .brokerLeft, "the broker does not reach the cluster's leader (\(error)); the gateway connects to another")
        (failures, stay, moved) = (0, moved == nil ? stay : min(stay * 2, longestStay), .now)
        engine.transport.reconnect()
      }
    }
  }
}
