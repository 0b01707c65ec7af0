import GatewayProtocol
import HTTP2Transport
import PushCore

/// The routes `/admin/v1/settings`, `/admin/v1/reload` and `/admin/v1/restart`.
struct ServiceAPI: Sendable {
  let settings: @Sendable () async -> SettingsRecord
  let reload: @Sendable () async throws -> ReloadRecord
  /// Checks that the next program can take over, like ``Reload/prepareRestart()``.
  let prepareRestart: @Sendable () async throws -> Void
  /// Requests a restart, like ``Supervisor/restart``.
  let restart: (@Sendable () -> Void)?

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
          try await prepareRestart()
        } catch {
          throw Problem(409, "Conflict", "restart refused, the running gateway is unchanged: \(error)")
        }
        restart()
        return Response(status: 202)
      },
    ]
  }
}
