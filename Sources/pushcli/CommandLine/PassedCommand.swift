import ArgumentParser

/// The command after `--` that another command runs.
struct PassedCommand {
  /// The command, without the `--` before it.
  let words: [String]

  /// - Parameters:
  ///   - words: the arguments that are passed through.
  ///   - runner: the command that they belong to.
  ///   - example: a command for the message if there is none.
  /// - Throws: a refusal of options that `runner` does not have, or its help.
  init(_ words: [String], of runner: any ParsableCommand.Type, example: String) throws {
    if let word = words.first, word.hasPrefix("-"), word != "--" {
      if ["-h", "--help"].contains(word) { throw CleanExit.helpRequest(runner) }
      throw ValidationError("unknown option \(word): the command comes after --")
    }
    self.words = words.first == "--" ? Array(words.dropFirst()) : words
    guard self.words.first?.isEmpty == false else {
      throw ValidationError("name the command after --, as in -- \(example)")
    }
  }
}
