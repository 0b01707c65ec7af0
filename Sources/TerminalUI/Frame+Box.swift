extension Frame {
  /// Draws the outline of a rectangle and leaves its inside unchanged.
  ///
  /// - Parameter isHeavy: True for heavy lines; otherwise the corners are rounded.
  package mutating func drawBox(_ part: Rectangle, isHeavy: Bool = false, style: Style) {
    let (right, bottom) = (part.column + part.columns - 1, part.row + part.rows - 1)
    for row in [part.row, bottom] {
      let edge = Rectangle(column: part.column, row: row, columns: part.columns, rows: 1)
      fill(edge, with: isHeavy ? "━" : "─", style: style)
    }
    for column in [part.column, right] {
      let edge = Rectangle(column: column, row: part.row, columns: 1, rows: part.rows)
      fill(edge, with: isHeavy ? "┃" : "│", style: style)
    }
    write(isHeavy ? "┏" : "╭", column: part.column, row: part.row, style: style)
    write(isHeavy ? "┓" : "╮", column: right, row: part.row, style: style)
    write(isHeavy ? "┗" : "╰", column: part.column, row: bottom, style: style)
    write(isHeavy ? "┛" : "╯", column: right, row: bottom, style: style)
  }
}
