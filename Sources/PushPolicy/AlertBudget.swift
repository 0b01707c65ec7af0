/// How many alerts an app may show within an hour: a person's choice for the app (A8).
package enum AlertBudget: Sendable, Equatable {
  /// What holds for an app of which the person has chosen nothing (N8): ``standardCount``, besides what is time-sensitive
  /// or critical, or a question.
  case standard
  /// So many, whatever they call themselves.
  case alerts(Int)
  /// Any number.
  case unlimited

  /// Alerts an hour that an app may show by default.
  package static let standardCount = 20
}

extension AlertBudget: ExpressibleByIntegerLiteral {
  package init(integerLiteral count: Int) { self = .alerts(count) }
}

/// A number, or null for any number. The default has no form: it is left out.
extension AlertBudget: Codable {
  package init(from decoder: any Decoder) throws {
    let container = try decoder.singleValueContainer()
    self = container.decodeNil() ? .unlimited : .alerts(try container.decode(Int.self))
  }

  package func encode(to encoder: any Encoder) throws {
    var container = encoder.singleValueContainer()
    if case .alerts(let count) = self { try container.encode(count) } else { try container.encodeNil() }
  }
}
