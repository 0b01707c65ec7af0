/// The visible part of a number of lines, and the text for the hidden lines.
package struct Viewport: Sendable, Equatable {
  /// The total number of lines.
  package let count: Int
  /// The number of rows on screen.
  package let rows: Int
  /// The index of the first visible line.
  package let first: Int

  /// - Parameter offset: The first line to show; reduced if rows would stay empty at the end.
  package init(count: Int, rows: Int, offset: Int) {
    (self.count, self.rows) = (count, max(rows, 0))
    first = min(max(offset, 0), max(count - max(rows, 0), 0))
  }

  /// The visible lines.
  package var range: Range<Int> { first..<min(first + rows, count) }
  package var isWhole: Bool { count <= rows }
  /// The number of lines after the visible ones.
  package var below: Int { count - range.upperBound }
  /// The maximum offset.
  package var last: Int { max(count - rows, 0) }

  /// Returns an indication of hidden lines: `↑ 3 more lines ↓`, a short form such as `↓3` if that is too wide, or an
  /// empty text if all lines are visible or no form fits.
  package func mark(columns: Int) -> String {
    guard !isWhole, rows > 0 else { return "" }
    let words =
      below == 0
      ? "↑ \(first) \(first == 1 ? "line" : "lines") above" : "\(below) more \(below == 1 ? "line" : "lines") ↓"
    let forms = [first > 0 && below > 0 ? "↑ \(words)" : words, below == 0 ? "↑\(first)" : "↓\(below)"]
    return forms.first { DisplayWidth.of($0) <= columns } ?? ""
  }
}
