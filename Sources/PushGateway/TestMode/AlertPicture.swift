/// An alert as a phone shows it, as an SVG picture: for the eyes of a developer, with the widths of letters estimated.
struct AlertPicture: Sendable {
  enum Theme: String, CaseIterable, Sendable { case light, dark }

  /// The width of the screen.
  enum Size: String, CaseIterable, Sendable {
    case small, medium, large

    var width: Int {
      switch self {
      case .small: 320
      case .medium: 390
      case .large: 430
      }
    }
  }

  /// One line of text with its style.
  private struct Line {
    var text: String
    var isBold: Bool
    var size: Int
  }

  var appName: String
  var icon: String
  var title: String
  var subtitle: String
  var body: String

  private static let margin = 12
  private static let iconSize = 38
  private static let textSize = 15
  /// The maximum numbers of lines of a title or subtitle, and of a body.
  private static let (maximumTitle, maximumBody) = (2, 4)

  /// Creates the picture of a push; nil if its payload has no alert with a text.
  ///
  /// - Parameters:
  ///   - appName: the name of its app.
  ///   - icon: one emoji, or two letters.
  init?(_ push: RecordedPush, appName: String, icon: String) {
    let texts = [PushField.title, .subtitle, .body].map { $0.value(in: push)?.text ?? "" }
    guard !texts.allSatisfy(\.isEmpty) else { return nil }
    (self.appName, self.icon) = (appName, icon)
    (title, subtitle, body) = (texts[0], texts[1], texts[2])
  }

  /// Returns the SVG document.
  func svg(_ theme: Theme, _ size: Size) -> String {
    let (paper, card, ink, gray) =
      theme == .light ? ("#e5e5ea", "#ffffff", "#000000", "#6c6c70") : ("#000000", "#2c2c2e", "#ffffff", "#98989d")
    let left = 2 * AlertPicture.margin + AlertPicture.iconSize + AlertPicture.margin
    let space = size.width - left - 2 * AlertPicture.margin
    let lines = lines(in: space)
    let height = max(AlertPicture.iconSize, 20 + lines.reduce(0) { $0 + $1.size + 5 }) + 2 * AlertPicture.margin
    let (width, total) = (size.width, height + 2 * AlertPicture.margin)
    var svg = """
      <svg xmlns="http://www.w3.org/2000/svg" width="\(width)" height="\(total)" viewBox="0 0 \(width) \(total)" \
      font-family="-apple-system, 'Helvetica Neue', Arial, sans-serif">
      <rect width="\(width)" height="\(total)" fill="\(paper)"/>
      <rect x="12" y="12" width="\(width - 24)" height="\(height)" rx="18" fill="\(card)"/>
      <text x="43" y="\(12 + height / 2 + 10)" font-size="28" text-anchor="middle" fill="\(ink)">\(escaped(icon))</text>
      <text x="\(left)" y="36" font-size="12" fill="\(gray)">\(escaped(appName))</text>

      """
    var y = 36
    for line in lines {
      y += line.size + 5
      let weight = line.isBold ? " font-weight=\"600\"" : ""
      svg += "<text x=\"\(left)\" y=\"\(y)\" font-size=\"\(line.size)\"\(weight) fill=\"\(ink)\">"
      svg += escaped(line.text) + "</text>\n"
    }
    return svg + "</svg>\n"
  }

  private func lines(in space: Int) -> [Line] {
    func lines(_ text: String, _ maximum: Int, isBold: Bool) -> [Line] {
      AlertPicture.wrap(text, columns: Double(space) / Double(AlertPicture.textSize), maximum: maximum).map {
        Line(text: $0, isBold: isBold, size: AlertPicture.textSize)
      }
    }
    return lines(title, AlertPicture.maximumTitle, isBold: true)
      + lines(subtitle, AlertPicture.maximumTitle, isBold: true)
      + lines(body, AlertPicture.maximumBody, isBold: false)
  }

  /// Breaks a text into lines at spaces, or within a word that is too long.
  ///
  /// - Parameters:
  ///   - columns: the width of a line, in widths of an em.
  ///   - maximum: the maximum number of lines; the last one ends with an ellipsis if there is more.
  static func wrap(_ text: String, columns: Double, maximum: Int) -> [String] {
    var lines: [String] = []
    var (line, width) = ("", 0.0)
    func end() {
      if !line.isEmpty { lines.append(line) }
      (line, width) = ("", 0)
    }
    for word in text.split(whereSeparator: \.isWhitespace) {
      let length = word.reduce(0) { $0 + AlertPicture.width(of: $1) }
      if !line.isEmpty, width + AlertPicture.width(of: " ") + length > columns { end() }
      if !line.isEmpty { (line, width) = (line + " ", width + AlertPicture.width(of: " ")) }
      for character in word {
        if width + AlertPicture.width(of: character) > columns { end() }
        line.append(character)
        width += AlertPicture.width(of: character)
      }
    }
    end()
    guard lines.count > maximum else { return lines }
    return Array(lines[..<(maximum - 1)]) + [String(lines[maximum - 1].dropLast()) + "…"]
  }

  /// Returns the estimated width of a character, in widths of an em.
  private static func width(of character: Character) -> Double {
    guard let scalar = character.unicodeScalars.first else { return 0 }
    switch scalar {
    case "i", "j", "l", "t", "f", "r", "I", " ", ".", ",", ":", ";", "!", "'", "|", "(", ")", "[", "]": return 0.3
    case "m", "w", "M", "W", "@", "%": return 0.85
    default: return scalar.value >= 0x1100 ? 1 : character.isUppercase ? 0.67 : 0.53
    }
  }
}

/// Escapes a text for XML, without characters that XML does not allow.
private func escaped(_ text: String) -> String {
  var escaped = ""
  for scalar in text.unicodeScalars {
    switch scalar {
    case "&": escaped += "&amp;"
    case "<": escaped += "&lt;"
    case ">": escaped += "&gt;"
    case "\"": escaped += "&quot;"
    default:
      let isAllowed = scalar.value >= 0x20 && scalar.value != 0xFFFE && scalar.value != 0xFFFF
      if isAllowed || scalar == "\t" || scalar == "\n" { escaped.unicodeScalars.append(scalar) }
    }
  }
  return escaped
}
