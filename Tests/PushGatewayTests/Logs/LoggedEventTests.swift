import Foundation
import Logging
import Testing

@testable import PushCore

@Suite struct LoggedEventTests {
  @Test func `docs-log-events has a row for each`() throws {
    let rows = LoggedEvent.allCases.map { event in
      "| `\(event.rawValue)` | \(event.level.rawValue) | \(event.meaning) | \(event.advice) |"
    }
    try DocumentedTable(
      page: "reference/log-events.md", header: "| event | level | what has happened | what to do |"
    ).expect(rows)
  }

  @Test(arguments: LoggedEvent.allCases)
  func `an event is named as limits are, and says what has happened`(_ event: LoggedEvent) {
    #expect(event.rawValue.wholeMatch(of: /[a-z]+(-[a-z]+)*/) != nil)
    #expect(event.meaning.hasSuffix(".") && !event.meaning.contains("|"))
    #expect(event.level < .warning || !event.advice.isEmpty, "the operator is to do something")
  }

  /// Returns the calls of a logger in a source that have a level but no event.
  func unnamed(in source: Data) -> [String] {
    let calls = Logger.Level.allCases.map { "\($0)(" } + ["log(level:"]
    return ["ogger.", "ogger?."].flatMap { name in calls.map { name + $0 } }
      .filter { source.range(of: Data($0.utf8)) != nil }
  }

  @Test func `whatever is logged is an event of the table`() throws {
    #expect(unnamed(in: Data(#"logger.warning("x")"#.utf8)) == ["ogger.warning("])
    #expect(unnamed(in: Data("Logger().logger?.log(level: .info)".utf8)) == ["ogger?.log(level:"])
    #expect(unnamed(in: Data(#"logger.log(.push, "x")"#.utf8)).isEmpty)
    let sources = URL(filePath: #filePath).appending(path: "../../../../Sources").standardized
    let files = try #require(FileManager.default.enumerator(at: sources, includingPropertiesForKeys: nil))
    var (count, all) = (0, Data())
    for case let file as URL in files where file.pathExtension == "swift" {
      let source = try Data(contentsOf: file)
      #expect(unnamed(in: source).isEmpty, "\(file.path) logs what is no event: logger.log(.event, …)")
      count += 1
      if !file.lastPathComponent.hasPrefix("LoggedEvent") { all += source }
    }
    #expect(count > 300, "the sources were read")
    // Every documented event must be logged somewhere.
    for event in LoggedEvent.allCases {
      let isLogged = ["log(.\(event),", " .\(event),", "(.\(event),", "LoggedEvent.\(event)"]
        .contains { all.range(of: Data($0.utf8)) != nil }
      #expect(isLogged, "\(event) is never logged")
    }
  }
}
