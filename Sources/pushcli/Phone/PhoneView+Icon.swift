import GatewayProtocol
import TerminalUI

extension InstalledApp {
  /// The columns of the badge: its digits and the two ends of its oval, or 0 if there is no badge (B3, B4).
  var badgeColumns: Int { badge > 0 ? String(badge).count + 2 : 0 }
}

extension PhoneModel {
  /// Draws one app on the home screen: a tile in the app's color, the badge on its corner, and the name below it.
  ///
  /// - Parameters:
  ///   - columns: The width of the area of the app.
  ///   - color: The color of the tile.
  ///   - isSelected: True if the app is selected. The selected tile has a heavy outline and a bold name.
  func drawIcon(
    of app: InstalledApp, _ tile: Rectangle, columns: Int, color: Color, isSelected: Bool, in frame: inout Frame
  ) {
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
      symbol(of: app.app),
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
    drawBadge(of: app, tile, color, in: &frame)
  }

  /// Draws the badge. Its ends are half-circles if the terminal draws them. Otherwise the badge is a block, with
  /// parentheses as ends that are visible without colors.
  private func drawBadge(of app: InstalledApp, _ tile: Rectangle, _ color: Color, in frame: inout Frame) {
    guard app.badge > 0 else { return }
    let first = max(tile.column + tile.columns + 1 - app.badgeColumns, 0)
    let digits = Style(foreground: palette.badgeInk, background: palette.badge, isBold: true)
    let last = frame.write(String(app.badge), column: first + 1, row: tile.row, style: digits)
    for (sign, column) in zip(form.hasHalfCircles ? ["\u{E0B6}", "\u{E0B4}"] : ["(", ")"], [first, last]) {
      let isOnTile = (tile.column..<tile.column + tile.columns).contains(column)
      let behind = form.hasHalfCircles ? (isOnTile ? color : nil) : palette.badge
      frame.write(sign, column: column, row: tile.row, style: Style(foreground: palette.badge, background: behind))
    }
  }

  /// Returns the icon of an app; the first letters of its name if the terminal cannot draw the icon.
  private func symbol(of app: DeviceApp) -> String {
    let icon = Sanitizer.line(app.icon)
    if DisplayWidth.of(icon) > 0, form.drawing != .ascii { return String(icon.prefix(2)) }
    let words = Sanitizer.line(app.name).split(separator: " ")
    return words.count > 1 ? String(words.prefix(2).compactMap(\.first)) : String(words.first?.prefix(2) ?? "")
  }
}
