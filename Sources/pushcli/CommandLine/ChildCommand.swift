import Glibc

/// A command that runs in front of this process, on the same terminal and with the same three streams.
struct ChildCommand {
  /// How it ended.
  enum End: Equatable {
    case exited(Int32)
    case signaled(Int32)

    /// As a shell tells it: 128 + n for signal n.
    var status: Int32 {
      switch self {
      case .exited(let status): status
      case .signaled(let signal): 128 + signal
      }
    }
  }

  let words: [String]

  /// Runs it to its end.
  ///
  /// - Throws: ``CommandFailure`` with 127 when there is no such command, 126 when it can't be run, as shells do.
  func run() throws -> End {
    let signals = ChildSignals()
    defer { signals.end() }
    let child = try start(resetting: signals.changed + [SIGPIPE])
    signals.begin(child)
    var status: Int32 = 0
    while unsafe waitpid(child, &status, 0) < 0 {
      precondition(errno == EINTR, "a process that was started is there until it is waited for")
    }
    return ChildCommand.end(status)
  }

  /// How a process ended, by what `waitpid` says.
  static func end(_ status: Int32) -> End {
    status & 0x7F == 0 ? .exited((status >> 8) & 0xFF) : .signaled(status & 0x7F)
  }

  private func start(resetting signals: [Int32]) throws -> pid_t {
    var attributes = posix_spawnattr_t()
    unsafe posix_spawnattr_init(&attributes)
    defer { unsafe posix_spawnattr_destroy(&attributes) }
    var defaults = sigset_t()
    unsafe sigemptyset(&defaults)
    // A thread of the runtime may block signals, which a command would inherit.
    unsafe posix_spawnattr_setsigmask(&attributes, &defaults)
    for signal in signals { unsafe sigaddset(&defaults, signal) }
    unsafe posix_spawnattr_setsigdefault(&attributes, &defaults)
    unsafe posix_spawnattr_setflags(&attributes, Int16(POSIX_SPAWN_SETSIGDEF | POSIX_SPAWN_SETSIGMASK))
    var arguments = unsafe words.map { unsafe strdup($0) } + [nil]
    defer { for index in unsafe arguments.indices { unsafe free(arguments[index]) } }
    var child: pid_t = 0
    switch unsafe posix_spawnp(&child, words[0], nil, &attributes, &arguments, environ) {
    case 0: return child
    case ENOENT: throw CommandFailure(code: 127, "there is no command \(words[0]): check its name and $PATH")
    case let error:
      let reason = unsafe String(cString: unsafe strerror(error))
      throw CommandFailure(code: 126, "\(words[0]) can't be run: \(reason)")
    }
  }
}
