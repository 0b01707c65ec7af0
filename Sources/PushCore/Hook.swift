/// The services with a webhook format that the gateway reads.
package enum HookKind: String, Sendable, Codable, CaseIterable {
  case alertmanager, grafana, github, gitlab, healthchecks
  /// Any JSON, read by the JSON pointers of ``Hook/fields``.
  case json

  /// True if the service signs its requests with the token, instead of sending it. The gateway needs the token itself
  /// to check a signature.
  package var isSigned: Bool { self == .github }
}

/// The form of the requests of a sender that is a webhook.
package struct Hook: Sendable, Codable, Equatable {
  package var kind: HookKind
  /// The JSON pointers (RFC 6901) to the fields of a message, by their names; nil except for ``HookKind/json``.
  package var fields: [String: String]?

  package init(_ kind: HookKind, fields: [String: String]? = nil) { (self.kind, self.fields) = (kind, fields) }
}
