import Foundation
import Glibc
import Synchronization

/// An open file with an exclusive lock, which only one process can hold at a time. The last reference closes the
/// file.
///
/// `flock` has no timeout and cannot be canceled. One dedicated thread therefore blocks in it for all callers
/// together. The thread outlives a caller that has timed out: the next caller joins the wait, and without a caller
/// the thread releases the lock at once.
final class LockedFile: Sendable {
  let descriptor: Int32
  private let state = Mutex(State())

  private struct State {
    /// True while the thread blocks in `flock`.
    var isAwaited = false
    var callers: [Int: Caller] = [:]
    var nextCaller = 0
  }

  private struct Caller {
    let continuation: CheckedContinuation<Bool, Never>
    /// Ends the wait at its timeout.
    let limit: Task<Void, Never>
  }

  /// - Parameter descriptor: An open file descriptor, which the instance closes.
  init(_ descriptor: Int32) { self.descriptor = descriptor }

  deinit {
    // `close` alone keeps the lock while a child process holds a copy of the descriptor, between `fork` and `exec`.
    flock(descriptor, LOCK_UN)
    close(descriptor)
  }

  /// Locks the file unless another process holds the lock or the thread waits for it.
  ///
  /// - Returns: True if the file is locked; it may have been locked before the call.
  func lock() -> Bool {
    state.withLock { state in !state.isAwaited && flock(descriptor, LOCK_EX | LOCK_NB) == 0 }
  }

  func unlock() { flock(descriptor, LOCK_UN) }

  /// Waits while another process holds the lock. Cancellation of the task does not shorten the wait.
  ///
  /// - Returns: True if the lock was acquired within the limit. The first of several callers may have used it since
  ///   then, so ``lock()`` must follow.
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

  /// Resumes a caller that has timed out.
  private func endWait(of number: Int) {
    let caller = state.withLock { $0.callers.removeValue(forKey: number) }
    caller?.continuation.resume(returning: false)
  }

  /// Blocks the thread until it acquires the lock, and then resumes the callers.
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

/// Reports that another screen is writing the journal.
struct JournalInUse: Error {
  let file: LockedFile
  let path: String
  /// The time that a screen waits for the write of another one. A screen that is stopped during a write keeps the
  /// lock.
  let limit: Duration

  /// Waits until the other screen has written.
  ///
  /// - Throws: ``CommandFailure`` if the wait times out.
  func waitForEnd() async throws {
    guard await file.wait(atMost: limit) else {
      throw CommandFailure(.failed, "another screen has locked \(path): continue it if it is stopped, or end it")
    }
  }
}
