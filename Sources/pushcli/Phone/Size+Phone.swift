import TerminalUI

extension Size {
  /// The smallest screen that the phone fits on, and the smallest that an alert and its buttons do.
  static let minimum = Size(columns: 30, rows: 10)
  static let minimumOfAlert = Size(columns: 20, rows: 5)

  private func holds(_ other: Size) -> Bool { columns >= other.columns && rows >= other.rows }

  /// Whether the phone fits.
  var holdsPhone: Bool { holds(.minimum) }

  /// Whether an alert fits, with its buttons.
  var holdsAlert: Bool { holds(.minimumOfAlert) }

  /// Whether there is a row to spare for the tabs.
  var hasTabs: Bool { rows >= 14 }

  /// The row after the last one of what the person looks at: below come the tabs, if there is room, and the help.
  var contentEnd: Int { rows - (hasTabs ? 2 : 1) }
}
