import Dispatch
import Glibc

/// A counting semaphore whose timed waits use the monotonic clock.
///
/// A signal that comes before the wait is not lost. The timed waits of `DispatchSemaphore` use the wall clock on
/// Linux: if the clock is set back by an hour, they take an hour longer.
@safe final class MonotonicSemaphore: Sendable {
  nonisolated(unsafe) private let mutex = UnsafeMutablePointer<pthread_mutex_t>.allocate(capacity: 1)
  nonisolated(unsafe) private let condition = UnsafeMutablePointer<pthread_cond_t>.allocate(capacity: 1)
  /// The number of signals that no wait has consumed; guarded by the mutex.
  nonisolated(unsafe) private var count = 0

  init() {
    unsafe mutex.initialize(to: pthread_mutex_t())
    unsafe condition.initialize(to: pthread_cond_t())
    unsafe pthread_mutex_init(mutex, nil)
    var attributes = pthread_condattr_t()
    unsafe pthread_condattr_init(&attributes)
    unsafe pthread_condattr_setclock(&attributes, CLOCK_MONOTONIC)
    unsafe pthread_cond_init(condition, &attributes)
    unsafe pthread_condattr_destroy(&attributes)
  }

  deinit {
    unsafe pthread_cond_destroy(condition)
    unsafe pthread_mutex_destroy(mutex)
    unsafe condition.deallocate()
    unsafe mutex.deallocate()
  }

  /// Ends one wait, the current one or the next.
  func signal() {
    unsafe pthread_mutex_lock(mutex)
    unsafe count += 1
    unsafe pthread_cond_signal(condition)
    unsafe pthread_mutex_unlock(mutex)
  }

  func wait() { _ = wait(until: .distantFuture) }

  /// Waits for a signal, at most until `time`.
  ///
  /// - Returns: true if there was one.
  func wait(until time: DispatchTime) -> Bool {
    unsafe pthread_mutex_lock(mutex)
    defer { unsafe pthread_mutex_unlock(mutex) }
    var end = timespec(
      tv_sec: Int(time.uptimeNanoseconds / 1_000_000_000), tv_nsec: Int(time.uptimeNanoseconds % 1_000_000_000))
    while unsafe count == 0 {
      let code =
        time == .distantFuture
        ? unsafe pthread_cond_wait(condition, mutex) : unsafe pthread_cond_timedwait(condition, mutex, &end)
      if code == ETIMEDOUT { break }
    }
    guard unsafe count > 0 else { return false }
    unsafe count -= 1
    return true
  }
}
