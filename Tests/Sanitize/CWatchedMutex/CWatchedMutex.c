// Swift's `Mutex`, as ThreadSanitizer can follow it; linked into the tests of `make sanitize` alone.
//
// The way on which a lock is free is inlined into our code, where the sanitizer sees it: a compare-and-exchange from 0 to the
// thread's number, and back. The way on which it is held is in libswiftSynchronization, which nobody instruments, and takes
// the lock in the kernel: whoever got it that way would seem to race with whoever had it before. This takes the place of that
// function in the test program. It never says that somebody waits, so that a lock is always given back on the inlined way.

#include "CWatchedMutex.h"
#include <sched.h>
#include <stdatomic.h>
#include <stdint.h>

// Synchronization._MutexHandle._lockSlow(UInt32) -> ()
__attribute__((swiftcall)) void watched_mutex_lock_slow(
    uint32_t thread, __attribute__((swift_context)) _Atomic(uint32_t) *owner)
    __asm__("$s15Synchronization12_MutexHandleV9_lockSlowyys6UInt32VF");

__attribute__((swiftcall)) void watched_mutex_lock_slow(
    uint32_t thread, __attribute__((swift_context)) _Atomic(uint32_t) *owner) {
  uint32_t none = 0;
  while (!atomic_compare_exchange_weak_explicit(owner, &none, thread, memory_order_acquire, memory_order_relaxed)) {
    none = 0;
    sched_yield();
  }
}
