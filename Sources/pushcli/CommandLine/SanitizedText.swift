import TerminalUI

/// Bytes that are safe on a terminal and in a log: all that ``Output`` writes.
///
/// Most text that a command prints comes from others: a sender, a device, a gateway. Since all output passes through
/// this type, no command can omit the sanitization.
struct SanitizedText {
  let bytes: [UInt8]

  /// The maximum size of a printed line in bytes, far above the size of any line that `pushcli` makes.
  static let maximumLineSize = 64 << 10

  /// Makes a line with its end. Line breaks in `text` become spaces, and text beyond ``maximumLineSize`` is cut off.
  init(line text: String) { bytes = Array((Self.line(text) + "\n").utf8) }

  /// Makes several lines, each with its end: for help and the text of pushes.
  init(lines text: String) { bytes = Array((Sanitizer.body(text) + (text.hasSuffix("\n") ? "" : "\n")).utf8) }

  /// Makes a line without an end, after which the user answers.
  init(question text: String) { bytes = Array(Self.line(text).utf8) }

  /// Makes text that replaces the previous line on a terminal, such as a progress bar; an empty text removes it.
  init(progress text: String) { bytes = Array(("\r\u{1B}[K" + Self.line(text)).utf8) }

  /// Makes a log event in one line with its end; characters that are not permitted are escaped.
  init(event text: String) {
    let start = Sanitizer.prefix(text, maximumSize: Self.maximumLineSize)
    bytes = Array((Sanitizer.prefix(Sanitizer.escaped(start), maximumSize: Self.maximumLineSize) + "\n").utf8)
  }

  /// Makes unchanged JSON; for a terminal, control characters are replaced by escapes, which is equivalent JSON.
  init(json: [UInt8], isForTerminal: Bool) { bytes = isForTerminal ? Sanitizer.escaped(json: json) : json }

  private static func line(_ text: String) -> String {
    let line = Sanitizer.prefix(text, maximumSize: maximumLineSize)
    return Sanitizer.line(line) + (line.utf8.count < text.utf8.count ? "…" : "")
  }
}
