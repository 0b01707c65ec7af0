import Dispatch
import PushCore
import Synchronization

/// Whether something has been read that a start reads while others need it already, and who waits for it.
final class Readiness: Sendable {
  private let reading = DispatchGroup()
  private let outcome = Mutex<Result<Void, StoreError>?>(nil)
  private let isReadyNow = Atomic(false)

  init() { reading.enter() }

  /// Whether it has been read; for those who look each time.
  var isReady: Bool { isReadyNow.load(ordering: .acquiring) }

  /// Says, once, that it has been read, or why it can't be.
  func end(_ result: Result<Void, StoreError>) {
    outcome.withLock { $0 = result }
    if case .success = result { isReadyNow.store(true, ordering: .releasing) }
    reading.leave()
  }

  /// Returns when it has been read.
  ///
  /// - Throws: why it can't be.
  func wait() throws(StoreError) {
    if isReady { return }
    reading.wait()
    try outcome.withLock { $0 }?.get()
  }

  /// Returns when it has been read, and holds no thread meanwhile.
  ///
  /// - Throws: why it can't be.
  func ready() async throws(StoreError) {
    if isReady { return }
    await withCheckedContinuation { continuation in reading.notify(queue: .global()) { continuation.resume() } }
    try outcome.withLock { $0 }?.get()
  }
}
