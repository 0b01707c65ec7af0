import Glibc
import Testing

@testable import pushcli

@Suite struct ChildCommandTests {
  /// Runs a script whose streams are forwarded to a pipe, and returns the output of the pipe.
  private func run(_ script: String, _ streams: [[Int32]]) throws -> (ChildCommand.Result, String) {
    let pipe = try ChildOutput.pipe()
    defer { close(pipe.reading) }
    let routes = streams.map { ChildOutput.Route(streams: $0, target: pipe.writing) }
    let result = try ChildCommand(words: ["sh", "-c", script], routes: routes).run()
    close(pipe.writing)
    var bytes = [UInt8](repeating: 0, count: 1 << 16)
    let count = unsafe read(pipe.reading, &bytes, bytes.count)
    return (result, String(decoding: bytes.prefix(max(0, count)), as: UTF8.self))
  }

  @Test func `output is passed on unchanged, in its order, and its last lines are returned`() throws {
    let (result, output) = try run("echo one; echo two >&2; printf '\\033[31mthree'; exit 3", [[1, 2]])
    #expect((result.end, result.lines, output) == (.exited(3), ["one", "two", "three"], "one\ntwo\n\u{1B}[31mthree"))
  }

  @Test func `the streams may have pipes of their own`() throws {
    let (result, output) = try run("echo error >&2; echo out", [[1], [2]])
    #expect(Set(result.lines) == ["error", "out"])
    #expect(["error\nout\n", "out\nerror\n"].contains(output))
  }

  @Test func `a command that nothing is kept of has the streams of this process`() throws {
    let result = try ChildCommand(words: ["sh", "-c", "kill -TERM $$"]).run()
    #expect(result.end == .signaled(SIGTERM) && result.lines.isEmpty)
  }

  @Test func `where output can't be written the command ends as if it wrote itself`() throws {
    let full = unsafe open("/dev/full", O_WRONLY | O_CLOEXEC)
    defer { close(full) }
    let routes = [ChildOutput.Route(streams: [1], target: full)]
    #expect(try ChildCommand(words: ["yes"], routes: routes).run().end == .signaled(SIGPIPE))
  }

  @Test func `output is read where it was chosen`() {
    #expect(ChildOutput.routes(.none).isEmpty)
    #expect(ChildOutput.routes(.always).flatMap(\.streams) == [STDOUT_FILENO, STDERR_FILENO])
  }
}
