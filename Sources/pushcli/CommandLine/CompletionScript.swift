import ArgumentParser

/// What a shell reads once to complete `pushcli`: the parser's own script, and what it leaves out.
///
/// A group such as `prefs` does what one of its commands does where none is named. The parser's script completes that
/// command's options only behind its name; here the shell takes an option behind the group for one of that command.
enum CompletionScript {
  /// The script that a line asks for, which has no other words; nil where it asks for something else, or for no shell that
  /// there is, which the parser then says.
  static func asked(_ words: [String], of root: any ParsableCommand.Type) -> String? {
    let option = "--generate-completion-script"
    let parts = words.count == 1 ? words[0].split(separator: "=", maxSplits: 1).map(String.init) : words
    guard parts.count == 2, parts[0] == option, let shell = CompletionShell(rawValue: parts[1]) else { return nil }
    return script(for: shell, of: root)
  }

  static func script(for shell: CompletionShell, of root: any ParsableCommand.Type) -> String {
    groups(below: root, path: []).reduce(root.completionScript(for: shell)) { script, group in
      switch shell {
      case .bash: bash(script, group)
      case .zsh: zsh(script, group)
      case .fish: fish(script, group)
      default: script
      }
    }
  }

  /// A group by the names that lead to it, and what is done where no command of it is named.
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
    // The words of a command are looked at below those of the ones that lead to it.
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
