import HTTP2Transport
import PushCore
import PushStorage

/// The authorization for `/admin/v1/…`: the admin socket, and remote requests with sufficient credentials.
struct AdminAuthorizer: Sendable {
  let remote: RemoteAdministration
  let registrations: any Registrations
  let audit: AuditTrail
  let clock: WallClock

  /// True if administration from other machines is enabled.
  var isOpen: Bool { remote.isOn }

  /// Returns the administrator of a credential: of a token, or of a device, whose role may be insufficient for any
  /// route.
  func administrator(bearer: String?) -> Administrator? {
    guard isOpen, let bearer else { return nil }
    if bearer.hasPrefix(AdministratorTokenText.prefix) {
      return remote.tokens.find(bearer, now: clock.seconds).map {
        Administrator(role: $0.role, credential: .token($0.name))
      }
    }
    return registrations.device(secret: bearer).map {
      Administrator(role: $0.role, credential: .device($0.name))
    }
  }

  /// Returns the administrator of a session of the console; nil if the credential behind it is no longer valid. A session
  /// from the admin socket is valid on this machine, and on other machines while remote administration is enabled.
  func administrator(_ grant: ConsoleSessions.Grant, from peer: Connection.Peer) -> Administrator? {
    if grant.bearer != nil { return administrator(bearer: grant.bearer) }
    return peer == .loopback || isOpen ? grant.administrator : nil
  }

  /// Returns the response to an invalid credential from a source, which it also counts.
  func refusal(of source: UnauthenticatedConnections.Source) -> Problem {
    guard remote.countFailure(from: source, at: clock.milliseconds()) else {
      return .tooManyRequests("too many rejected credentials from this address: try again in a minute")
    }
    return AdminAuthorizer.unauthorized
  }

  static let closed = Problem(
    403, "Forbidden",
    "administration from other machines is disabled: set `remote_admin: on` on the gateway to enable it")

  static let unauthorized = Problem(
    401, "Unauthorized",
    "missing or rejected credentials: send `authorization: bearer TOKEN`; `pushcli admin tokens create NAME` creates a token"
  )

  static let ambiguous = Problem.badRequest("a header field of this request occurs twice: send each field once")

  /// Returns a route that serves only administrators with its role. Refused changes are recorded in the audit trail.
  func guarded(_ route: Router.Route) -> Router.Route {
    let least = route.role ?? .admin
    var guarded = route
    guarded.serve = { request in
      guard let administrator = request.administrator else { throw AdminAuthorizer.unauthorized }
      guard administrator.role.includes(least) else {
        if route.method != "GET" { try await note(request, by: administrator) }
        throw Problem(
          403, "Forbidden",
          "missing role: expected \(least.rawValue), these credentials have \(administrator.role.rawValue): "
            + "ask the gateway's administrator")
      }
      return try await route.serve(request)
    }
    return guarded
  }

  private func note(_ request: ControlRequest, by administrator: Administrator) async throws {
    let who = administrator.shown
    guard remote.keepsRefusal(of: who, at: clock.seconds) else { return }
    _ = try await audit.record(
      request.method, String(request.path.prefix(AdminAuthorizer.keptPathSize)), body: [], by: who,
      at: clock.milliseconds(), status: 403)
  }

  /// The maximum number of characters of the path of a refused request in the audit trail.
  private static let keptPathSize = 256
}
