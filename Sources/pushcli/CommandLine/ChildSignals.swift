import Glibc
import Synchronization

/// What becomes of the signals of this process while a command runs in front of it: what a terminal sends to both is
/// the command's, what ends this process is handed on.
struct ChildSignals {
  /// A terminal sends these to everything that runs in front.
  private static let ofTerminal = [SIGINT, SIGQUIT]
  private static let handedOn = [SIGTERM, SIGHUP]

  /// The command, from when it runs; 0 before.
  private static let child = Atomic<pid_t>(0)
  /// A signal that is still to be handed on; 0: none.
  private static let pending = Atomic<Int32>(0)

  /// What was not ignored before, so that the command finds it as it was.
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
        // Nothing here but what a handler may do: two atomics and kill(2).
        signal(number) { number in
          ChildSignals.pending.store(number, ordering: .sequentiallyConsistent)
          ChildSignals.handOn()
        }
      }
    }
  }

  /// Hands on what came before the command ran, and all that comes from now on.
  func begin(_ child: pid_t) {
    ChildSignals.child.store(child, ordering: .sequentiallyConsistent)
    ChildSignals.handOn()
  }

  /// Makes all as it was before.
  func end() {
    ChildSignals.child.store(0, ordering: .sequentiallyConsistent)
    for number in changed { signal(number, SIG_DFL) }
  }

  /// Whoever comes second of the signal and the command's start does it.
  private static func handOn() {
    let child = child.load(ordering: .sequentiallyConsistent)
    guard child > 0 else { return }
    let number = pending.exchange(0, ordering: .sequentiallyConsistent)
    if number != 0 { kill(child, number) }
  }
}
