import HTTP2Transport
import PushCore
import PushStorage

/// The test API: a table of routes, from which the router and the OpenAPI document are made.
struct TestAPI: Sendable {
  let devices: TestDevicesAPI
  let pushes: TestPushesAPI
  let tests: TestListAPI
  let control: TestControlAPI
  let options: TestOptions

  /// The routes for the routers of HTTP/1.1 and HTTP/2.
  var routes: [Router.Route] {
    let allowsOtherHosts = options.allowsOtherHosts
    return table.map { route in
      Router.Route(route.method, route.path, isWaiting: route.isWaiting) { request in
        try TestAPI.admit(request, allowsOtherHosts: allowsOtherHosts)
        try route.check(request.query)
        return try await route.serve(request)
      }
    }
  }

  /// Refuses requests of web pages, and unless other hosts are allowed, of other machines and for other host names.
  static func admit(_ request: ControlRequest, allowsOtherHosts: Bool) throws(Problem) {
    guard request.browser.origin == nil else {
      throw Problem(403, "Forbidden", "requests from web pages are refused: omit Origin")
    }
    let isLocal =
      switch request.peer {
      case .adminSocket: true
      // Over HTTP/1.1 a request for another host name counts as remote.
      case .loopback: request.browser.authority.map(BrowserFields.isLoopbackName) ?? true
      case .remote: false
      }
    guard allowsOtherHosts || isLocal else {
      throw Problem(
        403, "Forbidden", "the test API is limited to loopback names: use 127.0.0.1, or start with --test-listen")
    }
  }

  /// The table of routes.
  var table: [TestRoute] {
    let parts = [[statusRoute], devices.routes, pushes.routes, tests.routes, control.routes, [documentRoute]]
    return parts.flatMap(\.self)
  }

  private var statusRoute: TestRoute {
    TestRoute(
      method: "GET", path: TestRoute.prefix, summary: "The gateway and its clock",
      answers: [.init(status: 200, description: "the gateway", schema: OpenAPI.reference("Status"))],
      serve: { _ in
        let (parts, recorder) = (control.parts, control.recorder)
        let (recorded, dropped) = recorder.counts
        return Response(
          [
            "mode": "test", "strict": .bool(options.isStrict), "version": .string(Version.text),
            "now": .timestamp(parts.clock.milliseconds()), "offset": .integer(Int(control.clock.offset)),
            "recorded": .integer(recorded), "dropped": .integer(dropped), "keep": .integer(recorder.keep),
            "devices": .integer(parts.registrations.devices.count),
          ] as JSONValue)
      })
  }

  private var documentRoute: TestRoute {
    TestRoute(
      method: "GET", path: TestRoute.prefix + "/openapi.json", summary: "This API as an OpenAPI document",
      answers: [.init(status: 200, description: "the document", schema: ["type": "object"])],
      serve: { _ in Response(document) })
  }

  var document: JSONValue { OpenAPI.document(table, schemas: TestSchemas.all) }
}
