import Foundation
import TerminalUI

/// What a push says of a command that has ended.
struct CommandReport {
  var command: [String]
  var end: ChildCommand.End
  var time: Duration
  /// The last lines of its output.
  var lines: [String] = []

  /// A title is one line of at most so many columns (T2).
  private static let maximumTitleSize = 40
  /// How much of a command is sent, in bytes.
  private static let maximumCommandSize = 1000
  /// What a payload may have, in bytes, without what is around its texts.
  private static let maximumTextSize = 4096 - 128

  /// What ran, and whether it failed.
  var title: String {
    let verb = end == .exited(0) ? "Done: " : "Failed: "
    let room = CommandReport.maximumTitleSize - verb.count
    return verb + (line.count > room ? line.prefix(room - 1) + "…" : line)
  }

  /// The command in one line.
  private var line: String { Sanitizer.line(command.joined(separator: " ")) }

  /// How it ended, and how long it took; the command, where the title does not have all of it; as many of the last lines of its
  /// output as the payload has room for.
  func body(below title: String) -> String {
    var parts = [how]
    if !title.contains(line) {
      let command = Sanitizer.prefix(line, maximumSize: CommandReport.maximumCommandSize)
      parts.append("$ " + command + (command.utf8.count < line.utf8.count ? "…" : ""))
    }
    let room = CommandReport.maximumTextSize - parts.reduce(CommandReport.size(title)) { $0 + CommandReport.size($1) }
    var size = 0
    let last = lines.reversed().prefix { line in
      size += CommandReport.size(line)
      return size <= room
    }
    return (parts + last.reversed()).joined(separator: "\n")
  }

  /// What a line takes in JSON, with its end: two bytes for what is escaped.
  private static func size(_ line: String) -> Int {
    line.utf8.count { $0 == UInt8(ascii: "\"") || $0 == UInt8(ascii: "\\") } + line.utf8.count + 2
  }

  private var how: String {
    switch end {
    case .exited(let status): "Exit status \(status) after \(CommandReport.words(of: time))."
    case .signaled(let signal): "Ended by signal \(signal) after \(CommandReport.words(of: time))."
    }
  }

  /// Which of the built-in sounds it is told by.
  var sound: String { end == .exited(0) ? "success" : "failure" }

  /// Such as `0.4 s`, `12 s`, `3 min 5 s` and `2 h 10 min`.
  static func words(of time: Duration) -> String {
    let seconds = time.components.seconds
    switch seconds {
    case ..<10: return String(format: "%.1f s", locale: Locale(identifier: "en_US_POSIX"), time / .seconds(1))
    case ..<60: return "\(seconds) s"
    case ..<3600: return "\(seconds / 60) min \(seconds % 60) s"
    default: return "\(seconds / 3600) h \(seconds % 3600 / 60) min"
    }
  }
}
