/// The form of a setting's value in `config.yaml`, for editors: JSON Schema, draft 2020-12.
indirect enum SettingShape: Sendable, Equatable {
  /// Any text.
  case text
  case number(ClosedRange<Int64>)
  case words([String])
  /// One text, or a list of texts.
  case list
  /// A form whose value may also be `none`.
  case orNone(SettingShape)
}

extension SettingShape: Encodable {
  private enum CodingKeys: String, CodingKey {
    case type, minimum, maximum
    case words = "enum"
    case alternatives = "anyOf"
    case items
    case constant = "const"
  }

  /// Encodes the form as keywords of JSON Schema.
  func encode(to encoder: any Encoder) throws {
    var container = encoder.container(keyedBy: CodingKeys.self)
    switch self {
    case .text: try container.encode("string", forKey: .type)
    case .number(let range):
      try container.encode("integer", forKey: .type)
      try container.encode(range.lowerBound, forKey: .minimum)
      try container.encode(range.upperBound, forKey: .maximum)
    case .words(let words): try container.encode(words, forKey: .words)
    case .list: try container.encode([Items.one, .several], forKey: .alternatives)
    // A text may have any value, including `none`.
    case .orNone(.text): try container.encode("string", forKey: .type)
    case .orNone(.words(let words)): try container.encode(words + ["none"], forKey: .words)
    case .orNone(let shape): try container.encode([shape, .words(["none"])], forKey: .alternatives)
    }
  }

  /// The two ways to write a list.
  private enum Items: Encodable {
    case one, several

    func encode(to encoder: any Encoder) throws {
      var container = encoder.container(keyedBy: CodingKeys.self)
      try container.encode(self == .one ? "string" : "array", forKey: .type)
      if self == .several { try container.encode(SettingShape.text, forKey: .items) }
    }
  }
}
