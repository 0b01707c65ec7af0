/// A color of the terminal's 256-color palette.
struct Color: Sendable, Hashable {
  var index: UInt8

  init(_ index: UInt8) {
    self.index = index
  }
}

/// How a cell looks. What a color says is always said by a shape or by words as well (L7).
struct Style: Sendable, Hashable {
  /// The color of the text; `nil` is the terminal's own.
  var foreground: Color?
  /// The color behind the text; `nil` is the terminal's own.
  var background: Color?
  var isBold = false
  var isDim = false
  /// Where the text leads (OSC 8): printable ASCII.
  var link: String?

  static let plain = Style()
  static let bold = Style(isBold: true)
  static let dim = Style(isDim: true)

  /// The sequence that sets this style whatever was set before (SGR).
  ///
  /// - Parameter usesColor: Whether colors are told, or only bold and dim.
  func sequence(usesColor: Bool) -> String {
    var parameters = "0"
    if isBold { parameters += ";1" }
    if isDim { parameters += ";2" }
    if usesColor, let foreground { parameters += ";38;5;\(foreground.index)" }
    if usesColor, let background { parameters += ";48;5;\(background.index)" }
    return "\u{1B}[\(parameters)m"
  }
}
