/// The columns and rows of a screen or of a part of it.
package struct Size: Sendable, Hashable, Codable {
  package var columns: Int
  package var rows: Int

  package init(columns: Int, rows: Int) {
    self.columns = columns
    self.rows = rows
  }
}

/// A part of a frame. Columns and rows count from 0 at the top left.
package struct Rectangle: Sendable, Hashable {
  package var column: Int
  package var row: Int
  package var columns: Int
  package var rows: Int

  package init(column: Int, row: Int, columns: Int, rows: Int) {
    self.column = column
    self.row = row
    self.columns = columns
    self.rows = rows
  }

  package func contains(column: Int, row: Int) -> Bool {
    column >= self.column && column < self.column + columns && row >= self.row && row < self.row + rows
  }
}

/// One position of a screen: a grapheme cluster, or the continuation of a wide cluster that begins to its left.
package struct Cell: Sendable, Equatable {
  /// The cluster; `nil` if a cluster to the left covers this position.
  package var character: Character?
  package var style: Style

  package static let blank = Cell(character: " ", style: .plain)
}

/// The content of a whole screen as a value.
///
/// A cluster of width n is followed by n − 1 ``Cell`` values without a character, all in one row. Overwriting one of
/// them blanks the others. No ``Cell`` contains a control character, regardless of the source of the text.
package struct Frame: Sendable, Equatable {
  package let size: Size
  /// The contents, row by row.
  package private(set) var cells: [Cell]
  /// The effect of a click on each part of the screen; the topmost part is last.
  private var spots: [(part: Rectangle, meaning: any Sendable)] = []

  package init(size: Size) {
    self.size = Size(columns: max(size.columns, 0), rows: max(size.rows, 0))
    cells = Array(repeating: .blank, count: self.size.columns * self.size.rows)
  }

  package subscript(column: Int, row: Int) -> Cell { cells[row * size.columns + column] }

  /// Returns true if both frames look the same; the effects of clicks are not compared.
  package static func == (left: Frame, right: Frame) -> Bool { left.size == right.size && left.cells == right.cells }

  /// Writes `text` on one line and returns the column after it. Text beyond the edges of the frame is cut without an
  /// ellipsis.
  ///
  /// Texts that may be too long pass through ``TextLayout`` first.
  @discardableResult
  package mutating func write(_ text: String, column: Int, row: Int, style: Style = .plain) -> Int {
    var column = column
    for character in Sanitizer.line(text) {
      let width = DisplayWidth.of(character)
      guard width > 0 else { continue }
      put(character, width: width, column: column, row: row, style: style)
      column += width
    }
    return column
  }

  /// Writes `text` in the middle of `columns` columns from `column`, cut with … if it is wider.
  package mutating func writeCentered(_ text: String, column: Int, columns: Int, row: Int, style: Style = .plain) {
    let text = TextLayout.truncated(text, columns: columns)
    write(text, column: column + (columns - DisplayWidth.of(text)) / 2, row: row, style: style)
  }

  /// Fills a rectangle with `character`, which must be one column wide.
  package mutating func fill(_ part: Rectangle, with character: Character = " ", style: Style) {
    for row in part.row..<part.row + max(part.rows, 0) {
      for column in part.column..<part.column + max(part.columns, 0) {
        put(character, width: 1, column: column, row: row, style: style)
      }
    }
  }

  /// Dims the frame behind an overlay: every ``Cell`` loses its colors and becomes faint, and clicks have no effect.
  ///
  /// - Parameter receded: Returns the color that replaces a background color, and the color of the text on it; nil
  ///   removes the background. Without a background, half-circles, which are the ends of such an oval, become
  ///   parentheses.
  package mutating func recede(_ receded: (Color) -> (background: Color, ink: Color)? = { _ in nil }) {
    for index in cells.indices {
      let (style, character) = (cells[index].style, cells[index].character)
      let isEnd = character == "\u{E0B6}" || character == "\u{E0B4}"
      let background = style.background.flatMap(receded)
      cells[index].style = .dim
      cells[index].style.background = background?.background
      if isEnd || background != nil {
        cells[index].style.foreground = style.foreground.flatMap(receded)?.background ?? background?.ink
      }
      if isEnd, cells[index].style.foreground == nil { cells[index].character = character == "\u{E0B6}" ? "(" : ")" }
    }
    unmark()
  }

  /// Sets the background of a rectangle, the color of its texts and the color of its faint texts.
  package mutating func highlight(_ part: Rectangle, background: Color?, ink: Color?, faintInk: Color?) {
    for row in (part.row..<part.row + max(part.rows, 0)).clamped(to: 0..<size.rows) {
      for column in (part.column..<part.column + max(part.columns, 0)).clamped(to: 0..<size.columns) {
        let index = row * size.columns + column
        cells[index].style.background = background
        cells[index].style.foreground = cells[index].style.isDim ? faintInk : ink
      }
    }
  }

  /// Assigns a meaning to clicks on a rectangle; it takes precedence over all earlier ones.
  package mutating func mark(_ part: Rectangle, _ meaning: any Sendable) { spots.append((part, meaning)) }

  /// Removes the meanings of all clicks.
  package mutating func unmark() { spots = [] }

  /// Returns the meaning of a click at a position, or nil if the click has none.
  package func meaning(column: Int, row: Int) -> (any Sendable)? {
    spots.last { $0.part.contains(column: column, row: row) }?.meaning
  }

  /// Changes each ``Cell`` in place. The widths of the clusters must stay the same.
  package mutating func mapCells(_ body: (inout Cell) -> Void) {
    for index in cells.indices { body(&cells[index]) }
  }

  /// Writes … as three points if the columns after it are blank. Otherwise the character stays, and the caller
  /// replaces it.
  package mutating func spellEllipses() {
    for row in 0..<size.rows {
      for column in 0..<size.columns where self[column, row].character == "…" {
        // One blank remains between the points and the next character.
        let after = (1...3).map { column + $0 }
        guard after.allSatisfy({ $0 >= size.columns || self[$0, row].character == " " }), after[1] < size.columns else {
          continue
        }
        for place in [column] + after.prefix(2) { cells[row * size.columns + place].character = "." }
      }
    }
  }

  /// The screen as text, without the blanks at the ends of lines.
  package var text: String {
    (0..<size.rows).map { row in
      var line = ""
      for column in 0..<size.columns {
        if let character = self[column, row].character { line.append(character) }
      }
      while line.last == " " { line.removeLast() }
      return line
    }.joined(separator: "\n")
  }

  private mutating func put(_ character: Character, width: Int, column: Int, row: Int, style: Style) {
    guard row >= 0, row < size.rows, column + width > 0, column < size.columns else { return }
    guard column >= 0, column + width <= size.columns else {
      for column in max(column, 0)..<min(column + width, size.columns) {
        put(" ", width: 1, column: column, row: row, style: style)
      }
      return
    }
    for column in column..<column + width {
      release(column: column, row: row)
      cells[row * size.columns + column] = Cell(character: nil, style: style)
    }
    cells[row * size.columns + column].character = character
  }

  /// Blanks every column of the cluster that covers this column.
  private mutating func release(column: Int, row: Int) {
    let start = row * size.columns
    var first = column
    while first > 0, cells[start + first].character == nil { first -= 1 }
    var next = first
    repeat {
      cells[start + next].character = " "
      next += 1
    } while next < size.columns && cells[start + next].character == nil
  }
}
