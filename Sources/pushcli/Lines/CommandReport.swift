import Foundation

/// What a push says of a command that has ended.
struct CommandReport {
  var command: [String]
  var end: ChildCommand.End
  var time: Duration

  /// A title is one line of at most so many columns (T2).
  private static let maximumTitleSize = 40

  /// What ran, and whether it failed.
  var title: String {
    let verb = end == .exited(0) ? "Done: " : "Failed: "
    let words = command.joined(separator: " ").split(whereSeparator: \.isNewline).joined(separator: " ")
    let room = CommandReport.maximumTitleSize - verb.count
    return verb + (words.count > room ? words.prefix(room - 1) + "…" : words)
  }

  /// How it ended, and how long it took.
  var body: String {
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
