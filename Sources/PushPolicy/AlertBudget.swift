/// The maximum number of alerts an hour from an app, as the user's preference for the app (A8).
package enum AlertBudget: Sendable, Equatable {
  /// The limit if the user has no preference (N8): ``standardCount`` alerts. Time-sensitive alerts, critical alerts and
  /// questions are not counted.
  case standard
  /// A number of alerts, whatever their interruption level.
  case alerts(Int)
  /// Any number of alerts.
  case unlimited

  /// The default number of alerts an hour from an app.
  package static let standardCount = 20
}

extension AlertBudget: ExpressibleByIntegerLiteral {
  package init(integerLiteral count: Int) { self = .alerts(count) }
}

/// The JSON form is a number, or null for any number. The default has no form: it is omitted.
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
