import TerminalUI

/// A table that is printed as its rows arrive. The first rows determine the widths of the columns; wider values in
/// later rows exceed their columns.
struct TableWriter {
  private var widths: [Int]
  private var hasBegun = false
  private let header: [String]

  init(_ header: [String]) {
    self.header = header
    widths = header.map { _ in 0 }
  }

  /// Returns the lines of rows; the first call includes the header.
  mutating func lines(of rows: [[String]]) -> String {
    let rows = (hasBegun ? rows : [header] + rows).map { $0.map(Cell.init) }
    if !hasBegun { widths = header.indices.map { column in rows.map { $0[column].width }.max() ?? 0 } }
    hasBegun = true
    var text = ""
    for row in rows {
      for (column, cell) in row.enumerated() {
        text += cell.text
        guard row[(column + 1)...].contains(where: { $0.width > 0 }) else { break }
        let padding = max(0, widths[column] - cell.width) + 2
        text += String(repeating: " ", count: padding)
      }
      text += "\n"
    }
    return text
  }

  private struct Cell {
    let text: String
    let width: Int

    init(_ text: String) {
      if text.utf8.allSatisfy({ (0x20..<0x7F).contains($0) }) {
        (self.text, width) = (text, text.utf8.count)
      } else {
        self.text = Sanitizer.line(text)
        width = DisplayWidth.of(self.text)
      }
    }
  }
}
