import ArgumentParser

/// Completes the name of a gateway with the contexts of this machine.
enum ContextNames {
  static let completion = CompletionKind.custom { words, _, start in
    let state = words.firstIndex(of: "--state").flatMap { $0 + 1 < words.count ? words[$0 + 1] : nil }
    guard let folder = try? FolderOptions(state: state).folder else { return [] }
    let names = [GatewayContext.localName] + Contexts(folder).remote.map(\.name)
    return names.filter { $0.hasPrefix(start) }
  }
}
