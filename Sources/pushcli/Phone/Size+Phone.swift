import TerminalUI

extension Size {
  /// The smallest screen that the phone fits on.
  static let minimum = Size(columns: 30, rows: 10)

  /// Whether the phone fits.
  var holdsPhone: Bool { columns >= Self.minimum.columns && rows >= Self.minimum.rows }

  /// Whether there is a row to spare for the tabs.
  var hasTabs: Bool { rows >= 14 }

  /// The row after the last one of what the person looks at: below come the tabs, if there is room, and the help.
  var contentEnd: Int { rows - (hasTabs ? 2 : 1) }
}
