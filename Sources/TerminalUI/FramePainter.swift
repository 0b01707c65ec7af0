/// Converts frames into terminal sequences and writes only each ``Cell`` that changed.
package struct FramePainter: Sendable {
  /// True if colors are sent; `NO_COLOR` turns them off.
  package var usesColor: Bool
  /// True if each frame is wrapped in a synchronized update (mode 2026). Terminals without this mode ignore the
  /// sequence.
  package var isSynchronized = true
  /// The frame that the terminal shows; `nil` if it is unknown and the next frame must be drawn completely.
  package private(set) var shown: Frame?

  /// Discards the shown frame, so that the next frame is drawn completely.
  package mutating func invalidate() {
    shown = nil
  }

  /// Returns the sequences that make the terminal show `frame`; empty if the terminal shows it already.
  package mutating func paint(_ frame: Frame) -> String {
    var output = ""
    let isWhole = shown?.size != frame.size
    let before = isWhole ? Frame(size: frame.size) : shown ?? Frame(size: frame.size)
    for row in 0..<frame.size.rows {
      paint(row: row, of: frame, over: before, to: &output)
    }
    shown = frame
    if isWhole { output = "\u{1B}[0m\u{1B}[2J" + output }
    if output.isEmpty { return "" }
    output += "\u{1B}[0m"
    return isSynchronized ? "\u{1B}[?2026h" + output + "\u{1B}[?2026l" : output
  }

  private func paint(row: Int, of frame: Frame, over before: Frame, to output: inout String) {
    /// The column of the cursor, or `nil` if its position is unknown.
    var cursor: Int?
    var style: Style?
    for column in 0..<frame.size.columns {
      let cell = frame[column, row]
      guard let character = cell.character else { continue }
      var width = 1
      while column + width < frame.size.columns, frame[column + width, row].character == nil { width += 1 }
      let cells = column..<column + width
      if cells.allSatisfy({ frame[$0, row] == before[$0, row] }) { continue }

      if cursor != column { output += Self.move(column: column, row: row) }
      if style != cell.style { output += cell.style.sequence(usesColor: usesColor) }
      if style?.link != cell.style.link { output += Self.link(cell.style.link) }
      style = cell.style
      if width > 1 {
        // If the terminal uses fewer columns for the cluster than this program, the remaining columns would keep old
        // content.
        output += String(repeating: " ", count: width) + Self.move(column: column, row: row)
      }
      output.append(character)
      cursor = width == 1 && character.unicodeScalars.count == 1 ? column + 1 : nil
    }
    if style?.link != nil { output += Self.link(nil) }
  }

  private static func link(_ link: String?) -> String { "\u{1B}]8;;\(link ?? "")\u{1B}\\" }

  private static func move(column: Int, row: Int) -> String {
    "\u{1B}[\(row + 1);\(column + 1)H"
  }
}
