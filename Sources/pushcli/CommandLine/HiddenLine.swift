import Glibc

/// The signals that end a process that reads a line.
private let signals = [SIGINT, SIGTERM, SIGQUIT, SIGHUP]

/// The terminal's settings before the change. Never freed, since a signal handler reads it.
nonisolated(unsafe) private let before: UnsafeMutablePointer<termios> = {
  let pointer = UnsafeMutablePointer<termios>.allocate(capacity: 1)
  unsafe pointer.initialize(to: termios())
  return unsafe pointer
}()

/// Prints the question on the terminal and reads a line, such as a password, that the terminal does not show during
/// input; nil at the end of the input.
///
/// The terminal's echo is restored after the line, and before a signal ends the process.
func readHiddenLine(_ question: String) -> String? {
  guard unsafe tcgetattr(STDIN_FILENO, before) == 0 else {
    Output.ask(question)
    return readLine()
  }
  for number in signals { signal(number, showAndDie) }
  var hidden = unsafe before.pointee
  hidden.c_lflag &= ~tcflag_t(ECHO)
  unsafe tcsetattr(STDIN_FILENO, TCSAFLUSH, &hidden)
  defer {
    unsafe tcsetattr(STDIN_FILENO, TCSAFLUSH, before)
    for number in signals { signal(number, SIG_DFL) }
    Output.words("")
  }
  Output.ask(question)
  return readLine()
}

/// Restores the echo and ends the process by the signal. It is async-signal-safe; the raised signal is blocked until
/// the handler returns, and then ends the process.
private func showAndDie(_ number: Int32) {
  _ = unsafe tcsetattr(STDIN_FILENO, TCSANOW, before)
  signal(number, SIG_DFL)
  raise(number)
}
