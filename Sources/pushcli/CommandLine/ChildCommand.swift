import Foundation
import Glibc

/// A command that runs in the foreground on the terminal of this process. It has the same three streams, or pipes in
/// place of some, whose bytes this process forwards.
struct ChildCommand {
  /// The outcome of a command.
  enum End: Equatable {
    case exited(Int32)
    case signaled(Int32)

    /// The exit status as a shell reports it: 128 + n for signal n.
    var status: Int32 {
      switch self {
      case .exited(let status): status
      case .signaled(let signal): 128 + signal
      }
    }
  }

  /// The result of a finished command.
  struct Result {
    var end: End
    /// The time from the start to the end.
    var time: Duration
    /// The last lines of the forwarded streams.
    var lines: [String]
  }

  let words: [String]
  var routes: [ChildOutput.Route] = []
  /// The time for which output is forwarded after the command's end, if a background process still has it open.
  var grace = Duration.seconds(2)

  /// Runs the command to its end.
  ///
  /// - Throws: ``CommandFailure`` with 127 if the command does not exist, 126 if it can't be run, as shells do.
  func run() throws -> Result {
    var output = try ChildOutput(routes)
    defer { output.end() }
    let ended = try ChildOutput.pipe()
    defer { Glibc.close(ended.reading) }
    let signals = ChildSignals()
    let inherited = signals.changed + [SIGPIPE]
    let start = ContinuousClock.now
    let child: pid_t
    do {
      child = try ChildCommand.start(words, output.descriptors, resetting: inherited)
    } catch {
      signals.end()
      Glibc.close(ended.writing)
      throw error
    }
    output.closeWriting()
    signals.begin(child)
    ChildCommand.close(ended.writing, atEndOf: child)
    var (time, status): (Duration, Int32) = (.zero, 0)
    output.pass(until: ended.reading, grace: grace) {
      time = start.duration(to: .now)
      // Before the process is reaped: afterwards a signal could go to another process with the same process ID.
      signals.end()
      while unsafe waitpid(child, &status, 0) < 0 {
        precondition(errno == EINTR, "a process that was started is there until it is waited for")
      }
    }
    ChildCommand.leave(output, resetting: inherited)
    return Result(end: ChildCommand.end(status), time: time, lines: output.tail.lines)
  }

  /// Closes a descriptor after the end of the process, for which a separate thread waits.
  static func close(_ descriptor: Int32, atEndOf child: pid_t) {
    Thread.detachNewThread {
      var info = unsafe siginfo_t()
      // The process remains, and keeps its ID, until it is reaped.
      while unsafe waitid(P_PID, id_t(child), &info, WEXITED | WNOWAIT) < 0 {
        precondition(errno == EINTR, "a process that was started is there until it is waited for")
      }
      Glibc.close(descriptor)
    }
  }

  /// Hands output that is still open to `cat`. Background processes of the command can then continue to write;
  /// otherwise SIGPIPE would end them.
  private static func leave(_ output: ChildOutput, resetting signals: [Int32]) {
    for (descriptor, target) in output.open {
      _ = try? start(["cat"], [(STDOUT_FILENO, target), (STDIN_FILENO, descriptor)], resetting: signals)
    }
  }

  /// Converts the status of `waitpid`.
  static func end(_ status: Int32) -> End {
    status & 0x7F == 0 ? .exited((status >> 8) & 0xFF) : .signaled(status & 0x7F)
  }

  /// Starts a command.
  ///
  /// - Parameters:
  ///   - descriptors: descriptors that replace its streams.
  ///   - signals: signals to reset to their default action.
  ///   - hasOwnGroup: true if the command is the leader of a new process group.
  static func start(
    _ words: [String], _ descriptors: [(stream: Int32, descriptor: Int32)], resetting signals: [Int32],
    hasOwnGroup: Bool = false
  ) throws -> pid_t {
    var actions = unsafe posix_spawn_file_actions_t()
    unsafe posix_spawn_file_actions_init(&actions)
    defer { unsafe posix_spawn_file_actions_destroy(&actions) }
    for (stream, descriptor) in descriptors {
      unsafe posix_spawn_file_actions_adddup2(&actions, descriptor, stream)
    }
    var attributes = posix_spawnattr_t()
    unsafe posix_spawnattr_init(&attributes)
    defer { unsafe posix_spawnattr_destroy(&attributes) }
    var defaults = sigset_t()
    unsafe sigemptyset(&defaults)
    // A thread of the runtime can block signals, and a command would inherit the mask.
    unsafe posix_spawnattr_setsigmask(&attributes, &defaults)
    for signal in signals { unsafe sigaddset(&defaults, signal) }
    unsafe posix_spawnattr_setsigdefault(&attributes, &defaults)
    unsafe posix_spawnattr_setpgroup(&attributes, 0)
    let group = hasOwnGroup ? POSIX_SPAWN_SETPGROUP : 0
    unsafe posix_spawnattr_setflags(&attributes, Int16(POSIX_SPAWN_SETSIGDEF | POSIX_SPAWN_SETSIGMASK | group))
    var arguments = unsafe words.map { unsafe strdup($0) } + [nil]
    defer { for index in unsafe arguments.indices { unsafe free(arguments[index]) } }
    var child: pid_t = 0
    switch unsafe posix_spawnp(&child, words[0], &actions, &attributes, &arguments, environ) {
    case 0: return child
    case ENOENT: throw CommandFailure(code: 127, "there is no command \(words[0]): check its name and $PATH")
    case let error:
      let reason = unsafe String(cString: unsafe strerror(error))
      throw CommandFailure(code: 126, "\(words[0]) can't be run: \(reason)")
    }
  }
}
