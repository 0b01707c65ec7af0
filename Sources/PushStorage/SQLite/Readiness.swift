import Dispatch
import PushCore
import Synchronization

/// The state of data that is read at the start while other code already needs it, and the waits for it.
final class Readiness: Sendable {
  private let reading = DispatchGroup()
  private let outcome = Mutex<Result<Void, StoreError>?>(nil)
  private let isReadyNow = Atomic(false)

  init() { reading.enter() }

  /// True if the data has been read; cheap enough to check for each use.
  var isReady: Bool { isReadyNow.load(ordering: .acquiring) }

  /// Reports, once, that the data has been read or why it can't be.
  func end(_ result: Result<Void, StoreError>) {
    outcome.withLock { $0 = result }
    if case .success = result { isReadyNow.store(true, ordering: .releasing) }
    reading.leave()
  }

  /// Returns when the data has been read.
  ///
  /// - Throws: the reason if it can't be read.
  func wait() throws(StoreError) {
    if isReady { return }
    reading.wait()
    try outcome.withLock { $0 }?.get()
  }

  /// Returns when the data has been read, without blocking a thread.
  ///
  /// - Throws: the reason if it can't be read.
  func ready() async throws(StoreError) {
    if isReady { return }
    await withCheckedContinuation { continuation in reading.notify(queue: .global()) { continuation.resume() } }
    try outcome.withLock { $0 }?.get()
  }
}
