/// The brightness of the background, dark or light, for which a screen is drawn.
package enum Appearance: String, Sendable, CaseIterable {
  case dark, light

  /// Returns the appearance from `COLORFGBG`, such as `15;0`: the last number is the background, one of the first
  /// sixteen colors. Returns nil if the variable is missing or malformed.
  package static func reported(_ environment: [String: String]) -> Appearance? {
    guard let last = environment["COLORFGBG"]?.split(separator: ";").last, let color = Int(last) else { return nil }
    return color == 7 || (9...15).contains(color) ? .light : (0...15).contains(color) ? .dark : nil
  }
}

/// The display capabilities of a terminal according to its environment, with a reason as text.
package struct TerminalCapabilities: Sendable, Equatable {
  package enum Drawing: String, Sendable {
    /// The terminal cannot position text: the client prints paragraphs, one after the other.
    case plain
    /// Drawing with ASCII characters only.
    case ascii
    case full
  }

  package var drawing: Drawing
  /// True if characters beyond ASCII reach the terminal intact.
  package var encodesUTF8: Bool
  package var colors: Int
  /// True if the terminal itself draws half-circles (U+E0B4, U+E0B6) in the full height of a row. Other terminals
  /// draw them from a font, if at all, and then too small or with a seam.
  package var hasHalfCircles: Bool
  /// An explanation for the user: the setting that decided, and the setting that would change the result.
  package var reason: String

  package init(drawing: Drawing, encodesUTF8: Bool, colors: Int, hasHalfCircles: Bool = false, reason: String) {
    (self.drawing, self.encodesUTF8, self.colors) = (drawing, encodesUTF8, colors)
    (self.hasHalfCircles, self.reason) = (hasHalfCircles, reason)
  }

  package static let full = TerminalCapabilities(drawing: .full, encodesUTF8: true, colors: 256, reason: "")

  /// Detects the capabilities of the terminal from the environment.
  ///
  /// - Parameter colorCount: Returns the number of colors of a terminal type (terminfo).
  package static func detect(
    _ environment: [String: String], colorCount: (String) -> Int? = TerminalCapabilities.colorCount
  ) -> TerminalCapabilities {
    let locale = ["LC_ALL", "LC_CTYPE", "LANG"].compactMap { environment[$0] }.first { !$0.isEmpty } ?? ""
    let name = locale.lowercased()
    let encodesUTF8 = name.contains("utf-8") || name.contains("utf8")
    let term = environment["TERM"] ?? ""
    guard !term.isEmpty, term != "dumb" else {
      let words = term.isEmpty ? "TERM is not set" : "TERM is dumb, which can't position text"
      return TerminalCapabilities(drawing: .plain, encodesUTF8: encodesUTF8, colors: 0, reason: words)
    }
    let colors = colors(of: term, environment, colorCount)
    if !encodesUTF8 {
      let words = locale.isEmpty ? "no locale is set" : "the locale \(locale) is not UTF-8"
      return TerminalCapabilities(
        drawing: .ascii, encodesUTF8: false, colors: colors, reason: "\(words): LANG=C.UTF-8 would show every sign")
    }
    guard colors >= 256 else {
      return TerminalCapabilities(
        drawing: .ascii, encodesUTF8: true, colors: colors,
        reason: "TERM=\(term) has \(colors) colors: TERM=xterm-256color, if that is so, would show more")
    }
    return TerminalCapabilities(
      drawing: .full, encodesUTF8: true, colors: colors, hasHalfCircles: drawsHalfCircles(term, environment),
      reason: "UTF-8, and TERM=\(term) has 256 colors or more")
  }

  /// The values of `TERM` and `TERM_PROGRAM` of terminals that draw half-circles themselves, independent of the font.
  private static let round = ["kitty", "ghostty", "wezterm"]

  /// Returns false in tmux and screen: the outer terminal is unknown and may change while the session lasts.
  private static func drawsHalfCircles(_ term: String, _ environment: [String: String]) -> Bool {
    guard (environment["TMUX"] ?? "").isEmpty, !term.hasPrefix("tmux"), !term.hasPrefix("screen") else { return false }
    let program = (environment["TERM_PROGRAM"] ?? "").lowercased()
    return round.contains { term.contains($0) || program == $0 }
  }

  /// Parts of the `TERM` of terminals with at least 256 colors, independent of terminfo.
  private static let colorful = ["256color", "direct", "kitty", "alacritty", "foot", "wezterm", "ghostty", "contour"]

  private static func colors(of term: String, _ environment: [String: String], _ colorCount: (String) -> Int?) -> Int {
    let colorTerm = environment["COLORTERM"] ?? ""
    // tmux accepts every color and converts it to the nearest color of its outer terminal.
    let isInTmux = !(environment["TMUX"] ?? "").isEmpty
    if isInTmux || ["truecolor", "24bit"].contains(colorTerm) || colorful.contains(where: { term.contains($0) }) {
      return 256
    }
    return colorCount(term) ?? 8
  }

  /// Returns the text with symbols of keys, such as ↵, replaced by names if only ASCII can be drawn.
  package func label(_ text: String) -> String {
    guard drawing == .ascii else { return text }
    return TerminalCapabilities.names.reduce(text) { $0.replacing($1.sign, with: $1.name) }
  }

  private static let names: [(sign: String, name: String)] = [
    ("←↑↓→", "Arrows"), ("↑↓", "Up/Down"), ("←→", "Left/Right"), ("↵", "Enter"), ("␣", "Space"), ("⌫", "Bksp"),
    ("⇥", "Tab"), ("–", "-"),
  ]

  /// The frames of the progress indicator, in order.
  package var turning: [String] {
    drawing == .ascii ? ["|", "/", "-", "\\"] : ["⠋", "⠙", "⠹", "⠸", "⠼", "⠴", "⠦", "⠧", "⠇", "⠏"]
  }
}

