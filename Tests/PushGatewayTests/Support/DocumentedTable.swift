import Foundation
import Testing

/// A table of a page in `docs/` whose rows follow from the code.
///
/// `PUSHGATEWAY_DOCS=write swift test --filter docs` writes the changed rows: the names of these tests begin with
/// `docs`.
struct DocumentedTable {
  var page: String
  /// The first line of the table, which identifies it.
  var header: String

  func expect(_ rows: [String]) throws {
    let path = URL(filePath: #filePath).appending(path: "../../../../docs/\(page)").standardized
    var lines = try String(contentsOf: path, encoding: .utf8).split(separator: "\n", omittingEmptySubsequences: false)
    let first = try #require(lines.firstIndex { $0 == header }) + 2
    let end = lines[first...].firstIndex { !$0.hasPrefix("|") } ?? lines.endIndex
    guard lines[first..<end].map(String.init) != rows else { return }
    if ProcessInfo.processInfo.environment["PUSHGATEWAY_DOCS"] == "write" {
      lines.replaceSubrange(first..<end, with: rows.map { $0[...] })
      try lines.joined(separator: "\n").write(to: path, atomically: true, encoding: .utf8)
    } else {
      Issue.record("docs/\(page) is not what the code says: PUSHGATEWAY_DOCS=write swift test --filter docs")
    }
  }
}
