import TerminalUI

/// The positions of the icons on the home screen, for drawing and for moving the selection.
struct HomeGrid: Sendable {
  /// The maximum number of icons in a row; wider screens have wider margins.
  static let maximumColumns = 6

  let tile: Size
  /// The area of one app, with its name and the gap to the next app.
  let cell: Size
  /// The number of icons in a row and in a column.
  let columns: Int
  let rows: Int
  /// The column and row of the first icon's area.
  let origin: (column: Int, row: Int)

  init(size: Size, apps: [InstalledApp]) {
    let isLarge = size.columns >= 120 && size.rows >= 40
    tile = isLarge ? Size(columns: 14, rows: 7) : Size(columns: 8, rows: 3)
    let badge = apps.map(\.badgeColumns).max() ?? 0
    // A badge extends one column beyond its tile on the right, and must not extend beyond the app's area on the left.
    // The width is odd, as tiles are even: names are centered below their tiles, and one column between them stays
    // blank.
    let width = max(isLarge ? 21 : 13, 2 * (badge - 1) - tile.columns + 1)
    let top = size.rows < 16 ? 1 : isLarge ? 3 : 2
    cell = Size(columns: min(width, size.columns), rows: tile.rows + (isLarge ? 3 : 2))
    columns = min(max(size.columns / cell.columns, 1), Self.maximumColumns)
    // One row below is for the page indicator; the last gap may be cut off.
    rows = max((size.contentEnd - top - 1 + cell.rows - tile.rows - 1) / cell.rows, 1)
    origin = ((size.columns - columns * cell.columns) / 2, top)
  }

  /// The number of apps on a page.
  var pageSize: Int { columns * rows }

  /// Returns the row after the first `count` apps of a page.
  func end(ofApps count: Int) -> Int { origin.row + ((max(count, 1) - 1) / columns + 1) * cell.rows }

  /// Returns the distance of a step in the order of apps.
  func distance(of step: PhoneCommand.Step) -> Int {
    switch step {
    case .left: -1
    case .right: 1
    case .up: -columns
    case .down: columns
    case .pageUp: -pageSize
    case .pageDown: pageSize
    case .first: -.max / 2
    case .last: .max / 2
    }
  }

  /// Returns the tile of the app at this index of its page.
  func tile(at index: Int) -> Rectangle {
    Rectangle(
      column: origin.column + index % columns * cell.columns + (cell.columns - tile.columns) / 2,
      row: origin.row + index / columns * cell.rows,
      columns: tile.columns,
      rows: tile.rows
    )
  }
}
