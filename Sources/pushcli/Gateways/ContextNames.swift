import ArgumentParser

/// Completes the name of a gateway with the contexts of this machine.
enum ContextNames {
  static let completion = CompletionKind.custom { words, index, start in
    let line = CompletedLine(words: words, index: index)
    guard let folder = try? FolderOptions(state: line.value("--state")).folder else { return [] }
    let names = [GatewayContext.localName] + Contexts(folder).remote.map(\.name)
    return names.filter { $0.hasPrefix(start) }
  }
}
