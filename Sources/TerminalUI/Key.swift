/// A key that was pressed.
package enum Key: Sendable, Hashable {
  /// A printable character.
  case character(Character)
  /// A letter held with the control key, in lower case.
  case control(Character)
  case up, down, left, right
  case home, end, pageUp, pageDown
  case `return`, escape, tab, backTab, backspace, delete
  /// Not pressed: the terminal got or lost the focus (mode 1004).
  case focusIn, focusOut

  /// Draws the screen anew, in case something else wrote on it.
  package static let redraw = Key.control("l")
  /// Stops the program until the shell continues it.
  package static let suspend = Key.control("z")
}
