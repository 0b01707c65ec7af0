import Glibc

/// Turns signals into bytes that `poll` can wait for: the handler writes the signal's number to a pipe.
///
/// The pipe and the handlers are made once and stay for the rest of the process; one reader at a time.
enum SignalPipe {
  /// The byte that wakes the reader without a signal, so that it can end.
  static let wakeByte: UInt8 = 0

  /// The signals that ask the program to do something; each had its default action before.
  private static let signals = [SIGTERM, SIGINT, SIGHUP, SIGWINCH, SIGTSTP, SIGCONT]

  /// Both ends, non-blocking: a full pipe means that enough waits to be read.
  fileprivate static let ends: (read: Int32, write: Int32) = {
    var descriptors: [Int32] = [-1, -1]
    let result = unsafe pipe(&descriptors)
    precondition(result == 0, "no descriptors left for a pipe")
    for descriptor in descriptors {
      _ = fcntl(descriptor, F_SETFD, FD_CLOEXEC)
      _ = fcntl(descriptor, F_SETFL, O_NONBLOCK)
    }
    return (descriptors[0], descriptors[1])
  }()

  /// The end to wait for and to read.
  static var descriptor: Int32 { ends.read }

  /// Makes the signals arrive in the pipe.
  static func install() {
    _ = ends
    for signal in signals { catchSignal(signal) }
    _ = Glibc.signal(SIGPIPE, SIG_IGN)
  }

  /// Gives the signals their default action again.
  static func uninstall() {
    for signal in signals { _ = Glibc.signal(signal, SIG_DFL) }
  }

  /// Wakes the reader.
  static func wake() {
    writeToPipe(wakeByte)
  }

  /// What arrived since the last call.
  static func drain() -> [UInt8] {
    var bytes = [UInt8](repeating: 0, count: 64)
    let count = unsafe read(ends.read, &bytes, bytes.count)
    return Array(bytes.prefix(max(count, 0)))
  }

  /// Stops the whole job as ctrl-z does outside of raw mode, and returns when the shell continues it.
  static func stopJob() {
    _ = Glibc.signal(SIGTSTP, SIG_DFL)
    kill(0, SIGTSTP)
    catchSignal(SIGTSTP)
  }

  private static func catchSignal(_ signal: Int32) {
    var action = sigaction()
    unsafe action.__sigaction_handler.sa_handler = writeSignal
    action.sa_flags = SA_RESTART
    unsafe sigaction(signal, &action, nil)
  }
}

/// Async-signal-safe.
private func writeSignal(_ signal: Int32) {
  let saved = errno
  writeToPipe(UInt8(truncatingIfNeeded: signal))
  errno = saved
}

private func writeToPipe(_ byte: UInt8) {
  var byte = byte
  _ = unsafe write(SignalPipe.ends.write, &byte, 1)
}
