import Glibc
import Synchronization

/// The signal handling of this process while a command runs in the foreground. This process ignores signals that a
/// terminal sends to both; it forwards signals that end it.
struct ChildSignals {
  /// The signals that a terminal sends to all foreground processes.
  private static let ofTerminal = [SIGINT, SIGQUIT]
  private static let handedOn = [SIGTERM, SIGHUP]

  /// The process ID of the running command; 0 before it runs.
  private static let child = Atomic<pid_t>(0)
  /// A signal that is still to be forwarded; 0 if there is none.
  private static let pending = Atomic<Int32>(0)

  /// The signals that were not ignored before; the command gets their default actions.
  let changed: [Int32]

  init() {
    changed = (ChildSignals.ofTerminal + ChildSignals.handedOn).filter { number in
      var action = sigaction()
      unsafe sigaction(number, nil, &action)
      return unsafe action.__sigaction_handler.sa_handler == nil
    }
    ChildSignals.child.store(0, ordering: .sequentiallyConsistent)
    ChildSignals.pending.store(0, ordering: .sequentiallyConsistent)
    for number in changed {
      if ChildSignals.ofTerminal.contains(number) {
        signal(number, SIG_IGN)
      } else {
        // Only operations that a signal handler may perform: two atomics and kill(2).
        signal(number) { number in
          ChildSignals.pending.store(number, ordering: .sequentiallyConsistent)
          ChildSignals.handOn()
        }
      }
    }
  }

  /// Forwards a signal that arrived before the command ran, and all later signals.
  func begin(_ child: pid_t) {
    ChildSignals.child.store(child, ordering: .sequentiallyConsistent)
    ChildSignals.handOn()
  }

  /// Restores the default actions.
  func end() {
    ChildSignals.child.store(0, ordering: .sequentiallyConsistent)
    for number in changed { signal(number, SIG_DFL) }
  }

  /// Forwards the pending signal, once the command runs. Both the handler and ``begin(_:)`` call it, and the later call
  /// forwards.
  private static func handOn() {
    let child = child.load(ordering: .sequentiallyConsistent)
    guard child > 0 else { return }
    let number = pending.exchange(0, ordering: .sequentiallyConsistent)
    if number != 0 { kill(child, number) }
  }
}
