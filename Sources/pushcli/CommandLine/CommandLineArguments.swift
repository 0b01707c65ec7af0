import ArgumentParser
import PushCore

/// What was written after `pushcli`, before it is parsed.
struct CommandLineArguments {
  /// The words, with negative numbers joined to their options.
  let words: [String]

  /// The parser takes `--badge -1` for two options, and would say that a value is missing. What follows `run` is not ours.
  init(_ words: [String]) {
    guard words.first != "run" else {
      self.words = words
      return
    }
    var joined: [String] = []
    var isOver = false
    for word in words {
      isOver = isOver || word == "--"
      if !isOver, let option = joined.last, option.hasPrefix("--"), !option.contains("="),
        CommandLineArguments.isNegative(word)
      {
        joined[joined.count - 1] += "=" + word
      } else {
        joined.append(word)
      }
    }
    self.words = joined
  }

  private static func isNegative(_ word: String) -> Bool {
    word.hasPrefix("-") && word.dropFirst().first.map { ("0"..."9").contains($0) } ?? false
  }

  /// `pushcli version`, as others write `--version`: nothing has to be parsed for it.
  var isVersion: Bool { words == ["version"] || words == ["--version"] }

  /// Refuses help for a command that there is not.
  ///
  /// - Throws: ``CommandFailure`` of wrong usage, which names the nearest.
  func checkHelp(of root: any ParsableCommand.Type) throws(CommandFailure) {
    guard words.first == "help" else { return }
    var command = root
    for word in words.dropFirst() where !word.hasPrefix("-") {
      guard let next = command.subcommand(word) else {
        throw CommandFailure(.usage, CommandLineArguments.unknown(word, of: command, below: root))
      }
      command = next
    }
  }

  /// A subcommand that there is not, in words, where that is what made the parser refuse the line.
  func unknownCommand(below root: any ParsableCommand.Type) -> String? {
    var command = root
    for word in words {
      guard !command.configuration.subcommands.isEmpty, !word.hasPrefix("-") else { return nil }
      guard let next = command.subcommand(word) else {
        return CommandLineArguments.unknown(word, of: command, below: root)
      }
      command = next
    }
    return nil
  }

  private static func unknown(
    _ word: String, of command: any ParsableCommand.Type, below root: any ParsableCommand.Type
  ) -> String {
    let path = command == root ? root._commandName : root._commandName + " " + command._commandName
    let nearest = Suggestions.nearest(to: word, among: command.names + (command == root ? ["help", "version"] : []))
    let advice = nearest.map { "did you mean \($0)?" } ?? "`\(path) --help` lists them"
    return "there is no command \(word)\(command == root ? "" : " of \(command._commandName)"): \(advice)"
  }
}

extension ParsableCommand {
  /// The names of its subcommands, as they are listed.
  fileprivate static var names: [String] { configuration.subcommands.map { $0._commandName } }

  fileprivate static func subcommand(_ name: String) -> (any ParsableCommand.Type)? {
    configuration.subcommands.first { $0._commandName == name || $0.configuration.aliases.contains(name) }
  }
}
