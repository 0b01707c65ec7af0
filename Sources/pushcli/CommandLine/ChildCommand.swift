import Foundation
import Glibc

/// A command that runs in front of this process, on the same terminal and with the same three streams, or with pipes in place of
/// some that this process passes on.
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

  /// All that is known of it afterwards.
  struct Result {
    var end: End
    /// From its start to its end.
    var time: Duration
    /// The last lines of the streams that were passed on.
    var lines: [String]
  }

  let words: [String]
  var routes: [ChildOutput.Route] = []
  /// How long the output is passed on after the end, where something in the background still has it open.
  var grace = Duration.seconds(2)

  /// Runs it to its end.
  ///
  /// - Throws: ``CommandFailure`` with 127 when there is no such command, 126 when it can't be run, as shells do.
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
      // Before the process is reaped, or a signal could be handed on to another of its number.
      signals.end()
      while unsafe waitpid(child, &status, 0) < 0 {
        precondition(errno == EINTR, "a process that was started is there until it is waited for")
      }
    }
    ChildCommand.leave(output, resetting: inherited)
    return Result(end: ChildCommand.end(status), time: time, lines: output.tail.lines)
  }

  /// Closes a descriptor when the process has ended, for which a thread of its own waits.
  private static func close(_ descriptor: Int32, atEndOf child: pid_t) {
    Thread.detachNewThread {
      var info = unsafe siginfo_t()
      // The process stays until it is reaped, and keeps its number.
      while unsafe waitid(P_PID, id_t(child), &info, WEXITED | WNOWAIT) < 0 {
        precondition(errno == EINTR, "a process that was started is there until it is waited for")
      }
      Glibc.close(descriptor)
    }
  }

  /// Leaves output that is still open to `cat`: what the command has left in the background writes on as if it had been started
  /// without this process, and without it would be ended by SIGPIPE.
  private static func leave(_ output: ChildOutput, resetting signals: [Int32]) {
    for (descriptor, target) in output.open {
      _ = try? start(["cat"], [(STDOUT_FILENO, target), (STDIN_FILENO, descriptor)], resetting: signals)
    }
  }

  /// How a process ended, by what `waitpid` says.
  static func end(_ status: Int32) -> End {
    status & 0x7F == 0 ? .exited((status >> 8) & 0xFF) : .signaled(status & 0x7F)
  }

  /// Starts a command.
  ///
  /// - Parameters:
  ///   - descriptors: descriptors that take the place of its streams.
  ///   - signals: what it finds as it is by default.
  private static func start(
    _ words: [String], _ descriptors: [(stream: Int32, descriptor: Int32)], resetting signals: [Int32]
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
    // A thread of the runtime may block signals, which a command would inherit.
    unsafe posix_spawnattr_setsigmask(&attributes, &defaults)
    for signal in signals { unsafe sigaddset(&defaults, signal) }
    unsafe posix_spawnattr_setsigdefault(&attributes, &defaults)
    unsafe posix_spawnattr_setflags(&attributes, Int16(POSIX_SPAWN_SETSIGDEF | POSIX_SPAWN_SETSIGMASK))
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
