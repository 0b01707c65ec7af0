/// Whether a screen is drawn for a dark background or for a light one.
package enum Appearance: String, Sendable, CaseIterable {
  case dark, light

  /// What `COLORFGBG` says, such as `15;0`: the last number is the background's, of the first sixteen colors.
  package static func told(_ environment: [String: String]) -> Appearance? {
    guard let last = environment["COLORFGBG"]?.split(separator: ";").last, let color = Int(last) else { return nil }
    return color == 7 || (9...15).contains(color) ? .light : (0...15).contains(color) ? .dark : nil
  }
}

/// What a terminal can show, as far as its environment tells, and in words why.
package struct TerminalCapabilities: Sendable, Equatable {
  package enum Drawing: String, Sendable {
    /// It can't place text: paragraphs, one after the other.
    case plain
    /// Signs of ASCII for all that is drawn.
    case ascii
    case full
  }

  package var drawing: Drawing
  /// Whether letters beyond ASCII arrive.
  package var encodesUTF8: Bool
  package var colors: Int
  /// Whether it draws half-circles (U+E0B4, U+E0B6) itself, as high as a row: others have them from a font, if at all, and
  /// then too small or with a seam.
  package var hasHalfCircles: Bool
  /// In words for a person: what decided, and what would change it.
  package var reason: String

  package init(drawing: Drawing, encodesUTF8: Bool, colors: Int, hasHalfCircles: Bool = false, reason: String) {
    (self.drawing, self.encodesUTF8, self.colors) = (drawing, encodesUTF8, colors)
    (self.hasHalfCircles, self.reason) = (hasHalfCircles, reason)
  }

  package static let full = TerminalCapabilities(drawing: .full, encodesUTF8: true, colors: 256, reason: "")

  /// What the terminal of this environment can show.
  ///
  /// - Parameter colorCount: how many colors a kind of terminal has (terminfo).
  package static func detect(
    _ environment: [String: String], colorCount: (String) -> Int? = Terminfo.colorCount
  ) -> TerminalCapabilities {
    let locale = ["LC_ALL", "LC_CTYPE", "LANG"].compactMap { environment[$0] }.first { !$0.isEmpty } ?? ""
    let name = locale.lowercased()
    let encodesUTF8 = name.contains("utf-8") || name.contains("utf8")
    let term = environment["TERM"] ?? ""
    guard !term.isEmpty, term != "dumb" else {
      let words = term.isEmpty ? "TERM is not set" : "TERM is dumb, which can't place text"
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

  /// Terminals that draw half-circles themselves, whatever their font has, by `TERM` and by `TERM_PROGRAM`.
  private static let round = ["kitty", "ghostty", "wezterm"]

  /// In tmux and screen it is not known which terminal looks on: it may be another one tomorrow.
  private static func drawsHalfCircles(_ term: String, _ environment: [String: String]) -> Bool {
    guard (environment["TMUX"] ?? "").isEmpty, !term.hasPrefix("tmux"), !term.hasPrefix("screen") else { return false }
    let program = (environment["TERM_PROGRAM"] ?? "").lowercased()
    return round.contains { term.contains($0) || program == $0 }
  }

  /// Terminals that have every color, whether terminfo knows them or not.
  private static let colorful = ["256color", "direct", "kitty", "alacritty", "foot", "wezterm", "ghostty", "contour"]

  private static func colors(of term: String, _ environment: [String: String], _ colorCount: (String) -> Int?) -> Int {
    let colorTerm = environment["COLORTERM"] ?? ""
    // tmux takes every color, and gives the terminal it is in the nearest that that has.
    let isInTmux = !(environment["TMUX"] ?? "").isEmpty
    if isInTmux || ["truecolor", "24bit"].contains(colorTerm) || colorful.contains(where: { term.contains($0) }) {
      return 256
    }
    return colorCount(term) ?? 8
  }

  /// The names of keys, which are signs where those can be drawn.
  package func label(_ text: String) -> String {
    guard drawing == .ascii else { return text }
    return TerminalCapabilities.names.reduce(text) { $0.replacing($1.sign, with: $1.name) }
  }

  private static let names: [(sign: String, name: String)] = [
    ("←↑↓→", "Arrows"), ("↑↓", "Up/Down"), ("←→", "Left/Right"), ("↵", "Enter"), ("␣", "Space"), ("⌫", "Bksp"),
    ("⇥", "Tab"), ("–", "-"),
  ]

  /// The sign of what takes a while, as it turns.
  package var turning: [String] {
    drawing == .ascii ? ["|", "/", "-", "\\"] : ["⠋", "⠙", "⠹", "⠸", "⠼", "⠴", "⠦", "⠧", "⠇", "⠏"]
  }
}

extension Frame {
  /// Replaces what is drawn by signs of ASCII, cell by cell.
  ///
  /// - Parameter keepsLetters: whether letters beyond ASCII stay, which then must arrive.
  package mutating func spellInASCII(keepsLetters: Bool) {
    spellEllipses()
    mapCells { cell in
      guard let character = cell.character else {
        // The rest of a wide one, which is narrow now.
        if !keepsLetters { cell.character = " " }
        return
      }
      guard !character.isASCII else { return }
      if let sign = ASCIISpelling.signs[character] {
        cell.character = sign
      } else if !keepsLetters {
        cell.character = ASCIISpelling.letters[character] ?? "?"
      }
    }
  }
}

extension TerminalCapabilities {
  /// A text in letters that arrive.
  package func spelled(_ text: String) -> String {
    guard !encodesUTF8, !text.utf8.allSatisfy({ $0 < 0x80 }) else { return text }
    return text.replacing("…", with: "...").reduce(into: "") { spelled, character in
      spelled.append(
        character.isASCII ? character : ASCIISpelling.signs[character] ?? ASCIISpelling.letters[character] ?? "?")
    }
  }
}

/// What stands for a character where there is only ASCII. All of these take one column.
private enum ASCIISpelling {
  static let signs = table(
    "─━│┃╭╮╰╯┏┓┗┛├┤┬┴┌▸◂▾●○✓…‹›·↑↓←→↵⇥␣▏×–—“”",
    "-=||++++####+++++><v*ox~<>-^v<><>_|x--\"\"")
  static let letters = table(
    "ÀÁÂÃÄÅÇÈÉÊËÌÍÎÏÑÒÓÔÕÖØÙÚÛÜÝàáâãäåçèéêëìíîïñòóôõöøùúûüýÿß„‘’‚«»•€£¥°",
    "AAAAAACEEEEIIIINOOOOOOUUUUYaaaaaaceeeeiiiinoooooouuuuyys\"'''<>*ELYo")

  private static func table(_ signs: String, _ ascii: String) -> [Character: Character] {
    Dictionary(zip(signs, ascii), uniquingKeysWith: { first, _ in first })
  }
}
