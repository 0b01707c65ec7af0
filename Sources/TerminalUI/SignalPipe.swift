import Glibc

/// Converts signals into bytes that `poll` can wait for: the handler writes the number of the signal to a pipe.
///
/// The pipe and the handlers are created once and exist until the process ends. Only one reader may use them at a
/// time.
enum SignalPipe {
  /// The byte that wakes the reader without a signal, so that it can end.
  static let wakeByte: UInt8 = 0

  /// The handled signals, all of which had their default action before.
  private static let signals = [SIGTERM, SIGINT, SIGHUP, SIGWINCH, SIGTSTP, SIGCONT]

  /// Both ends of the pipe, non-blocking. A write to a full pipe may fail, because enough bytes are then queued.
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

  /// The end of the pipe to poll and to read.
  static var descriptor: Int32 { ends.read }

  /// Installs handlers that write the signals to the pipe, and ignores SIGPIPE.
  static func install() {
    _ = ends
    for signal in signals { catchSignal(signal) }
    _ = Glibc.signal(SIGPIPE, SIG_IGN)
  }

  /// Restores the default actions of the signals.
  static func uninstall() {
    for signal in signals { _ = Glibc.signal(signal, SIG_DFL) }
  }

  static func wake() {
    writeToPipe(wakeByte)
  }

  /// Returns the bytes that arrived since the last call.
  static func drain() -> [UInt8] {
    var bytes = [UInt8](repeating: 0, count: 64)
    let count = unsafe read(ends.read, &bytes, bytes.count)
    return Array(bytes.prefix(max(count, 0)))
  }

  /// Stops the whole job as ctrl-z does outside of raw mode. Returns when the shell continues the job.
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

/// The signal handler; async-signal-safe.
private func writeSignal(_ signal: Int32) {
  let saved = errno
  writeToPipe(UInt8(truncatingIfNeeded: signal))
  errno = saved
}

private func writeToPipe(_ byte: UInt8) {
  var byte = byte
  _ = unsafe write(SignalPipe.ends.write, &byte, 1)
}
