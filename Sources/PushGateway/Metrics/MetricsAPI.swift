import HTTP2Transport

/// `/admin/v1/metrics`: everything that is counted, as OpenMetrics.
struct MetricsAPI: Sendable {
  let meters: Meters

  var routes: [Router.Route] {
    [
      .init("GET", "/admin/v1/metrics") { _ in
        Response(status: 200, contentType: OpenMetrics.contentType, body: Array(meters.text.utf8))
      }
    ]
  }
}
