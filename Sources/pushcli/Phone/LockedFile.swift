import Foundation
import Glibc
import Synchronization

/// An open file, with the lock of it that only one process has at a time. It is closed with the last reference.
///
/// `flock` has no limit of time and can't be canceled, so a thread of its own waits in it, for all callers together. The thread
/// outlives a caller that has reached its limit: the next caller joins the wait, and without a caller the lock is given up at once.
final class LockedFile: Sendable {
  let descriptor: Int32
  private let state = Mutex(State())

  private struct State {
    /// Whether the thread waits.
    var isAwaited = false
    var callers: [Int: Caller] = [:]
    var nextCaller = 0
  }

  private struct Caller {
    let continuation: CheckedContinuation<Bool, Never>
    /// Ends the wait at its limit.
    let limit: Task<Void, Never>
  }

  /// - Parameter descriptor: An open file, which is closed with this.
  init(_ descriptor: Int32) { self.descriptor = descriptor }

  deinit {
    // `close` alone keeps the lock while a child process holds a copy of the descriptor, between `fork` and `exec`.
    flock(descriptor, LOCK_UN)
    close(descriptor)
  }

  /// Locks the file unless another process has the lock, or the thread waits for it.
  ///
  /// - Returns: whether the file is locked; it may have been before.
  func lock() -> Bool {
    state.withLock { state in !state.isAwaited && flock(descriptor, LOCK_EX | LOCK_NB) == 0 }
  }

  func unlock() { flock(descriptor, LOCK_UN) }

  /// Waits while another process has the lock. The task's cancellation does not shorten that.
  ///
  /// - Returns: whether the lock was had within the limit. The first of several callers may have used it since then, so ``lock()``
  ///   comes next.
  func wait(atMost limit: Duration) async -> Bool {
    await withCheckedContinuation { continuation in
      let startsThread = state.withLock { state in
        let number = state.nextCaller
        state.nextCaller += 1
        let timer = Task {
          do { try await Task.sleep(for: limit) } catch { return }
          endWait(of: number)
        }
        state.callers[number] = Caller(continuation: continuation, limit: timer)
        defer { state.isAwaited = true }
        return !state.isAwaited
      }
      if startsThread { Thread.detachNewThread { self.awaitLock() } }
    }
  }

  /// A caller has reached its limit.
  private func endWait(of number: Int) {
    let caller = state.withLock { $0.callers.removeValue(forKey: number) }
    caller?.continuation.resume(returning: false)
  }

  /// Blocks the thread until the lock is had, and hands it to the callers.
  private func awaitLock() {
    var status: Int32
    repeat { status = flock(descriptor, LOCK_EX) } while status != 0 && errno == EINTR
    let isLocked = status == 0
    let callers = state.withLock { state in
      state.isAwaited = false
      if state.callers.isEmpty { flock(descriptor, LOCK_UN) }
      defer { state.callers = [:] }
      return Array(state.callers.values)
    }
    for caller in callers {
      caller.limit.cancel()
      caller.continuation.resume(returning: isLocked)
    }
  }
}

/// The reason why a journal can't be used now: another screen writes it.
struct JournalInUse: Error {
  /// How long a screen waits for another one's write: one that is stopped in the middle of it keeps the lock.
  private static let limit = Duration.seconds(10)

  let file: LockedFile
  let path: String

  /// Returns when the other screen has written.
  ///
  /// - Throws: ``CommandFailure`` at the limit.
  func waitForEnd() async throws {
    guard await file.wait(atMost: JournalInUse.limit) else {
      throw CommandFailure(.failed, "another screen has locked \(path): continue it if it is stopped, or end it")
    }
  }
}
