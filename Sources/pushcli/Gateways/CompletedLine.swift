import ArgumentParser

/// A command line that is not complete yet.
struct CompletedLine: Sendable {
  let words: [String]
  /// The index of the word at the cursor.
  let index: Int

  /// Returns the value of an option in the other words.
  func value(_ option: String) -> String? {
    for (place, word) in words.enumerated() where place != index {
      if word == option, place + 1 < words.count, place + 1 != index { return words[place + 1] }
      if word.hasPrefix(option + "=") { return String(word.dropFirst(option.count + 1)) }
    }
    return nil
  }

  /// Completes the name of a gateway with the contexts of this machine.
  static let contexts = CompletionKind.custom { words, index, start in
    let line = CompletedLine(words: words, index: index)
    guard let folder = try? FolderOptions(state: line.value("--state")).folder else { return [] }
    let names = [GatewayContext.localName] + Contexts(folder).remote.map(\.name)
    return names.filter { $0.hasPrefix(start) }
  }
}
