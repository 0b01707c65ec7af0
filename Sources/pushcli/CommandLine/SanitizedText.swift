import TerminalUI

/// Bytes that are safe on a terminal and in a log: all that ``Output`` writes.
///
/// Nearly every text that a command prints was written by somebody else: a sender, a device, a gateway. Making them safe
/// here, where there is no way past, is what no command can forget.
struct SanitizedText {
  let bytes: [UInt8]

  /// The longest line that is printed, in bytes: no text of ours is near it, and no other is worth more.
  static let maximumLineSize = 64 << 10

  /// A line with its end. Line breaks in `text` become spaces, and of more than ``maximumLineSize`` the rest is left out.
  init(line text: String) { bytes = Array((Self.line(text) + "\n").utf8) }

  /// Lines, each with its end, of a text that has several: help, what is shown of pushes.
  init(lines text: String) { bytes = Array((Sanitizer.body(text) + (text.hasSuffix("\n") ? "" : "\n")).utf8) }

  /// A line without an end, after which the person answers.
  init(question text: String) { bytes = Array(Self.line(text).utf8) }

  /// What takes the place of the line before, on a terminal: a bar of progress; empty: nothing.
  init(progress text: String) { bytes = Array(("\r\u{1B}[K" + Self.line(text)).utf8) }

  /// An event of the log, in one line with its end, which spells what it may not hold.
  init(event text: String) {
    let start = Sanitizer.prefix(text, maximumSize: Self.maximumLineSize)
    bytes = Array((Sanitizer.prefix(Sanitizer.escaped(start), maximumSize: Self.maximumLineSize) + "\n").utf8)
  }

  /// JSON, exactly; for a terminal with escapes in place of all that it might obey, which is the same JSON.
  init(json: [UInt8], isForTerminal: Bool) { bytes = isForTerminal ? Sanitizer.escaped(json: json) : json }

  private static func line(_ text: String) -> String {
    let line = Sanitizer.prefix(text, maximumSize: maximumLineSize)
    return Sanitizer.line(line) + (line.utf8.count < text.utf8.count ? "…" : "")
  }
}
