import ArgumentParser
import PushCore

/// The words after `pushcli`, before they are parsed.
struct CommandLineArguments {
  /// The words, with negative numbers joined to their options.
  let words: [String]

  /// Joins negative numbers to their options: the parser takes `--badge -1` for two options and would report a missing
  /// value. The words after `run`, `test-run` and `device-conformance` belong to another command and stay unchanged.
  init(_ words: [String]) {
    guard let first = words.first, !["run", "test-run", "device-conformance"].contains(first) else {
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

  /// True for `pushcli version` and for `pushcli --version`; neither needs parsing.
  var isVersion: Bool { words == ["version"] || words == ["--version"] }

  /// Rejects help for an unknown command.
  ///
  /// - Throws: ``CommandFailure`` of wrong usage, which names the nearest command.
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

  /// Returns a sentence about an unknown subcommand, if that was the reason for the parser's error.
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
  /// The names of its subcommands, in the order of the list.
  fileprivate static var names: [String] { configuration.subcommands.map { $0._commandName } }

  fileprivate static func subcommand(_ name: String) -> (any ParsableCommand.Type)? {
    configuration.subcommands.first { $0._commandName == name || $0.configuration.aliases.contains(name) }
  }
}
