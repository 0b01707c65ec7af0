/// A color of the terminal's 256-color palette.
package struct Color: Sendable, Hashable {
  package var index: UInt8

  package init(_ index: UInt8) {
    self.index = index
  }
}

/// How a cell looks. What a color says is always said by a shape or by words as well (L7).
package struct Style: Sendable, Hashable {
  /// The color of the text; `nil` is the terminal's own.
  package var foreground: Color?
  /// The color behind the text; `nil` is the terminal's own.
  package var background: Color?
  package var isBold: Bool
  package var isDim: Bool
  /// Where the text leads (OSC 8): printable ASCII.
  package var link: String?

  package init(
    foreground: Color? = nil, background: Color? = nil, isBold: Bool = false, isDim: Bool = false, link: String? = nil
  ) {
    self.foreground = foreground
    self.background = background
    self.isBold = isBold
    self.isDim = isDim
    self.link = link
  }

  package static let plain = Style()
  package static let bold = Style(isBold: true)
  package static let dim = Style(isDim: true)

  /// The sequence that sets this style whatever was set before (SGR).
  ///
  /// - Parameter usesColor: Whether colors are set, or only bold and dim.
  package func sequence(usesColor: Bool) -> String {
    var parameters = "0"
    if isBold { parameters += ";1" }
    if isDim { parameters += ";2" }
    if usesColor, let foreground { parameters += ";38;5;\(foreground.index)" }
    if usesColor, let background { parameters += ";48;5;\(background.index)" }
    return "\u{1B}[\(parameters)m"
  }
}
