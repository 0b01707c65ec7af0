import TerminalUI

/// The colors of a picture for one appearance: the window of a terminal on a page of that appearance.
struct PictureScheme: Sendable {
  var appearance: Appearance
  var window: String
  var border: String
  var text: String

  static let dark = PictureScheme(appearance: .dark, window: "#161b22", border: "#30363d", text: "#e6edf3")
  static let light = PictureScheme(appearance: .light, window: "#ffffff", border: "#d0d7de", text: "#1f2328")
  static let all = [dark, light]

  /// Returns a color in SVG notation, or nil for the terminal's default color.
  static func hex(_ color: Color?) -> String? {
    color?.components.map { "#" + $0.map { ($0 < 16 ? "0" : "") + String($0, radix: 16) }.joined() }
  }

  func ink(_ style: Style) -> String { Self.hex(style.foreground) ?? text }
}

/// The dimensions of a cell in a picture, in SVG units. All are whole numbers, so that edges align with pixels.
enum PictureCell {
  static let width = 9
  static let height = 18
  static let fontSize = 15
  /// The distance from the top of a cell to the baseline of its letters.
  static let baseline = 14
}
