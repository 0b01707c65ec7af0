/// Wraps and truncates text to columns. All results are sanitized.
package enum TextLayout {
  /// Returns `text` on one line of at most `columns` columns, with … in place of the text that does not fit.
  package static func truncated(_ text: String, columns: Int) -> String {
    let line = Sanitizer.line(text)
    return DisplayWidth.of(line) <= columns ? line : cut(line, columns: columns)
  }

  /// Returns the end of `text` on one line of at most `columns` columns, with … in place of the omitted beginning.
  package static func tail(_ text: String, columns: Int) -> String {
    let line = Sanitizer.line(text)
    guard DisplayWidth.of(line) > columns, columns > 0 else { return columns > 0 ? line : "" }
    var kept: [Character] = []
    var width = 1
    for character in line.reversed() {
      width += DisplayWidth.of(character)
      if width > columns { break }
      kept.append(character)
    }
    return "…" + String(kept.reversed())
  }

  /// Returns `text` in lines of at most `columns` columns. Lines break at spaces and next to wide characters, and
  /// inside a word only if it is longer than a line. A cluster that is wider than a line becomes U+FFFD. If there are
  /// more than `maximumLines` lines, the last one ends in ….
  package static func wrapped(_ text: String, columns: Int, maximumLines: Int = .max) -> [String] {
    guard columns > 0, maximumLines > 0 else { return [] }
    var lines: [String] = []
    for paragraph in Sanitizer.body(text).split(separator: "\n", omittingEmptySubsequences: false) {
      wrap(paragraph, columns: columns, atMost: maximumLines, into: &lines)
      // Empty lines exceed the limit only if a line with text follows them.
      if lines.count > maximumLines, lines.last?.isEmpty == false { break }
    }
    while lines.last?.isEmpty == true { lines.removeLast() }
    guard lines.count > maximumLines else { return lines }
    lines.removeSubrange(maximumLines...)
    lines[maximumLines - 1] = cut(lines[maximumLines - 1] + " …", columns: columns)
    return lines
  }

  /// Returns the longest beginning of `line` that fits together with an ellipsis, and the ellipsis.
  private static func cut(_ line: String, columns: Int) -> String {
    guard columns > 0 else { return "" }
    var kept = ""
    var width = 0
    for character in line.hasSuffix(" …") ? line.dropLast(2) : line[...] {
      width += DisplayWidth.of(character)
      if width > columns - 1 { break }
      kept.append(character)
    }
    while kept.last == " " { kept.removeLast() }
    return kept + "…"
  }

  /// Replaces a cluster that is wider than a line.
  private static let replacement: Character = "\u{FFFD}"

  /// Wraps a paragraph, and stops as soon as there are more than `maximum` lines.
  private static func wrap(_ paragraph: Substring, columns: Int, atMost maximum: Int, into lines: inout [String]) {
    var line = ""
    var width = 0
    var wordStart: (index: String.Index, width: Int)?
    for whole in paragraph {
      // A cluster may be wider than a line: for example a letter with several skin tone modifiers.
      let character = DisplayWidth.of(whole) > columns ? TextLayout.replacement : whole
      let advance = DisplayWidth.of(character)
      if character == " " {
        if width < columns {
          line.append(character)
          width += 1
        }
        wordStart = (line.endIndex, width)
        continue
      }
      if advance > 1 { wordStart = (line.endIndex, width) }
      if width + advance > columns, !line.isEmpty {
        let start = wordStart.flatMap { $0.index > line.startIndex ? $0 : nil } ?? (index: line.endIndex, width: width)
        let word = line[start.index...]
        lines.append(trimmed(line[..<start.index]))
        if lines.count > maximum { return }
        (line, width) = (String(word), width - start.width)
        wordStart = nil
      }
      line.append(character)
      width += advance
      if advance > 1 { wordStart = (line.endIndex, width) }
    }
    lines.append(trimmed(line[...]))
  }

  private static func trimmed(_ line: Substring) -> String {
    var line = line
    while line.last == " " { line.removeLast() }
    return String(line)
  }
}
