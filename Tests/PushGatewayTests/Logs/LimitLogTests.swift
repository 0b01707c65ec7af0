import Logging
import Synchronization
import Testing

@testable import HTTP2Transport
@testable import PushCore
@testable import PushGateway

@Suite struct LimitLogTests {
  /// Collects the lines of a logger.
  final class Lines: Sendable {
    let lines = Mutex<[String]>([])

    var all: [String] { lines.withLock { $0 } }

    var logger: Logger { Logger(label: "limits") { _ in Handler(lines: self) } }
  }

  struct Handler: LogHandler {
    let lines: Lines
    var metadata: Logger.Metadata = [:]
    var logLevel = Logger.Level.trace
    subscript(metadataKey key: String) -> Logger.Metadata.Value? {
      get { metadata[key] }
      set { metadata[key] = newValue }
    }

    func log(event: LogEvent) {
      let words = (event.metadata ?? [:]).sorted { $0.key < $1.key }.map { "\($0.key)=\($0.value)" }
      lines.lines.withLock { $0.append(words.joined(separator: " ")) }
    }
  }

  @Test func `docs-limits has a row for each limit that is logged`() throws {
    let rows = TransportLimit.allCases.sorted { $0.rawValue < $1.rawValue }.map { "| `\($0.rawValue)` | \($0.words) |" }
    try DocumentedTable(page: "reference/limits.md", header: "| name | is |").expect(rows)
  }

  @Test func `a limit is logged once a minute, with how often it was met`() {
    let lines = Lines()
    let log = LimitLog(logger: lines.logger)
    for second in 0..<130 { log.note(.resets, peer: "192.0.2.7", now: 1_000_000 + Int64(second)) }
    log.note(.headerList, peer: nil, now: 1_000_000)
    #expect(
      lines.all == [
        "event=limit-met limit=resets peer=192.0.2.7 times=1", "event=limit-met limit=resets peer=192.0.2.7 times=60",
        "event=limit-met limit=resets peer=192.0.2.7 times=60", "event=limit-met limit=header-list peer=- times=1",
      ])
    #expect(log.counts == [.resets: 130, .headerList: 1])
  }
}
