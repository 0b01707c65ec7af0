import TerminalUI

/// Where the icons of the home screen are, for drawing them and for moving among them.
struct HomeGrid: Sendable {
  /// The most icons beside each other; wider screens get wider margins.
  static let maximumColumns = 6

  let tile: Size
  /// The room of one app, with its name and the gap to its neighbours.
  let cell: Size
  /// Icons beside and above each other.
  let columns: Int
  let rows: Int
  /// Where the first cell is.
  let origin: (column: Int, row: Int)

  init(size: Size, apps: [InstalledApp]) {
    let isLarge = size.columns >= 120 && size.rows >= 40
    tile = isLarge ? Size(columns: 14, rows: 7) : Size(columns: 8, rows: 3)
    let badge = apps.map { AppIcon.badgeColumns($0.badge) }.max() ?? 0
    // A badge reaches one column past its tile on the right, and never past its cell on the left.
    // Odd, as tiles are even: names are centered beneath their tiles, and a column stays free between them.
    let width = max(isLarge ? 21 : 13, 2 * (badge - 1) - tile.columns + 1)
    let top = size.rows < 16 ? 1 : isLarge ? 3 : 2
    cell = Size(columns: min(width, size.columns), rows: tile.rows + (isLarge ? 3 : 2))
    columns = min(max(size.columns / cell.columns, 1), Self.maximumColumns)
    // One row below is for the pages; the last gap may be cut off.
    rows = max((size.contentEnd - top - 1 + cell.rows - tile.rows - 1) / cell.rows, 1)
    origin = ((size.columns - columns * cell.columns) / 2, top)
  }

  /// How many apps a page holds.
  var pageSize: Int { columns * rows }

  /// The row after so many apps of a page.
  func end(ofApps count: Int) -> Int { origin.row + ((max(count, 1) - 1) / columns + 1) * cell.rows }

  /// How far in the order of apps a step leads.
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

  /// The tile of the app at this place of its page.
  func tile(at index: Int) -> Rectangle {
    Rectangle(
      column: origin.column + index % columns * cell.columns + (cell.columns - tile.columns) / 2,
      row: origin.row + index / columns * cell.rows,
      columns: tile.columns,
      rows: tile.rows
    )
  }
}
