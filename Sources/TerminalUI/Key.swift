/// A key press, or another event that a terminal reports in its input.
package enum Key: Sendable, Hashable {
  case character(Character)
  /// A letter pressed with the control key, in lower case.
  case control(Character)
  case up, down, left, right
  case home, end, pageUp, pageDown
  case `return`, escape, tab, backTab, backspace, delete
  /// Not a key: the terminal got or lost the focus (mode 1004).
  case focusIn, focusOut
  /// Not a key: a mouse event (mode 1006).
  case mouse(Mouse)
  /// Not a key: the terminal reports the appearance of its background (OSC 11).
  case background(Appearance)

  /// Redraws the screen, in case another program wrote on it.
  package static let redraw = Key.control("l")
  /// Stops the program until the shell continues it.
  package static let suspend = Key.control("z")
}

/// A mouse event at a column and a row that count from 0.
package struct Mouse: Sendable, Hashable {
  package enum Action: Sendable, Hashable { case press, wheelUp, wheelDown }

  package var action: Action
  package var column: Int
  package var row: Int

  package init(_ action: Action, column: Int, row: Int) {
    (self.action, self.column, self.row) = (action, column, row)
  }
}
