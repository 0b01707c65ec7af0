import Glibc

/// Restores the terminal when the process ends, including by a crash.
///
/// The handlers use only memory that is allocated and filled before they are installed. They call `write`,
/// `tcsetattr`, `sigaction` and `raise`, and no function that may allocate or lock (signal-safety(7)).
enum TerminalGuard {
  /// The signals that end the process at once: program errors, and SIGQUIT, which requests a core dump.
  private static let fatalSignals = [SIGSEGV, SIGBUS, SIGILL, SIGTRAP, SIGABRT, SIGFPE, SIGSYS, SIGQUIT]

  /// The sequence that reverts ``Terminal/enter()`` and unfinished output: synchronized update, link, style, focus,
  /// mouse, wrapping, paste, cursor, screen.
  static let restoreSequence: StaticString =
    "\u{1B}[?2026l\u{1B}]8;;\u{1B}\\\u{1B}[0m\u{1B}[?1004l\u{1B}[?1006l\u{1B}[?1000l\u{1B}[?7h\u{1B}[?2004l\u{1B}[?25h\u{1B}[?1049l"

  /// The terminal to restore, as the handlers read it.
  fileprivate struct Held {
    var isHeld = false
    var input: Int32 = -1
    var output: Int32 = -1
    var original = termios()
  }

  /// Never freed. Outside of the handlers, only the one entered ``Terminal`` accesses it.
  nonisolated(unsafe) fileprivate static let held: UnsafeMutablePointer<Held> = {
    let pointer = UnsafeMutablePointer<Held>.allocate(capacity: 1)
    unsafe pointer.initialize(to: Held())
    return unsafe pointer
  }()

  /// The previously installed actions, by signal number.
  nonisolated(unsafe) fileprivate static let previousActions: UnsafeMutablePointer<sigaction> = {
    let pointer = UnsafeMutablePointer<sigaction>.allocate(capacity: 65)
    unsafe pointer.initialize(repeating: sigaction(), count: 65)
    return unsafe pointer
  }()

  /// Installs the handlers, once per process; they have no effect unless a terminal is in use.
  private static let installation: Void = {
    _ = unsafe held
    for signal in fatalSignals {
      var action = sigaction()
      unsafe action.__sigaction_handler.sa_handler = restoreAndDie
      // The signal stack of Swift's crash report or of a sanitizer, if the thread has one.
      action.sa_flags = SA_ONSTACK
      unsafe sigaction(signal, &action, previousActions + Int(signal))
    }
    atexit(restoreHeldTerminal)
  }()

  /// Registers the terminal of these descriptors, so that every kind of exit restores its `original` state.
  static func hold(input: Int32, output: Int32, original: termios) {
    installation
    unsafe held.pointee.input = input
    unsafe held.pointee.output = output
    unsafe held.pointee.original = original
    unsafe held.pointee.isHeld = true
  }

  /// Restores the terminal now; does nothing if none is registered.
  static func release() {
    restoreHeldTerminal()
  }
}

/// Restores the registered terminal, at most once. Async-signal-safe.
private func restoreHeldTerminal() {
  let held = unsafe TerminalGuard.held
  guard unsafe held.pointee.isHeld else { return }
  unsafe held.pointee.isHeld = false
  let sequence = TerminalGuard.restoreSequence
  _ = unsafe write(held.pointee.output, sequence.utf8Start, sequence.utf8CodeUnitCount)
  _ = unsafe tcsetattr(held.pointee.input, TCSANOW, &held.pointee.original)
}

/// The handler of fatal signals. Async-signal-safe. The raised signal stays blocked until the handler returns, and
/// then the previously installed action handles it.
private func restoreAndDie(_ signal: Int32) {
  restoreHeldTerminal()
  unsafe sigaction(signal, TerminalGuard.previousActions + Int(signal), nil)
  raise(signal)
}
