import ArgumentParser

/// The key that signs a push.
struct SigningOptions: ParsableArguments {
  @Option(help: "The .p8 key to sign with. (the development key)", completion: .file()) var key: String?
  @Option(help: "The key's id. (from the file's name, AuthKey_<KEYID>.p8)") var keyID: String?
  @Option(help: "The key's team. (the development key's)", completion: CompletionCandidates.teams) var team: String?

  /// True if any of the options is given.
  var isGiven: Bool { [key, keyID, team].contains { $0 != nil } }
}
