import PushCore

/// The names that settings have, in a file and as variables, and what to say of others.
struct SettingNames {
  /// As in `config.yaml`, in the order in which they are listed.
  let names: [String]
  let variables: [String]

  /// - Throws: ``ConfigurationError`` for the first name in a file that no setting has, with its line.
  func refuseUnknown(in file: ConfigurationFile) throws(ConfigurationError) {
    for (name, entry) in file.entries.sorted(by: { $0.value.line < $1.value.line }) {
      guard let unknown = unknown(name) else { continue }
      throw ConfigurationError(description: "unknown setting \(name) (\(file.path), line \(entry.line)): \(unknown)")
    }
  }

  /// What to say of a name that no setting has; nil of one that a setting has.
  func unknown(_ name: String) -> String? {
    if names.contains(name) { return nil }
    if let near = Suggestions.nearest(to: name.replacing("-", with: "_"), among: names) {
      return "did you mean \(near)?"
    }
    return "expected one of \(names.joined(separator: ", "))"
  }

  /// What to say of variables that begin as those of settings do, and set nothing: a line each, without their values.
  func warnings(about environment: [String: String]) -> [String] {
    let known = variables + ["PUSHGATEWAY_STATE"]
    let unknown = environment.keys.filter { $0.hasPrefix("PUSHGATEWAY_") && !known.contains($0) }.sorted()
    return unknown.prefix(SettingNames.maximumWarnings).map { name in
      let near = Suggestions.nearest(to: name, among: known).map { "did you mean \($0)?" }
      return "unknown variable \(name): \(near ?? "no setting has it, unset it")"
    }
  }

  private static let maximumWarnings = 20
}
