import PushCore

/// The names of all settings, in a file and as variables, with messages about unknown names.
struct SettingNames {
  /// The names in `config.yaml`, in the order of listings.
  let names: [String]
  let variables: [String]

  /// Checks that all names in a file are settings.
  ///
  /// - Throws: ``ConfigurationError`` for the first unknown name, with its line.
  func refuseUnknown(in file: ConfigurationFile) throws(ConfigurationError) {
    for (name, entry) in file.entries.sorted(by: { $0.value.line < $1.value.line }) {
      guard let unknown = unknown(name) else { continue }
      throw ConfigurationError(description: "unknown setting \(name) (\(file.path), line \(entry.line)): \(unknown)")
    }
  }

  /// Returns a message about an unknown name; nil for the name of a setting.
  func unknown(_ name: String) -> String? {
    if names.contains(name) { return nil }
    if let near = Suggestions.nearest(to: name.replacing("-", with: "_"), among: names) {
      return "did you mean \(near)?"
    }
    return "expected one of \(names.joined(separator: ", "))"
  }

  /// Returns warnings about variables with the prefix of settings that set nothing: one line each, without their
  /// values.
  func warnings(about environment: [String: String]) -> [String] {
    let known = variables + ["PUSHGATEWAY_STATE"]
    let prefix = "PUSHGATEWAY_"
    let unknown = environment.keys.filter { $0.hasPrefix(prefix) && !known.contains($0) }.sorted()
    return unknown.prefix(SettingNames.maximumWarnings).map { name in
      // The common prefix is not part of the similarity.
      let near = Suggestions.nearest(
        to: String(name.dropFirst(prefix.count)), among: known.map { String($0.dropFirst(prefix.count)) }
      ).map { "did you mean \(prefix)\($0)?" }
      return "unknown variable \(name): \(near ?? "no setting has it, unset it")"
    }
  }

  private static let maximumWarnings = 20
}
