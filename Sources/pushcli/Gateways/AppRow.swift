import GatewayProtocol

/// An app as it is printed.
struct AppRow: Codable {
  var topic, name, icon, policyMode, ads: String
  var strict: Bool
  /// The team; nil if every team can push to the app.
  var team: String?
  enum CodingKeys: String, CodingKey {
    case topic, name, icon, strict, ads
    case policyMode = "policy_mode"
    case team = "team_id"
  }

  /// Returns the app with a topic; nil if the gateway does not have it.
  static func known(_ topic: String, _ admin: Admin) async throws -> AppRow? {
    let apps: [AppRow] = try await admin.get(AdminPath.apps() + "?filter=\(pathPart(topic))")
    return apps.first { $0.topic == topic }
  }

  /// Returns the app with a topic.
  ///
  /// - Throws: ``CommandFailure`` if the gateway does not have it.
  static func named(_ topic: String, _ admin: Admin) async throws -> AppRow {
    if let app = try await known(topic, admin) { return app }
    throw CommandFailure(.suppressed, "there is no app \(topic): `pushcli apps` shows them")
  }
}
