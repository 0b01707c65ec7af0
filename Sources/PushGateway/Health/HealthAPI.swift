import HTTP2Transport
import PushCore

/// The routes `/healthz`, `/readyz` and `/v1/health`: the liveness, readiness and health of the gateway, without
/// authentication.
struct HealthAPI: Sendable {
  let check: HealthCheck

  static let alivePath: StaticString = "/healthz"
  static let readyPath: StaticString = "/readyz"

  var routes: [Router.Route] {
    [
      .init("GET", "/healthz") { _ in
        await check.lifecycle.isAlive()
          ? Response(line: "ok") : Response(line: "an event loop does not answer: restart the gateway", status: 503)
      },
      .init("GET", "/readyz") { request in
        switch check.readiness {
        case .ready: Response(line: "ready")
        case .draining: Response(line: "draining: shutting down, not accepting pushes", status: 503)
        case .failing(let problem):
          Response(line: request.peer == .remote ? HealthProblem.unauthenticatedText : problem, status: 503)
        }
      },
      .init("GET", "/v1/health") { request in
        let health = check.health
        return (request.peer != .remote ? health : health.forRemoteClients).response
      },
    ]
  }
}

extension Response {
  /// Creates a response with one line of text.
  fileprivate init(line: String, status: Int = 200) {
    self.init(status: status, contentType: "text/plain; charset=utf-8", body: Array((line + "\n").utf8))
  }
}
