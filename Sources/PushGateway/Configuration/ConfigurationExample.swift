import Foundation

extension Configuration {
  /// Returns a `config.yaml` with every setting as a comment: its effect, its values, the time at which a change
  /// takes effect, and its default.
  ///
  /// Removing the `#` in front of a setting's line sets it to the default.
  ///
  /// - Parameter schema: the path or URL of ``schema``, for editors.
  package static func example(schema: String) -> String {
    let head = """
      # yaml-language-server: $schema=\(schema)

      # Settings of PushGateway, each with its default, or with an example where the default depends on the machine. Remove
      # the "#" before a name to set it.
      # Flags and variables (PUSHGATEWAY_...) override this file.
      # "pushcli config check FILE" reports errors; "pushcli admin reload" makes a running gateway read the file again.

      """
    return head + settings.map(\.example).joined()
  }

  /// The JSON Schema (draft 2020-12) of `config.yaml`, for editors.
  package static var schema: String {
    let encoder = JSONEncoder()
    encoder.outputFormatting = [.prettyPrinted, .sortedKeys, .withoutEscapingSlashes]
    // Strings, numbers and lists of them can always be encoded.
    return (try? encoder.encode(Schema(settings))).map { String(decoding: $0, as: UTF8.self) + "\n" } ?? ""
  }

  private struct Schema: Encodable {
    var schema = "https://json-schema.org/draft/2020-12/schema"
    var title = "Settings of PushGateway (config.yaml)"
    /// A file with only comments contains null.
    var type = ["object", "null"]
    var additionalProperties = false
    var properties: [String: Property]

    init(_ settings: [Setting<Configuration>]) {
      properties = Dictionary(uniqueKeysWithValues: settings.map { ($0.name, Property(setting: $0)) })
    }

    private enum CodingKeys: String, CodingKey {
      case schema = "$schema"
      case title, type, additionalProperties, properties
    }
  }

  private struct Property: Encodable {
    var setting: Setting<Configuration>

    private enum CodingKeys: String, CodingKey { case description }

    func encode(to encoder: any Encoder) throws {
      try setting.shape.encode(to: encoder)
      var container = encoder.container(keyedBy: CodingKeys.self)
      try container.encode(
        "\(setting.help) Expected: \(setting.expected). Default: \(setting.normal). \(setting.change.sentence)",
        forKey: .description)
    }
  }
}

extension SettingChange {
  /// The time at which a change takes effect, as a sentence for users.
  package var sentence: String {
    switch self {
    case .reload: "A change takes effect with `pushcli admin reload`."
    case .restart: "A change takes effect at the next start."
    }
  }
}

extension Setting {
  /// The lines of the setting in the example: its description as comments, and the setting itself, commented out.
  fileprivate var example: String {
    let about = [help, "Expected: \(expected).", change.sentence].flatMap { wrapped($0, to: 98) }
    if normal == text(.defaults) { return "\n" + comment(about) + "#\(name): \(normal)\n" }
    // A default that depends on the machine would be wrong: the example is generated on one machine and read on
    // another.
    let value = if case .number(let range) = shape { String(range.lowerBound) } else { text(.defaults) }
    return "\n" + comment(about + wrapped("Default: \(normal).", to: 98)) + "#\(name): \(value)\n"
  }
}

private func comment(_ lines: [String]) -> String { lines.map { "# \($0)\n" }.joined() }

/// Returns the words of a text in lines of at most `width` characters.
private func wrapped(_ text: String, to width: Int) -> [String] {
  text.split(separator: " ").reduce(into: []) { lines, word in
    if let line = lines.last, line.count + 1 + word.count <= width {
      lines[lines.count - 1] = "\(line) \(word)"
    } else {
      lines.append(String(word))
    }
  }
}
