/// A color of the terminal's 256-color palette.
package struct Color: Sendable, Hashable {
  package var index: UInt8

  package init(_ index: UInt8) {
    self.index = index
  }

  /// Returns the SGR parameter. The first eight colors use the form that every terminal with colors supports.
  fileprivate func parameter(plain: Int, indexed: Int) -> String {
    index < 8 ? ";\(plain + Int(index))" : ";\(indexed);5;\(index)"
  }

  /// Red, green and blue from 0 to 255. The colors from 16 on are the same on all terminals: a cube of six steps for
  /// each component, and 24 grays. Nil for the first sixteen colors, which each terminal defines itself.
  package var components: [Int]? {
    guard index >= 16 else { return nil }
    if index >= 232 { return Array(repeating: 8 + 10 * (Int(index) - 232), count: 3) }
    let place = Int(index) - 16
    return [place / 36, place / 6 % 6, place % 6].map { $0 == 0 ? 0 : 55 + 40 * $0 }
  }
}

/// The style of a ``Cell``. Information that a color conveys is always shown by a shape or by words too (L7).
package struct Style: Sendable, Hashable {
  /// The color of the text; `nil` selects the terminal's default.
  package var foreground: Color?
  /// The color behind the text; `nil` selects the terminal's default.
  package var background: Color?
  package var isBold: Bool
  package var isDim: Bool
  /// The link target of the text (OSC 8) in printable ASCII.
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

  /// Returns the sequence that sets this style, independent of the previous style (SGR).
  ///
  /// - Parameter usesColor: True to set colors, false for bold and dim only.
  package func sequence(usesColor: Bool) -> String {
    var parameters = "0"
    if isBold { parameters += ";1" }
    // A foreground color is faint enough without SGR 2, and its exact appearance is known.
    if isDim, !usesColor || foreground == nil { parameters += ";2" }
    if usesColor, let foreground { parameters += foreground.parameter(plain: 30, indexed: 38) }
    if usesColor, let background { parameters += background.parameter(plain: 40, indexed: 48) }
    return "\u{1B}[\(parameters)m"
  }
}
