import HTTP2Transport
import PushCore
import PushStorage

/// Who is let in to `/admin/v1/…`: the admin socket, and from elsewhere whoever shows a credential that is good for it.
struct AdminAuthorizer: Sendable {
  let services: Services

  /// Whether anybody is let in who does not come by the admin socket.
  var isOpen: Bool { services.remote.isOn }

  /// Whose credential this is: of a token, or of a device, whose role may be too small for any of it.
  func administrator(bearer: String?) -> Administrator? {
    guard isOpen, let bearer else { return nil }
    if bearer.hasPrefix(AdministratorTokenText.prefix) {
      return services.remote.tokens.find(bearer, now: services.clock.seconds).map {
        Administrator(role: $0.role, credential: .token($0.name))
      }
    }
    return services.registrations.device(secret: bearer).map {
      Administrator(role: $0.role, credential: .device($0.name))
    }
  }

  /// What somebody is told whose credential is none.
  func refusal(of source: UnauthenticatedConnections.Source) -> Problem {
    guard services.remote.countFailure(from: source, at: services.clock.milliseconds()) else {
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

  /// A route that serves whoever has its role, and nobody else. That somebody tried to change something is written down.
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
    guard services.remote.keepsRefusal(of: who, at: services.clock.seconds) else { return }
    _ = try await services.audit.record(
      request.method, String(request.path.prefix(AdminAuthorizer.keptPathSize)), body: [], by: who,
      at: services.clock.milliseconds(), status: 403)
  }

  /// What is kept of the path of what was refused.
  private static let keptPathSize = 256
}
