import GatewayProtocol
import TerminalUI

/// One app on the home screen: a tile in its color, the badge on its corner, the name below.
struct AppIcon {
  var app: InstalledApp
  /// The selected tile has a heavy outline and its name in bold.
  var isSelected: Bool
  var palette: Palette
  /// Whether the app's initials stand for its icon, which the terminal could not draw.
  var hasInitials: Bool

  func draw(_ tile: Rectangle, columns: Int, in frame: inout Frame) {
    let color = color
    let inside = Rectangle(
      column: tile.column + 1,
      row: tile.row + 1,
      columns: tile.columns - 2,
      rows: tile.rows - 2
    )
    frame.mark(
      Rectangle(column: tile.column, row: tile.row, columns: tile.columns, rows: tile.rows + 1),
      isSelected ? PhoneCommand.open : PhoneCommand.choose(.app(app.app.topic)))
    frame.drawBox(
      tile,
      border: isSelected ? .heavy : .rounded,
      style: Style(foreground: isSelected ? nil : color, isBold: isSelected)
    )
    let face = Style(foreground: palette.tileInk, background: color, isBold: true)
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

  /// The digits of a badge between the ends of its oval, or nothing for 0 (B3, B4).
  static func badgeText(_ badge: Int) -> String {
    badge > 0 ? "◖\(badge)◗" : ""
  }

  private func drawBadge(_ tile: Rectangle, in frame: inout Frame) {
    let text = Self.badgeText(app.badge)
    guard !text.isEmpty else { return }
    let column = max(tile.column + tile.columns + 1 - text.count, 0)
    frame.write(text, column: column, row: tile.row, style: Style(foreground: palette.badge))
    let digits = Style(foreground: palette.badgeInk, background: palette.badge, isBold: true)
    frame.write(String(app.badge), column: column + 1, row: tile.row, style: digits)
  }

  /// The icon, or the first letters of the name.
  private var symbol: String {
    let icon = Sanitizer.line(app.app.icon)
    if DisplayWidth.of(icon) > 0, !hasInitials { return String(icon.prefix(2)) }
    let words = Sanitizer.line(app.app.name).split(separator: " ")
    return words.count > 1 ? String(words.prefix(2).compactMap(\.first)) : String(words.first?.prefix(2) ?? "")
  }

  /// Always the same for one topic (FNV-1a).
  private var color: Color {
    var hash: UInt32 = 2_166_136_261
    for byte in app.app.topic.utf8 { hash = (hash ^ UInt32(byte)) &* 16_777_619 }
    return palette.tiles[Int(hash % UInt32(palette.tiles.count))]
  }
}
