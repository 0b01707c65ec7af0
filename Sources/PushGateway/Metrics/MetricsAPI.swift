import GatewayProtocol
import HTTP2Transport
import PushCore

/// The route `/metrics`: all metrics, on the admin socket and over HTTP/1.1.
///
/// The route `/admin/v1/metrics/history` has the figures of the last hour, for the charts of the console.
struct MetricsAPI: Sendable {
  let meters: Meters
  let history = MetricsHistory()

  static let path: StaticString = "/metrics"

  /// The routes for the admin socket, and for administrators on other machines.
  var routes: [Router.Route] {
    let texts: [Router.Route] = ["\(MetricsAPI.path)", AdminPath.metrics.pattern].map { path in
      .init("GET", path, role: .reader) { MetricsAPI.response(to: $0, meters) }
    }
    return texts + [Router.Route("GET", .metricsHistory, .reader) { _ in Response(history.all) }]
  }

  /// Returns all metrics, in the format that the request names in `accept`.
  static func response(to request: ControlRequest, _ meters: Meters) -> Response {
    let format = MetricsFormat(accept: request.accept ?? "")
    return Response(status: 200, contentType: format.contentType, body: Array(meters.text(as: format).utf8))
  }
}
