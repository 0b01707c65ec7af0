import Glibc
import Synchronization
import TerminalTesting
import Testing

@testable import TerminalUI

/// A model that reports the lines of its input.
private struct Echo: LineModel {
  enum Effect: Sendable, Equatable {
    case heard(String)
    case quit
  }

  var state = 0
  var output = ""
  var shownCount = 0

  static let quit = Effect.quit

  static func message(for input: TerminalInput) -> TerminalInput { input }

  mutating func update(_ message: TerminalInput, now: Int) -> [Effect] {
    switch message {
    case .line("quit"), .terminate: return [.quit]
    case .line(let line):
      output += "\(line) after \(shownCount)\n"
      return [.heard(line)]
    default: return []
    }
  }

  mutating func takeOutput() -> String {
    defer { output = "" }
    return output
  }

  mutating func noteShown(now: Int) { shownCount += 1 }
}

@Suite(.timeLimit(.minutes(5))) struct LineProgramTests {
  /// Runs the model on an input. Returns its output and the lines that it received.
  private func run(_ terminal: Terminal, whenHeard: @escaping @Sendable (String) -> Void = { _ in }) async -> (
    written: String, heard: [String]
  ) {
    let written = Mutex("")
    let heard = Mutex<[String]>([])
    let program = LineProgram(
      model: Echo(), terminal: terminal, inbox: Inbox<TerminalInput>(), clock: { 0 },
      write: { lines in written.withLock { $0 += lines } })
    let isInterrupted = await program.run { effects in
      for case .heard(let line) in effects {
        heard.withLock { $0.append(line) }
        whenHeard(line)
      }
    }
    #expect(!isInterrupted)
    return (written.withLock { $0 }, heard.withLock { $0 })
  }

  @Test func `lines are taken from a terminal, which stays as it was`() async throws {
    try await PseudoTerminal.use { pseudo in
      let before = pseudo.attributes
      pseudo.type("one\n")
      let (written, heard) = await run(Terminal(input: pseudo.slave, output: pseudo.slave)) { line in
        pseudo.type(line == "one" ? "two\n" : "quit\n")
      }
      #expect(heard == ["one", "two"] && written == "one after 0\ntwo after 1\n")
      #expect(pseudo.attributes == before)
    }
  }

  @Test func `the end of a pipe is the end, after all that it held, more than is read ahead too`() async throws {
    // Signals and their pipe belong to the process: one test at a time.
    try await PseudoTerminal.use { pseudo in
      var ends: [Int32] = [-1, -1]
      #expect(unsafe pipe(&ends) == 0)
      // A child process of another test must not keep the writing end open.
      for end in ends { _ = fcntl(end, F_SETFD, FD_CLOEXEC) }
      let count = 3 * LinePace.maximumLines
      let text = (1...count).map { "line \($0)\n" }.joined() + "and no end"
      let bytes = Array(text.utf8)
      #expect(unsafe write(ends[1], bytes, bytes.count) == bytes.count)
      close(ends[1])
      let (_, heard) = await run(Terminal(input: ends[0], output: pseudo.slave))
      close(ends[0])
      #expect(heard.count == count + 1 && heard.last == "and no end")
    }
  }

  @Test func `a line is put together of its parts, and one without an end is cut`() {
    var splitter = LineSplitter()
    #expect(splitter.feed(Array("ab".utf8)) == [])
    #expect(splitter.feed(Array("c\n\nd".utf8)) == ["abc", ""])
    #expect(splitter.finish() == ["d"] && splitter.finish() == [])
    #expect(splitter.feed([UInt8](repeating: 0x78, count: 1 << 20)) == [])
    #expect(splitter.feed([0x0A]).map(\.count) == [LineSplitter.maximumSize])
    #expect(splitter.feed([0xFF, 0x0A]) == ["\u{FFFD}"])
  }
}
