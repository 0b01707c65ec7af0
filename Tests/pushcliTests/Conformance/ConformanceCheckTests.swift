import Foundation
import Testing

@testable import pushcli

@Suite struct ConformanceCheckTests {
  /// `PUSHGATEWAY_DOCS=write swift test --filter docs` writes the changed rows.
  @Test func `docs: the table of the page has each check, in the order of the run`() throws {
    let page = "../../../../docs/receive/your-own-client.md"
    let path = URL(filePath: #filePath).appending(path: page).standardized
    var lines = try String(contentsOf: path, encoding: .utf8).split(separator: "\n", omittingEmptySubsequences: false)
    let first = try #require(lines.firstIndex { $0 == "| check | expected |" }) + 2
    let end = lines[first...].firstIndex { !$0.hasPrefix("|") } ?? lines.endIndex
    let rows = ConformanceCheck.allCases.map { "| `\($0.rawValue)` | \($0.expectation) |" }
    guard lines[first..<end].map(String.init) != rows else { return }
    if ProcessInfo.processInfo.environment["PUSHGATEWAY_DOCS"] == "write" {
      lines.replaceSubrange(first..<end, with: rows.map { $0[...] })
      try lines.joined(separator: "\n").write(to: path, atomically: true, encoding: .utf8)
    } else {
      Issue.record("your-own-client.md is not what the code says: PUSHGATEWAY_DOCS=write swift test --filter docs")
    }
  }
}
