import Dispatch
import Foundation
import Logging
import PushCore
import Synchronization
import Testing

@testable import pushcli

@Suite(.timeLimit(.minutes(5))) struct LogWriterTests {
  /// The written entries, and a clock.
  final class Reader: Sendable {
    let entries = Mutex<[LogEntry]>([])
    let time = Mutex<Int64>(1000)
    /// Locked while the output blocks.
    let stuck = Mutex(())

    var messages: [String] { entries.withLock { $0.map(\.message) } }

    func writer() -> LogWriter {
      LogWriter(
        now: { [self] in time.withLock { $0 } }, criticalTime: .seconds(300),
        output: { [self] entry in
          stuck.withLock { _ in }
          entries.withLock { $0.append(entry) }
        })
    }
  }

  func entry(
    _ message: String, at time: Int64 = 0, _ level: Logger.Level = .warning, event: String? = "limit-met",
    limit: String = "a"
  ) -> LogEntry {
    LogEntry(at: time, level, event: event, message, fields: [.init(name: "limit", value: limit)])
  }

  /// Runs `body`, which may block, on its own thread.
  private func onThread(_ body: @escaping @Sendable () -> Void) async {
    await withCheckedContinuation { continuation in
      Thread.detachNewThread {
        body()
        continuation.resume()
      }
    }
  }

  private func flush(_ writer: LogWriter) async { await onThread { writer.flush(within: .seconds(300)) } }

  @Test func `what is written comes in its order`() async {
    let reader = Reader()
    let writer = reader.writer()
    for number in 0..<500 { writer.write(entry("\(number)", .debug, event: "push")) }
    await flush(writer)
    #expect(reader.messages == (0..<500).map(String.init))
  }

  @Test func `what is critical is written before its writer goes on`() async {
    let reader = Reader()
    await onThread { reader.writer().write(entry("the gateway ends", .critical)) }
    #expect(reader.messages == ["the gateway ends"])
  }

  @Test func `what repeats is told ten times a minute, and then how often it was`() async {
    let reader = Reader()
    let writer = reader.writer()
    for number in 0..<67 { writer.write(entry("\(number)", at: 1000)) }
    writer.write(entry("other", at: 1000, limit: "b"))
    for _ in 0..<20 { writer.write(entry("traced", at: 1000, .debug)) }
    await flush(writer)
    #expect(reader.messages.prefix(11) == ["0", "1", "2", "3", "4", "5", "6", "7", "8", "9", "other"])
    #expect(reader.messages.dropFirst(11) == Array(repeating: "traced", count: 20)[...])
    writer.write(entry("again", at: 61_001))
    await flush(writer)
    #expect(reader.messages.suffix(2) == ["repeated 57 times: 66", "again"])
  }

  @Test func `what repeated is told also when nothing more comes`() async {
    let reader = Reader()
    let writer = reader.writer()
    for number in 0..<11 { writer.write(entry("\(number)", at: 1000)) }
    await flush(writer)
    #expect(reader.messages.count == 10)
    reader.time.withLock { $0 = 62_000 }
    await flush(writer)
    #expect(reader.messages.last == "repeated 1 time: 10")
  }

  @Test func `who logs waits for no reader, and what did not fit is counted`() async {
    let reader = Reader()
    let writer = reader.writer()
    reader.stuck.withLock { _ in
      // The thread has the first lines, and the given number of further lines is queued.
      writer.write(entry("first", .debug, event: "push"))
      writer.flush(within: .milliseconds(0))
      for _ in 0..<(Limits.maximumWaitingLogLines * 3) { writer.write(entry("x", .debug, event: "push")) }
      writer.flush(within: .milliseconds(1))
    }
    await flush(writer)
    let lost = reader.entries.withLock { $0.filter { $0.event == "log-lines-dropped" } }
    let told = reader.messages.filter { $0 == "x" }.count
    #expect(lost.map { Int($0.fields[0].value) ?? 0 }.reduce(0, +) + told == Limits.maximumWaitingLogLines * 3)
    #expect(told <= Limits.maximumWaitingLogLines * 2 && !lost.isEmpty)
  }
}
