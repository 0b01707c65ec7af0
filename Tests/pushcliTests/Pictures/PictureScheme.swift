import TerminalUI

/// What a picture is drawn with for one appearance: the window of a terminal on a page of that kind.
struct PictureScheme: Sendable {
  var appearance: Appearance
  var window: String
  var border: String
  var text: String

  static let dark = PictureScheme(appearance: .dark, window: "#161b22", border: "#30363d", text: "#e6edf3")
  static let light = PictureScheme(appearance: .light, window: "#ffffff", border: "#d0d7de", text: "#1f2328")
  static let all = [dark, light]

  /// A color as SVG spells it; nil where it is the terminal's own.
  static func hex(_ color: Color?) -> String? {
    color?.components.map { "#" + $0.map { ($0 < 16 ? "0" : "") + String($0, radix: 16) }.joined() }
  }

  func ink(_ style: Style) -> String { Self.hex(style.foreground) ?? text }
}

/// The measures of a cell in a picture, in units of SVG. All are whole, so that nothing falls between two pixels.
enum PictureCell {
  static let width = 9
  static let height = 18
  static let fontSize = 15
  /// From the top of a cell to the foot of its letters.
  static let baseline = 14
}
