import ArgumentParser

extension CommandLineArguments {
  /// Returns the script that the words request; nil if they request something else, or an unknown shell, which the
  /// parser then reports.
  func completionScript(of root: any ParsableCommand.Type) -> String? {
    let option = "--generate-completion-script"
    let parts = words.count == 1 ? words[0].split(separator: "=", maxSplits: 1).map(String.init) : words
    guard parts.count == 2, parts[0] == option, let shell = CompletionShell(rawValue: parts[1]) else { return nil }
    return CommandLineArguments.completionScript(for: shell, of: root)
  }

  /// Makes the script that a shell reads once to complete `pushcli`: the parser's own script with an addition for default
  /// commands.
  ///
  /// A group such as `prefs` has a default command, which runs if no command is named. The parser's script completes that
  /// command's options only after its name. With the addition, the shell also completes them directly after the group.
  static func completionScript(for shell: CompletionShell, of root: any ParsableCommand.Type) -> String {
    groups(below: root, path: []).reduce(root.completionScript(for: shell)) { script, group in
      switch shell {
      case .bash: bash(script, group)
      case .zsh: zsh(script, group)
      case .fish: fish(script, group)
      default: script
      }
    }
  }

  /// A group, by the names that lead to it, and its default command.
  private struct Group {
    var path: [String]
    var command: String

    var function: String { "_" + path.joined(separator: "_") }
  }

  private static func groups(below command: any ParsableCommand.Type, path: [String]) -> [Group] {
    let path = path + [command._commandName]
    let own = command.configuration.defaultSubcommand.map { [Group(path: path, command: $0._commandName)] } ?? []
    return own + command.configuration.subcommands.flatMap { groups(below: $0, path: path) }
  }

  private static func bash(_ script: String, _ group: Group) -> String {
    let head = "\n\(group.function)() {\n"
    return script.replacing(
      head,
      with: head + """
            case "${unparsed_words[0]}" in
            -*)
                "\(group.function)_\(group.command)"
                return
                ;;
            esac

        """)
  }

  private static func zsh(_ script: String, _ group: Group) -> String {
    let head = "\n\(group.function)() {\n"
    return script.replacing(
      head,
      with: head + """
            if [[ "${words[2]}" == -* ]]; then
                "\(group.function)_\(group.command)"
                return
            fi

        """)
  }

  private static func fish(_ script: String, _ group: Group) -> String {
    // The parser's script handles the words of a command below those of its parent commands.
    let indent = String(repeating: "    ", count: group.path.count)
    let head = "\n\(indent)case '\(group.path[group.path.count - 1])'\n"
    return script.replacing(
      head,
      with: head + """
        \(indent)    set -l word $unparsed_tokens[2]
        \(indent)    test (count $unparsed_tokens) -eq 1 && set word (commandline -ct)
        \(indent)    if string match -q -- '-*' "$word"
        \(indent)        set unparsed_tokens $unparsed_tokens[1] \(group.command) $unparsed_tokens[2..]
        \(indent)    end

        """)
  }
}
