import Foundation
import TerminalUI

/// The texts of the push about a command that has ended.
struct CommandReport {
  var command: [String]
  var end: ChildCommand.End
  var time: Duration
  /// The last lines of the command's output.
  var lines: [String] = []

  /// The maximum number of columns of the title, which is one line (T2).
  private static let maximumTitleSize = 40
  /// The maximum size of the command in bytes.
  private static let maximumCommandSize = 1000
  /// The maximum size of the texts in bytes: the limit of a payload without its other members.
  private static let maximumTextSize = 4096 - 128

  /// The title: the result and the command, cut to the maximum.
  var title: String {
    let verb = end == .exited(0) ? "Done: " : "Failed: "
    let room = CommandReport.maximumTitleSize - verb.count
    return verb + (line.count > room ? line.prefix(room - 1) + "…" : line)
  }

  private var line: String { Sanitizer.line(command.joined(separator: " ")) }

  /// Returns the body: the exit status and the duration; the command, if the title does not contain all of it; and as
  /// many of the last output lines as fit into the payload.
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

  /// Returns the size of a line with its end in JSON: escaped characters count as two bytes.
  private static func size(_ line: String) -> Int {
    line.utf8.count { $0 == UInt8(ascii: "\"") || $0 == UInt8(ascii: "\\") } + line.utf8.count + 2
  }

  private var how: String {
    switch end {
    case .exited(let status): "Exit status \(status) after \(CommandReport.words(of: time))."
    case .signaled(let signal): "Ended by signal \(signal) after \(CommandReport.words(of: time))."
    }
  }

  /// The built-in sound of the push, by the result.
  var sound: String { end == .exited(0) ? "success" : "failure" }

  /// Formats a duration, such as `0.4 s`, `12 s`, `3 min 5 s` and `2 h 10 min`.
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
