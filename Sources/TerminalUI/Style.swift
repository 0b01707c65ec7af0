/// A color of the terminal's 256-color palette.
package struct Color: Sendable, Hashable {
  package var index: UInt8

  package init(_ index: UInt8) {
    self.index = index
  }

  /// The first eight are set as every terminal with colors understands.
  fileprivate func parameter(plain: Int, indexed: Int) -> String {
    index < 8 ? ";\(plain + Int(index))" : ";\(indexed);5;\(index)"
  }

  /// Red, green and blue from 0 to 255, for the colors from 16 on, which are the same everywhere: a cube of six steps each,
  /// and 24 grays. Nil for the first sixteen, which every terminal has as it likes.
  package var components: [Int]? {
    guard index >= 16 else { return nil }
    if index >= 232 { return Array(repeating: 8 + 10 * (Int(index) - 232), count: 3) }
    let place = Int(index) - 16
    return [place / 36, place / 6 % 6, place % 6].map { $0 == 0 ? 0 : 55 + 40 * $0 }
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
    // A color of its own is faint enough, and how faint is known.
    if isDim, !usesColor || foreground == nil { parameters += ";2" }
    if usesColor, let foreground { parameters += foreground.parameter(plain: 30, indexed: 38) }
    if usesColor, let background { parameters += background.parameter(plain: 40, indexed: 48) }
    return "\u{1B}[\(parameters)m"
  }
}
