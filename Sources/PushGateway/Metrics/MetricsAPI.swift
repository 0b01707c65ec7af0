import HTTP2Transport
import PushCore

/// `/metrics`: everything that is counted, on the admin socket and over HTTP/1.1.
struct MetricsAPI: Sendable {
  let meters: Meters

  static let path: StaticString = "/metrics"

  /// The routes of the admin socket, and of administrators elsewhere.
  var routes: [Router.Route] {
    ["/metrics", "/admin/v1/metrics"].map { path in
      .init("GET", path, .reader) { MetricsAPI.response(to: $0, meters) }
    }
  }

  /// All that is counted, in the format that the request names in `accept`.
  static func response(to request: ControlRequest, _ meters: Meters) -> Response {
    let format = MetricsFormat(accept: request.accept ?? "")
    return Response(status: 200, contentType: format.contentType, body: Array(meters.text(as: format).utf8))
  }
}
