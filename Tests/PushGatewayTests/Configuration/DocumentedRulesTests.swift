import Foundation
import PushPolicy
import Testing

/// Compares the tables of `docs/reference/rules.md` with the rules of the policy and of `lint`.
@Suite struct DocumentedRulesTests {
  private struct Row {
    var code: String
    /// The example as written on the page, with its backticks.
    var example: String
    var effect: String
  }

  /// Returns the rows of the tables with a code in the first column.
  private func rows() throws -> [Row] {
    let page = URL(filePath: #filePath).appending(path: "../../../../docs/reference/rules.md").standardized
    return try String(contentsOf: page, encoding: .utf8).split(separator: "\n").compactMap { line in
      let cells = line.split(separator: "|").map { $0.trimmingCharacters(in: .whitespaces) }
      guard cells.count == 6, cells[0].hasPrefix("`"), cells[0].hasSuffix("`") else { return nil }
      return Row(code: String(cells[0].dropFirst().dropLast()), example: cells[3], effect: cells[5])
    }
  }

  @Test func `docs-rules has a row for each rule, and no other`() throws {
    let codes = try rows().map(\.code)
    // Pages refer to N8, the defaults. No decision and no finding cites it.
    let expected = Set(Rule.allCases.map(\.rawValue)).union(LintRule.allCases.map(\.rawValue)).union(["N8"])
    #expect(Set(codes) == expected)
    #expect(codes.count == expected.count, "a rule has two rows")
  }

  @Test func `docs-rules: lint finds in each example the rule of its row, and no other`() throws {
    let linter = PayloadLint { $0.count }
    for row in try rows() {
      guard let rule = LintRule(rawValue: row.code) else {
        #expect(!row.effect.contains("lint"), "\(row.code) is no rule of lint")
        continue
      }
      let example = Array(row.example.utf8.filter { $0 != UInt8(ascii: "`") })
      let findings = linter.findings(in: example)
      #expect(findings.map(\.rule) == [rule], "\(row.code): \(row.example)")
      if let severity = findings.first?.severity {
        #expect(row.effect.lowercased().contains("lint \(severity.rawValue)"), "\(row.code) is a lint \(severity)")
      }
    }
  }
}
