import HTTP2Transport
import PushCore

/// `/metrics`: everything that is counted, on the admin socket and over HTTP/1.1.
struct MetricsAPI: Sendable {
  let meters: Meters

  static let path: StaticString = "/metrics"

  /// The routes of the admin socket: OpenMetrics, whoever asks.
  var routes: [Router.Route] {
    ["/metrics", "/admin/v1/metrics"].map { path in
      .init("GET", path, .reader) { _ in MetricsAPI.response(meters, as: .openMetrics) }
    }
  }

  static func response(_ meters: Meters, as format: MetricsFormat) -> Response {
    Response(status: 200, contentType: format.contentType, body: Array(meters.text(as: format).utf8))
  }
}
