import GatewayProtocol
import HTTP2Transport
import PushCore

/// The route for links that open the console.
struct ConsoleLinksAPI: Sendable {
  let remote: RemoteAdministration
  let clock: WallClock

  var routes: [Router.Route] {
    [
      .init("POST", .consoleLinks, .reader) { request in
        guard let administrator = request.administrator else { throw AdminAuthorizer.unauthorized }
        let bearer: String?
        if case .socket = administrator.credential { bearer = nil } else { bearer = request.bearer }
        let link = remote.console.link(for: .init(administrator: administrator, bearer: bearer), now: clock.seconds)
        let created = CreatedConsoleLink(
          code: link.code, role: administrator.role.rawValue, expires: Timestamp.text(seconds: link.expires))
        return Response(created, status: 201)
      }
    ]
  }
}
