import TerminalUI

/// The few colors of the phone.
enum Palette {
  static let red = Color(160)
  static let white = Color(231)
  static let green = Color(71)
  static let blue = Color(26)
  static let surface = Color(255)
  static let ink = Color(235)
  static let faintInk = Color(244)
  static let line = Color(250)
  /// Links and marks on the terminal's own background, dark or light.
  static let accent = Color(33)
  /// The tiles of apps; none is the badge's red.
  static let tiles = [24, 30, 65, 60, 96, 94, 61, 29].map { Color($0) }
}
