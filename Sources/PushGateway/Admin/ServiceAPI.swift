import GatewayProtocol
import HTTP2Transport
import PushCore

/// The routes `/admin/v1/settings`, `/admin/v1/reload` and `/admin/v1/restart`.
struct ServiceAPI: Sendable {
  /// Returns the settings in effect.
  let settings: @Sendable () async -> SettingsRecord
  let reload: @Sendable () async throws -> ReloadRecord
  /// Restarts the gateway, like ``Supervisor/restart``.
  let restart: (@Sendable () async throws -> Void)?

  var routes: [Router.Route] {
    [
      .init("GET", .settings, .admin) { _ in Response(await settings()) },
      .init("POST", .reload, .operator) { _ in
        do {
          return Response(try await reload())
        } catch {
          throw Problem(409, "Conflict", "the settings are unchanged: \(error)")
        }
      },
      .init("POST", .restart, .operator) { _ in
        guard let restart else { throw Problem.notFound("restart is not available for this process") }
        do {
          try await restart()
        } catch {
          throw Problem(409, "Conflict", "restart refused, the running gateway is unchanged: \(error)")
        }
        return Response(status: 202)
      },
    ]
  }
}
