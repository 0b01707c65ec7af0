/// The part of many lines that there is room for, and the words for the rest.
package struct Viewport: Sendable, Equatable {
  /// How many lines there are.
  package let count: Int
  /// How many of them there is room for.
  package let rows: Int
  /// The first one that is shown.
  package let first: Int

  /// - Parameter offset: the line to begin with; one that would leave room empty counts as the last that does not.
  package init(count: Int, rows: Int, offset: Int) {
    (self.count, self.rows) = (count, max(rows, 0))
    first = min(max(offset, 0), max(count - max(rows, 0), 0))
  }

  /// The lines that are shown.
  package var range: Range<Int> { first..<min(first + rows, count) }
  package var isWhole: Bool { count <= rows }
  /// How many lines come after those.
  package var below: Int { count - range.upperBound }
  /// The highest offset that there is.
  package var last: Int { max(count - rows, 0) }

  /// Says that there is more: `↑ 3 more lines ↓`, or the same in signs where that is too long; empty when all is shown.
  package func mark(columns: Int) -> String {
    guard !isWhole, rows > 0 else { return "" }
    let words =
      below == 0
      ? "↑ \(first) \(first == 1 ? "line" : "lines") above" : "\(below) more \(below == 1 ? "line" : "lines") ↓"
    let forms = [first > 0 && below > 0 ? "↑ \(words)" : words, below == 0 ? "↑\(first)" : "↓\(below)"]
    return forms.first { DisplayWidth.of($0) <= columns } ?? ""
  }
}
