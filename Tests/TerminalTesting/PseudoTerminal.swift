import Foundation
import Glibc
import Synchronization

/// Both ends of a pseudo-terminal. A thread reads the output, so that writes never block.
package final class PseudoTerminal: Sendable {
  package let master: Int32
  /// The end that a program uses as its terminal.
  package let slave: Int32

  /// Calls `body` with a pseudo-terminal. One call at a time, because a process has one terminal.
  package static func use(_ body: (PseudoTerminal) async throws -> Void) async throws {
    await turns.begin()
    defer { turns.end() }
    try await body(PseudoTerminal())
  }

  private static let turns = Turns()

  private init() throws {
    var (master, slave): (Int32, Int32) = (-1, -1)
    guard unsafe openpty(&master, &slave, nil, nil, nil) == 0 else { throw POSIXError(.ENXIO) }
    (self.master, self.slave) = (master, slave)
    // A child process of another test must not keep an end open.
    for end in [master, slave] { _ = fcntl(end, F_SETFD, FD_CLOEXEC) }
    // A separate descriptor: this one is closed with the slave, and later input must not go to another file.
    let reader = dup(master)
    guard reader >= 0 else { throw POSIXError(.EMFILE) }
    Thread.detachNewThread {
      var bytes = [UInt8](repeating: 0, count: 65_536)
      while unsafe read(reader, &bytes, bytes.count) > 0 {}
      close(reader)
    }
  }

  deinit {
    close(slave)
    close(master)
  }

  package func type(_ keys: String) {
    let bytes = Array(keys.utf8)
    _ = unsafe write(master, bytes, bytes.count)
  }

  /// Replaces the slave by an input at end of file, without a terminal's line discipline.
  package func end() {
    let null = unsafe open("/dev/null", O_RDONLY)
    dup2(null, slave)
    close(null)
    type("x")
  }

  /// The settings of the terminal.
  package struct Attributes: Equatable {
    var local, input, output: tcflag_t
  }

  package var attributes: Attributes {
    var value = termios()
    _ = unsafe tcgetattr(slave, &value)
    return Attributes(local: value.c_lflag, input: value.c_iflag, output: value.c_oflag)
  }
}

/// A lock that admits waiting tasks in order.
private final class Turns: Sendable {
  private let state = Mutex((isTaken: false, waiting: [CheckedContinuation<Void, Never>]()))

  func begin() async {
    await withCheckedContinuation { continuation in
      let isFree = state.withLock { state in
        if state.isTaken { state.waiting.append(continuation) }
        defer { state.isTaken = true }
        return !state.isTaken
      }
      if isFree { continuation.resume() }
    }
  }

  func end() {
    let next = state.withLock { state in
      state.isTaken = !state.waiting.isEmpty
      return state.isTaken ? state.waiting.removeFirst() : nil
    }
    next?.resume()
  }
}
