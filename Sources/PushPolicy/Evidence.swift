/// The parts of a payload that a ``Violation`` quotes.
extension JSONElement {
  /// The value as short JSON: long strings end in `…`, arrays and objects are `[…]` and `{…}`.
  var evidence: String {
    switch kind {
    case .null: "null"
    case .bool: boolean == true ? "true" : "false"
    case .integer: integer.map(\.description) ?? unsignedInteger.map(\.description) ?? ""
    case .double: double.map(\.description) ?? ""
    case .string: (string ?? "").evidence
    case .array: "[…]"
    case .object: "{…}"
    }
  }
}

extension String {
  /// The maximum length of a text that evidence contains in full, in Unicode scalars.
  static let maximumEvidenceSize = 40

  /// The text as a short JSON string literal.
  var evidence: String { evidence(upTo: Self.maximumEvidenceSize) }

  /// Returns the text as a JSON string literal with at most `size` Unicode scalars.
  func evidence(upTo size: Int) -> String {
    let start = unicodeScalars.prefix(size)
    var literal: [UInt8] = []
    appendJSONString(start.endIndex == endIndex ? self : String(start) + "…", to: &literal)
    return String(decoding: literal, as: UTF8.self)
  }

  /// The key as a reference token of a JSON pointer (RFC 6901 §3): `~` is `~0` and `/` is `~1`.
  var pointerToken: String {
    var token = ""
    for scalar in unicodeScalars {
      switch scalar {
      case "~": token += "~0"
      case "/": token += "~1"
      default: token.unicodeScalars.append(scalar)
      }
    }
    return token
  }
}
