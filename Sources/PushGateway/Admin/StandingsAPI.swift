import GatewayProtocol
import HTTP2Transport
import PushCore
import PushStorage

/// The routes `/admin/v1/ads/standing…`: the standing of apps with their recipients (N11).
struct StandingsAPI: Sendable {
  let registrations: any Registrations
  let standings: Standings
  let clock: WallClock

  var routes: [Router.Route] {
    [
      .init("GET", .standings, .reader) { request in
        let apps = try request.query["app"].map { [try registrations.app(topic: $0)] } ?? registrations.apps
        let page = try ListsAPI.page(request, apps, \.topic)
        return Response(rows: try await standings.records(of: page))
      },
      .init("POST", .standing, .admin, exempt),
    ]
  }

  /// Ends the measure of an app after an appeal.
  private func exempt(_ request: ControlRequest) async throws -> Response {
    let app = try registrations.app(topic: request.parameters[0])
    let body: AppealRequest = try request.decoded()
    let now = clock.seconds
    let until = body.until ?? now
    guard (now...now + Limits.maximumExemption).contains(until) else {
      throw Problem.badRequest("invalid end of the exemption: expected a time from now on, within 366 days")
    }
    try await standings.exempt(app, until: until)
    let present = try registrations.app(topic: app.topic)
    return Response(try await standings.records(of: [present])[0])
  }
}
