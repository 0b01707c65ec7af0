import GatewayProtocol
import TerminalUI

/// One app on the home screen: a tile in the app's color, the badge on its corner, and the name below it.
struct AppIcon {
  var app: InstalledApp
  /// True if the app is selected. The selected tile has a heavy outline and a bold name.
  var isSelected: Bool
  var palette: Palette
  /// The color of the tile.
  var color: Color
  /// The capabilities of the terminal. If it cannot draw the app's icon, initials replace the icon.
  var form: TerminalCapabilities

  func draw(_ tile: Rectangle, columns: Int, in frame: inout Frame) {
    let inside = Rectangle(
      column: tile.column + 1,
      row: tile.row + 1,
      columns: tile.columns - 2,
      rows: tile.rows - 2
    )
    frame.mark(
      Rectangle(column: tile.column, row: tile.row, columns: tile.columns, rows: tile.rows + 1),
      isSelected ? PhoneCommand.open : PhoneCommand.choose(.app(app.app.topic)))
    let face = Style(foreground: palette.tileInk, background: color, isBold: true)
    // The fill covers the edges too. The outline of an unselected tile is visible only without colors.
    let edge = isSelected ? face : Style(foreground: color, background: color)
    frame.drawBox(tile, isHeavy: isSelected, style: edge)
    frame.fill(inside, style: face)
    frame.writeCentered(
      symbol,
      column: inside.column,
      columns: inside.columns,
      row: inside.row + inside.rows / 2,
      style: face
    )
    frame.writeCentered(
      app.app.name,
      column: tile.column - (columns - tile.columns) / 2,
      columns: tile.columns + (columns - tile.columns) / 2 * 2,
      row: tile.row + tile.rows,
      style: isSelected ? .bold : .plain
    )
    drawBadge(tile, in: &frame)
  }

  /// Returns the columns of a badge: its digits and the two ends of its oval, or 0 if there is no badge (B3, B4).
  static func badgeColumns(_ badge: Int) -> Int {
    badge > 0 ? String(badge).count + 2 : 0
  }

  /// Draws the badge. Its ends are half-circles if the terminal draws them. Otherwise the badge is a block, with
  /// parentheses as ends that are visible without colors.
  private func drawBadge(_ tile: Rectangle, in frame: inout Frame) {
    guard app.badge > 0 else { return }
    let first = max(tile.column + tile.columns + 1 - Self.badgeColumns(app.badge), 0)
    let digits = Style(foreground: palette.badgeInk, background: palette.badge, isBold: true)
    let last = frame.write(String(app.badge), column: first + 1, row: tile.row, style: digits)
    for (sign, column) in zip(form.hasHalfCircles ? ["\u{E0B6}", "\u{E0B4}"] : ["(", ")"], [first, last]) {
      let isOnTile = (tile.column..<tile.column + tile.columns).contains(column)
      let behind = form.hasHalfCircles ? (isOnTile ? color : nil) : palette.badge
      frame.write(sign, column: column, row: tile.row, style: Style(foreground: palette.badge, background: behind))
    }
  }

  /// The icon, or the first letters of the name.
  private var symbol: String {
    let icon = Sanitizer.line(app.app.icon)
    if DisplayWidth.of(icon) > 0, form.drawing != .ascii { return String(icon.prefix(2)) }
    let words = Sanitizer.line(app.app.name).split(separator: " ")
    return words.count > 1 ? String(words.prefix(2).compactMap(\.first)) : String(words.first?.prefix(2) ?? "")
  }
}
