import GatewayProtocol
import HTTP2Transport
import PushCore
import PushStorage

/// The routes `/admin/v1/tokens`: credentials for administration from other machines.
struct TokensAPI: Sendable {
  let remote: RemoteAdministration
  let clock: WallClock
  /// Returns the fingerprint of the CA that clients see, for new tokens; nil if it can't be read.
  let authority: @Sendable () -> String?

  var routes: [Router.Route] {
    [
      .init("GET", .tokens, .reader) { request in
        let tokens = remote.tokens.list.map(AdministratorTokenRecord.init)
        return Response(rows: try ListsAPI.page(request, tokens, \.name))
      },
      .init("POST", .tokens, .admin, create),
      .empty("DELETE", .token, .admin) { try await remote.tokens.remove($0.parameters[0]) },
    ]
  }

  private func create(_ request: ControlRequest) async throws -> Response {
    let body: AdministratorTokenRequest = try request.decoded()
    try Problem.check(
      body.days, 1...Limits.maximumAdministratorTokenDays, "validity of a token", of: "days (ten years)")
    guard let role = Role(rawValue: body.role) else {
      let roles = Role.administrators.map(\.rawValue).joined(separator: ", ")
      throw Problem.badRequest("unknown role \(body.role): expected one of \(roles)")
    }
    guard let fingerprint = authority() else { throw Problem.noFingerprint(for: "token") }
    let text = AdministratorTokenText.make(fingerprint: fingerprint)
    let token = AdministratorToken(
      name: body.name, role: role, created: clock.milliseconds(),
      expires: clock.seconds + Int64(body.days) * 86_400)
    try await remote.tokens.add(token, text: text)
    return Response(
      CreatedAdministratorToken(
        token: text, name: token.name, role: role.rawValue, expires: Timestamp.text(seconds: token.expires),
        isUsable: remote.isOn), status: 201)
  }
}

extension AdministratorTokenRecord {
  /// Creates the list entry of a token.
  init(_ token: AdministratorToken) {
    self.init(
      name: token.name, role: token.role.rawValue, created: Timestamp.text(seconds: token.created / 1000),
      expires: Timestamp.text(seconds: token.expires),
      lastUsed: token.lastUsed.map { Timestamp.text(seconds: $0) })
  }
}

/// An administrator's token as lists show it.
struct AdministratorTokenRecord: Codable, Sendable {
  var name: String
  var role: String
  /// The time at which it was created, RFC 3339, UTC.
  var created: String
  /// The time at which it expires, RFC 3339, UTC.
  var expires: String
  /// The hour of its last use, RFC 3339, UTC; nil: never.
  var lastUsed: String?

  enum CodingKeys: String, CodingKey {
    case name, role, created, expires
    case lastUsed = "last_used"
  }
}
