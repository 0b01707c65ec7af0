import Dispatch
import NATSClient
import Synchronization

/// An answer for which a thread blocks.
final class BlockingAnswer<Value: Sendable>: Sendable {
  private let given = DispatchSemaphore(value: 0)
  private let result = Mutex<Result<Value, JetStreamError>>(.failure(.link(.closed)))

  func give(_ result: Result<Value, JetStreamError>) {
    self.result.withLock { $0 = result }
    given.signal()
  }

  func wait() throws(JetStreamError) -> Value {
    given.wait()
    return try result.withLock { $0 }.get()
  }
}
