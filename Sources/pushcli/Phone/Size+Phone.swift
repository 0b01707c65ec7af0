import TerminalUI

extension Size {
  /// The minimum size of the phone, and the minimum size of an alert with its buttons.
  static let minimum = Size(columns: 30, rows: 10)
  static let minimumOfAlert = Size(columns: 20, rows: 5)

  private func holds(_ other: Size) -> Bool { columns >= other.columns && rows >= other.rows }

  /// True if the phone fits.
  var holdsPhone: Bool { holds(.minimum) }

  /// True if an alert with its buttons fits.
  var holdsAlert: Bool { holds(.minimumOfAlert) }

  /// True if there is a row for the tabs.
  var hasTabs: Bool { rows >= 14 }

  /// The row after the last content row: the tabs, if they fit, and the help are below it.
  var contentEnd: Int { rows - (hasTabs ? 2 : 1) }
}
