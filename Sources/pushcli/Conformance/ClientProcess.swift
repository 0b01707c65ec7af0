import Foundation
import Glibc
import Synchronization

/// A running client under test: a process group. Each line of its standard output is reported.
final class ClientProcess: Sendable {
  /// The process ID of the leader, which is the ID of the group.
  private let pid: pid_t
  /// True after the process was reaped: its ID may then belong to another process.
  private let isReaped = Mutex(false)

  /// The maximum size of a line in bytes; the rest of a longer line is dropped.
  private static let maximumLineSize = 1 << 20

  private init(_ pid: pid_t) { self.pid = pid }

  /// Starts a client.
  ///
  /// - Parameters:
  ///   - line: receives each line of its output, without its end.
  ///   - ended: called after its end and its last line.
  /// - Throws: ``CommandFailure`` if it can't be run.
  static func start(
    _ words: [String], line: @escaping @Sendable ([UInt8]) -> Void,
    ended: @escaping @Sendable (ChildCommand.End) -> Void
  ) throws -> ClientProcess {
    let output = try ChildOutput.pipe()
    let end = try ChildOutput.pipe()
    let input = unsafe open("/dev/null", O_RDONLY | O_CLOEXEC)
    defer {
      close(input)
      close(output.writing)
    }
    let pid: pid_t
    do {
      pid = try ChildCommand.start(
        words, [(STDIN_FILENO, input), (STDOUT_FILENO, output.writing)], resetting: [SIGPIPE, SIGINT, SIGTERM],
        hasOwnGroup: true)
    } catch {
      for descriptor in [output.reading, end.reading, end.writing] { close(descriptor) }
      throw error
    }
    let process = ClientProcess(pid)
    ChildCommand.close(end.writing, atEndOf: pid)
    Thread.detachNewThread { process.read(output.reading, until: end.reading, line: line, ended: ended) }
    return process
  }

  /// Kills all processes of the group with SIGKILL.
  func kill() {
    isReaped.withLock { isReaped in
      if !isReaped { _ = Glibc.kill(-pid, SIGKILL) }
    }
  }

  /// Reads the output until the end of the process.
  ///
  /// - Parameter end: a descriptor that becomes readable when the process has ended.
  private func read(
    _ output: Int32, until end: Int32, line: ([UInt8]) -> Void, ended: (ChildCommand.End) -> Void
  ) {
    var partial: [UInt8] = []
    var buffer = [UInt8](repeating: 0, count: 64 << 10)
    var (isOpen, hasEnded) = (true, false)
    while !hasEnded || isOpen && ClientProcess.isReadable(output) {
      if !hasEnded {
        var polled = [
          pollfd(fd: isOpen ? output : -1, events: Int16(POLLIN), revents: 0),
          pollfd(fd: end, events: Int16(POLLIN), revents: 0),
        ]
        guard unsafe poll(&polled, nfds_t(polled.count), -1) >= 0 else { continue }
        hasEnded = polled[1].revents != 0
        // Its other processes end as well, so that the rest of the output is finite.
        if hasEnded { kill() }
        if polled[0].revents == 0 { continue }
      }
      let count = unsafe Glibc.read(output, &buffer, buffer.count)
      if count < 0, errno == EINTR { continue }
      isOpen = count > 0
      if isOpen { ClientProcess.split(buffer[..<count], &partial, line) }
    }
    close(output)
    close(end)
    ended(reap())
  }

  private static func isReadable(_ descriptor: Int32) -> Bool {
    var polled = pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0)
    return unsafe poll(&polled, 1, 0) == 1
  }

  private static func split(_ bytes: ArraySlice<UInt8>, _ partial: inout [UInt8], _ line: ([UInt8]) -> Void) {
    var rest = bytes
    while let end = rest.firstIndex(of: UInt8(ascii: "\n")) {
      line(partial + rest[..<end])
      partial = []
      rest = rest[(end + 1)...]
    }
    partial += rest.prefix(max(0, maximumLineSize - partial.count))
  }

  private func reap() -> ChildCommand.End {
    isReaped.withLock { $0 = true }
    var status: Int32 = 0
    while unsafe waitpid(pid, &status, 0) < 0 {
      precondition(errno == EINTR, "a process that was started is there until it is waited for")
    }
    return ChildCommand.end(status)
  }
}