extension Frame {
  /// Replaces the drawing characters with ASCII characters, one ``Cell`` at a time.
  ///
  /// - Parameter keepsLetters: True to keep letters beyond ASCII, which requires a terminal that can show them.
  package mutating func spellInASCII(keepsLetters: Bool) {
    spellEllipses()
    mapCells { cell in
      guard let character = cell.character else {
        // The continuation of a wide cluster, whose replacement is narrow.
        if !keepsLetters { cell.character = " " }
        return
      }
      guard !character.isASCII else { return }
      if let sign = asciiSigns[character] {
        cell.character = sign
      } else if !keepsLetters {
        cell.character = asciiLetters[character] ?? "?"
      }
    }
  }
}

extension TerminalCapabilities {
  /// Returns the text in characters that the terminal can show.
  package func spelled(_ text: String) -> String {
    guard !encodesUTF8, !text.utf8.allSatisfy({ $0 < 0x80 }) else { return text }
    return text.replacing("…", with: "...").reduce(into: "") { spelled, character in
      spelled.append(
        character.isASCII ? character : asciiSigns[character] ?? asciiLetters[character] ?? "?")
    }
  }
}

/// The ASCII replacements of drawing characters, and those of letters. Each of these characters takes one column.
private let asciiSigns = asciiTable(
  "─━│┃╭╮╰╯┏┓┗┛├┤┬┴┌▸◂▾●○✓…‹›·↑↓←→↵⇥␣▏×–—“”",
  "-=||++++####+++++><v*ox~<>-^v<><>_|x--\"\"")
private let asciiLetters = asciiTable(
  "ÀÁÂÃÄÅÇÈÉÊËÌÍÎÏÑÒÓÔÕÖØÙÚÛÜÝàáâãäåçèéêëìíîïñòóôõöøùúûüýÿß„‘’‚«»•€£¥°",
  "AAAAAACEEEEIIIINOOOOOOUUUUYaaaaaaceeeeiiiinoooooouuuuyys\"'''<>*ELYo")

private func asciiTable(_ signs: String, _ ascii: String) -> [Character: Character] {
  Dictionary(zip(signs, ascii), uniquingKeysWith: { first, _ in first })
}
