import Foundation
import Glibc
import Synchronization

/// Both ends of a pseudo-terminal, and a thread that reads what is drawn, so that drawing never waits.
package final class PseudoTerminal: Sendable {
  package let master: Int32
  /// What a program takes for its terminal.
  package let slave: Int32

  /// Gives `body` a pseudo-terminal. One at a time, since a process holds one terminal.
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
    // No child of another test keeps one of them open.
    for end in [master, slave] { _ = fcntl(end, F_SETFD, FD_CLOEXEC) }
    // A descriptor of its own: this one ends with the slave, and what is typed afterwards must go to no other file.
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

  /// Replaces the slave by an input that has ended: end-of-file without a terminal's line discipline.
  package func end() {
    let null = unsafe open("/dev/null", O_RDONLY)
    dup2(null, slave)
    close(null)
    type("x")
  }

  /// How the terminal is set.
  package struct Attributes: Equatable {
    var local, input, output: tcflag_t
  }

  package var attributes: Attributes {
    var value = termios()
    _ = unsafe tcgetattr(slave, &value)
    return Attributes(local: value.c_lflag, input: value.c_iflag, output: value.c_oflag)
  }
}

/// Lets one after the other go on.
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
