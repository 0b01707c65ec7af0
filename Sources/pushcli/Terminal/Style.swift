/// A colour of the terminal's 256-colour palette.
struct Colour: Sendable, Hashable {
  var index: UInt8

  init(_ index: UInt8) {
    self.index = index
  }
}

/// How a cell looks. What a colour says is always said by a shape or by words as well (L7).
struct Style: Sendable, Hashable {
  /// The colour of the text; `nil` is the terminal's own.
  var foreground: Colour?
  /// The colour behind the text; `nil` is the terminal's own.
  var background: Colour?
  var isBold = false
  var isDim = false
  /// Where the text leads (OSC 8): printable ASCII.
  var link: String?

  static let plain = Style()
  static let bold = Style(isBold: true)
  static let dim = Style(isDim: true)

  /// The sequence that sets this style whatever was set before (SGR).
  ///
  /// - Parameter usesColour: Whether colours are told, or only bold and dim.
  func sequence(usesColour: Bool) -> String {
    var parameters = "0"
    if isBold { parameters += ";1" }
    if isDim { parameters += ";2" }
    if usesColour, let foreground { parameters += ";38;5;\(foreground.index)" }
    if usesColour, let background { parameters += ";48;5;\(background.index)" }
    return "\u{1B}[\(parameters)m"
  }
}
