/// The characters of a box.
package struct Border: Sendable, Hashable {
  package var horizontal: Character
  package var vertical: Character
  package var topLeft: Character
  package var topRight: Character
  package var bottomLeft: Character
  package var bottomRight: Character

  package static let rounded = Border(
    horizontal: "─",
    vertical: "│",
    topLeft: "╭",
    topRight: "╮",
    bottomLeft: "╰",
    bottomRight: "╯"
  )
  package static let heavy = Border(
    horizontal: "━",
    vertical: "┃",
    topLeft: "┏",
    topRight: "┓",
    bottomLeft: "┗",
    bottomRight: "┛"
  )
}

extension Frame {
  /// Draws the outline of a rectangle and leaves its inside unchanged.
  package mutating func drawBox(_ part: Rectangle, border: Border, style: Style) {
    let (right, bottom) = (part.column + part.columns - 1, part.row + part.rows - 1)
    for row in [part.row, bottom] {
      let edge = Rectangle(column: part.column, row: row, columns: part.columns, rows: 1)
      fill(edge, with: border.horizontal, style: style)
    }
    for column in [part.column, right] {
      let edge = Rectangle(column: column, row: part.row, columns: 1, rows: part.rows)
      fill(edge, with: border.vertical, style: style)
    }
    write(String(border.topLeft), column: part.column, row: part.row, style: style)
    write(String(border.topRight), column: right, row: part.row, style: style)
    write(String(border.bottomLeft), column: part.column, row: bottom, style: style)
    write(String(border.bottomRight), column: right, row: bottom, style: style)
  }
}
