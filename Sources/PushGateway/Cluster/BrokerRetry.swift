import Logging
import NATSClient
import PushCluster
import PushCore
import PushStorage

/// Retries operations while brokers start, or elect a leader.
struct BrokerRetry {
  /// The time that the gateway waits for brokers that do not answer.
  static let time = Duration.seconds(60)
  private static let pause = Duration.milliseconds(500)

  private let end = ContinuousClock.now + BrokerRetry.time
  private let logger: Logger
  private var hasTold = false

  init(logger: Logger) { self.logger = logger }

  /// Repeats an operation after transient errors, until it succeeds or the time has elapsed.
  mutating func wait<Value>(_ body: () async throws -> Value) async throws -> Value {
    while true {
      do { return try await body() } catch {
        guard BrokerRetry.mayPass(error), .now < end else { throw error }
        if !hasTold {
          logger.log(.brokersAwaited, "the brokers do not answer yet: \(error); the gateway waits for them")
          hasTold = true
        }
        try await Task.sleep(for: BrokerRetry.pause)
      }
    }
  }

  /// Returns true if the same operation may succeed a moment later.
  static func mayPass(_ error: any Error) -> Bool {
    switch error {
    case NATSError.refused, JetStreamError.link(.refused): false
    case is NATSError: true
    case let error as JetStreamError: error.mayPass
    case let error as StoreError: error.mayPass
    default: false
    }
  }
}
