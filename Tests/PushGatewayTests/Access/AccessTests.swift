import Foundation
import PushPolicy
import PushTesting
import Testing

@testable import GatewayClient
@testable import GatewayProtocol
@testable import HTTP2Transport
@testable import PushCore
@testable import PushGateway
@testable import PushStorage

/// The access rights: every route, requested with every credential.
///
/// The routes are those of the gateway, so a new route needs a row in docs/reference/access-table.md. The test repeats
/// the restrictions of each credential, so that a change of the page alone can't remove one.
@Suite(.timeLimit(.minutes(5))) struct AccessTests {
  /// The credential of a request.
  enum Credential: String, CaseIterable {
    case nothing
    /// A key of another team.
    case otherTeam = "other team's key"
    /// A key of the app's team, for another topic.
    case otherTopic = "key of another topic"
    case expired = "expired token"
    /// A key that was removed.
    case revokedKey = "removed key"
    case key
    case device
    /// A device that was removed.
    case revokedDevice = "removed device"
    case admin = "admin socket"
    case readerToken = "reader's token"
    case operatorToken = "operator's token"
    case adminToken = "admin's token"
    case operatorDevice = "operator's device"
    /// The cookie of the gateway's own page.
    case session = "page's session"
    /// The same cookie in a request of another page.
    case strangeSession = "session, other page"
    /// The cookie of the console, from a link of the admin socket.
    case console = "console's session"
    /// The same cookie in a request of another page.
    case strangeConsole = "console's session, other page"
    /// An admin's token on a gateway with `remote_admin` off.
    case off = "admin's token, remote_admin off"
  }

  /// A route, with the content of a request to it.
  struct Route {
    var method: String
    /// The path with its parameters as `{…}`.
    var pattern: String
    var path: String
    var fields: [(HeaderName, String)] = []
    var body = "{}"
    /// The required role.
    var role: Role?
    /// True if only the admin socket serves the route.
    var isForSocket = false
    /// True if only the console's session is answered.
    var isForConsole = false

    var name: String { "\(method) \(pattern)" }
  }

  /// Returns the routes of the provider API (docs/reference/provider-api.md, docs/send/broadcasts.md).
  static func providerRoutes(_ device: TestDevice, _ channel: ChannelID, _ other: ChannelID) -> [Route] {
    let topic = SampleRequest.topic
    let named: [(HeaderName, String)] = [(.apnsChannelID, channel.description)]
    func escaped(_ id: ChannelID) -> String {
      id.description.addingPercentEncoding(withAllowedCharacters: .alphanumerics) ?? ""
    }
    return [
      Route(
        method: "POST", pattern: "/3/device/{token}", path: "/3/device/" + device.token, fields: [(.apnsTopic, topic)],
        body: OwnershipTests.question, role: .provider),
      Route(
        method: "DELETE", pattern: "/v1/pushes/{token}/{id}", path: "/v1/pushes/\(device.token)/\(SampleRequest.id)",
        fields: [(.apnsTopic, topic)], role: .provider),
      // No credential of this table is that of a sender.
      Route(method: "POST", pattern: "/send/{name}", path: "/send/none", role: .sender),
      Route(method: "GET", pattern: "/beat/{name}", path: "/beat/none", role: .sender),
      Route(method: "POST", pattern: "/beat/{name}", path: "/beat/none", role: .sender),
      Route(method: "POST", pattern: "/ntfy/{topic}", path: "/ntfy/none", role: .sender),
      Route(method: "PUT", pattern: "/ntfy/{topic}", path: "/ntfy/none", role: .sender),
      Route(method: "POST", pattern: "/ntfy", path: "/ntfy", role: .sender),
      Route(method: "GET", pattern: "/ntfy/v1/account", path: "/ntfy/v1/account", role: .sender),
      Route(method: "POST", pattern: "/gotify/message", path: "/gotify/message", role: .sender),
      Route(method: "POST", pattern: "/hooks/{name}", path: "/hooks/none", role: .sender),
      Route(method: "POST", pattern: "/webpush/{id}", path: "/webpush/none", role: .sender),
      Route(
        method: "GET", pattern: "/webpush/{id}/{message}", path: "/webpush/none/\(SampleRequest.id)", role: .sender),
      Route(
        method: "DELETE", pattern: "/webpush/{id}/{message}", path: "/webpush/none/\(SampleRequest.id)", role: .sender),
      Route(
        method: "POST", pattern: "/4/broadcasts/apps/{topic}", path: "/4/broadcasts/apps/" + topic, fields: named,
        role: .provider),
      Route(
        method: "GET", pattern: "/1/apps/{topic}/all-channels", path: "/1/apps/\(topic)/all-channels", role: .provider),
      Route(method: "POST", pattern: "/1/apps/{topic}/channels", path: "/1/apps/\(topic)/channels", role: .provider),
      Route(
        method: "GET", pattern: "/1/apps/{topic}/channels", path: "/1/apps/\(topic)/channels", fields: named,
        role: .provider),
      Route(
        method: "GET", pattern: "/1/apps/{topic}/channels/{id}", path: "/1/apps/\(topic)/channels/\(escaped(channel))",
        role: .provider),
      Route(
        method: "DELETE", pattern: "/1/apps/{topic}/channels", path: "/1/apps/\(topic)/channels", fields: named,
        role: .provider),
      Route(
        method: "DELETE", pattern: "/1/apps/{topic}/channels/{id}",
        path: "/1/apps/\(topic)/channels/\(escaped(other))", role: .provider),
    ]
  }

  /// Returns the routes of a router, with parameters of objects that do not exist. An authorized request gets that
  /// answer.
  static func routes(_ router: Router, _ role: Role?) -> [Route] {
    router.routes.map { route in
      let pattern = "/" + route.pattern.joined(separator: "/")
      let path = route.pattern.map { $0.hasPrefix("{") ? "com.example.none" : String($0) }.joined(separator: "/")
      // A remote client can't enroll a device without an invitation.
      let special: [String: Role?] = ["POST /v1/devices": .admin]
      return Route(
        method: route.method, pattern: pattern, path: "/" + path,
        role: special["\(route.method) \(pattern)"] ?? role)
    }
  }

  /// The routes of the device in a browser. Only the gateway's own page may begin and end a session.
  static var webRoutes: [Route] {
    [
      Route(method: "GET", pattern: "/phone", path: "/phone"), Route(method: "GET", pattern: "/join", path: "/join"),
      Route(method: "GET", pattern: "/phone/{file}", path: "/phone/app.js"),
      Route(
        method: "POST", pattern: "/phone/session", path: "/phone/session",
        body: #"{"name":"browser","invitation":"CODE"}"#, role: .session),
      Route(method: "DELETE", pattern: "/phone/session", path: "/phone/session", role: .session),
    ]
  }

  /// The routes of the console, except the end of its session.
  static let consoleRoutes = [
    Route(method: "GET", pattern: "/console", path: "/console"),
    Route(method: "GET", pattern: "/console/{file}", path: "/console/app.js"),
    // The code is that of no link, which only the gateway's own pages learn.
    Route(
      method: "POST", pattern: "/console/session", path: "/console/session", body: #"{"code":"none"}"#, role: .session),
    Route(method: "GET", pattern: "/console/session", path: "/console/session", isForConsole: true),
  ]

  /// Returns the routes of the admin API. A route needs the role `admin` if it concerns credentials or a path on the
  /// gateway's machine, as the settings do. Other changes need an operator, as do the texts of users' reports.
  static func adminRoutes(_ router: Router) -> [Route] {
    let credentials = [
      "/admin/v1/keys", "/admin/v1/keys/{id}", "/admin/v1/teams/{id}", "/admin/v1/apps/{topic}",
      "/admin/v1/devices/{name}", "/admin/v1/devices/{name}/secret",
      "/admin/v1/persons/{name}", "/admin/v1/groups/{name}", "/admin/v1/batches", "/admin/v1/batches/{name}",
      "/admin/v1/invitations",
      "/admin/v1/invitations/{id}", "/admin/v1/channels/{id}/shares", "/admin/v1/shares/{id}", "/admin/v1/tokens",
      "/admin/v1/tokens/{name}", "/admin/v1/senders", "/admin/v1/senders/{name}", "/admin/v1/senders/{name}/token",
      "/admin/v1/certificates",
      "/admin/v1/certificates/server", "/admin/v1/certificates/revocations", "/admin/v1/certificates/rollover",
      "/admin/v1/backup", "/admin/v1/event-targets", "/admin/v1/event-targets/{name}",
      "/admin/v1/event-targets/{name}/secret", "/admin/v1/event-targets/{name}/test",
      "/admin/v1/event-targets/{name}/resume", "/admin/v1/ads/standing/{topic}",
    ]
    let read: [String: Role] = [
      "GET /admin/v1/ads/reports": .operator, "GET /admin/v1/settings": .admin, "GET /admin/v1/event-targets": .admin,
      "POST /admin/v1/console/links": .reader,
    ]
    return routes(router, .admin).map { route in
      var route = route
      route.role =
        read[route.name]
        ?? (route.method == "GET" ? .reader : credentials.contains(route.pattern) ? .admin : .operator)
      route.isForSocket = route.pattern == "/metrics"
      return route
    }
  }

  /// Returns the outcome of a request in the notation of the page: yes if the request was authorized.
  static func outcome(_ answer: Client.Answer) -> String {
    struct Refusal: Decodable { var reason: String? }
    let reason = (try? decodeJSON(Refusal.self, from: answer.body))?.reason
    switch (answer.status, reason) {
    case (401, _), (403, nil): return "\(answer.status)"
    case (403, let reason?) where reason != "Forbidden": return "403 \(reason)"
    case (400, "TopicDisallowed"?), (404, "BadPath"?), (404, "UnknownEndpoint"?), (405, "MethodNotAllowed"?):
      return "\(answer.status) \(reason ?? "")"
    default: return "yes"
    }
  }

  /// Returns true if a credential has the role of a route.
  static func holds(_ credential: Credential, _ route: Route) -> Bool {
    if route.isForConsole { return credential == .console }
    return switch route.role {
    case nil: true
    case .provider: credential == .key
    case .sender: false
    case .device: credential == .device || credential == .operatorDevice || credential == .session
    case .session: credential == .session || credential == .console
    // A session of the console is for the admin API alone.
    default:
      credential == .admin
        || !route.isForSocket && administers(credential, route.role)
          && (credential != .console || route.path.hasPrefix("/admin/"))
    }
  }

  /// Returns true if a remote credential has an administrative role that includes `role`.
  static func administers(_ credential: Credential, _ role: Role?) -> Bool {
    switch credential {
    case .readerToken: role == .reader
    case .operatorToken, .operatorDevice: role == .reader || role == .operator
    case .adminToken, .console: true
    default: false
    }
  }

  @Test func `docs-access has a row for every route, and no credential opens more than its own`() async throws {
    try await TestGateway.run { gateway in
      let registrations = gateway.registrations
      let parts = gateway.parts
      try await TeamTests().addOther(to: gateway)
      try await TeamTests().give(TestGateway.team, in: gateway)
      try await gateway.addKey("TOPICKEY01", topics: ["com.example.mail"])
      try await gateway.addKey("REVOKED001")
      let (device, gone) = (try await gateway.enroll("mine"), try await gateway.enroll("gone"))
      // The end of its session ends its secret.
      let page = try await gateway.enroll("page")
      let app = try registrations.app(topic: SampleRequest.topic)
      let channels = try await parts.channels.create(
        2, app: app.id, environment: .development, policy: .mostRecentMessage, now: 0)
      func key(_ id: String, _ change: (inout TokenRecipe) -> Void = { _ in }) throws -> [(HeaderName, String)] {
        [
          try gateway.authorization { recipe in
            recipe.header = #"{"alg":"ES256","kid":"\#(id)"}"#
            change(&recipe)
          }
        ]
      }
      func token(_ name: String, _ role: Role) async throws -> (HeaderName, String) {
        let text = AdministratorTokenText.make(fingerprint: "0123456789ABCDEF")
        try await parts.remote.tokens.add(
          AdministratorToken(name: name, role: role, created: 0, expires: Limits.maximumTime), text: text)
        return (.authorization, "bearer " + text)
      }
      let web = WebSession(authority: TestGateway.authority)
      func session(_ site: String) -> [(HeaderName, String)] {
        let cookie = "other=1; \(web.name(BrowserFields()))=\(page.secret)"
        return [(.cookie, cookie), (.origin, "https://admin"), (.fetchSite, site)]
      }
      let socket = Administrator(role: .admin, credential: .socket(user: nil))
      let (remote, now) = (parts.remote.console, gateway.clock.seconds)
      let link = remote.link(for: .init(administrator: socket, bearer: nil), now: now).code
      let begun = try #require(remote.begin(link, now: now))
      let consoleName = WebSession.console(authority: TestGateway.authority).name(BrowserFields())
      func consoleSession(_ site: String) -> [(HeaderName, String)] {
        [(.cookie, "\(consoleName)=\(begun.secret)"), (.origin, "https://admin"), (.fetchSite, site)]
      }
      let code = try await registrations.invite(InvitationTerms(role: .operator, expires: .max)).secret
      let console = try await registrations.enroll(name: "console", person: nil, by: .invitation(code, now: 1))
      let shown: [Credential: [(HeaderName, String)]] = [
        .nothing: [], .otherTeam: [try TeamTests().authorization(gateway)], .otherTopic: try key("TOPICKEY01"),
        .expired: try key("ABC123DEFG") { $0.claims = #"{"iss":"\#(TestGateway.team)","iat":1000000000}"# },
        .revokedKey: try key("REVOKED001"), .key: try key("ABC123DEFG"), .device: [device.authorization],
        .revokedDevice: [gone.authorization], .admin: [], .readerToken: [try await token("reader", .reader)],
        .operatorToken: [try await token("operator", .operator)], .adminToken: [try await token("admin", .admin)],
        .operatorDevice: [(.authorization, "bearer " + console.secret)],
        .session: session("same-origin"), .strangeSession: session("same-site"),
        .console: consoleSession("same-origin"), .strangeConsole: consoleSession("same-site"),
        .off: [try await token("off", .admin)],
      ]
      try await registrations.removeKey("REVOKED001")
      _ = try await registrations.remove(gone.id, now: 1)

      // The same gateway on a socket for remote clients.
      let path = gateway.folder.file("outside")
      let outside = try await Listener.listen(
        on: .unix(path: path), tls: nil, options: ConnectionOptions(peer: .remote), loops: gateway.loops)
      let stream = ["POST", "GET"].map { method in
        Route(
          method: method, pattern: "\(Paths.deviceStream)", path: "\(Paths.deviceStream)", body: "", role: Role.device)
      }
      let routes =
        AccessTests.providerRoutes(device, channels[0], channels[1])
        // Health routes need no credential.
        + AccessTests.routes(Router(HealthAPI(check: parts.healthCheck).routes), nil)
        + AccessTests.routes(Router(gateway.admin.publicRoutes), nil)
        + AccessTests.routes(DeviceAPI(parts).router, .device) + stream + AccessTests.webRoutes
        + AccessTests.consoleRoutes + AccessTests.adminRoutes(gateway.admin.router)
        + [Route(method: "DELETE", pattern: "/console/session", path: "/console/session", role: .session)]
      var rows: [String] = []
      for route in routes {
        var cells: [String] = []
        for credential in Credential.allCases {
          let outcome: String
          parts.remote.set(isOn: credential != .off)
          if route.role == .device, AccessTests.holds(credential, route), route.path == "\(Paths.deviceStream)" {
            // The answer of this route does not end.
            let client = try await Client.connect(to: .admin(path: path))
            _ = try await client.stream(route.method, route.path, shown[credential] ?? [])
            client.close()
            outcome = "yes"
          } else {
            let client = try await Client.connect(to: credential == .admin ? gateway.endpoint : .admin(path: path))
            var body = route.method == "GET" ? "" : route.body
            if body.contains("CODE") {
              // Each credential enrolls a device of its own.
              body = body.replacing("CODE", with: try await registrations.invite(InvitationTerms(expires: .max)).secret)
                .replacing("browser", with: "browser-\(cells.count)")
            }
            let answer = try await client.request(
              route.method, route.path, (shown[credential] ?? []) + route.fields, body: Array(body.utf8))
            client.close()
            outcome = AccessTests.outcome(answer)
          }
          #expect(
            (outcome == "yes") == AccessTests.holds(credential, route), "\(route.name), \(credential): \(outcome)")
          cells.append(outcome)
        }
        rows.append("| `\(route.name)` | \(cells.joined(separator: " | ")) |")
      }
      await outside.close()
      let header = "| route | \(Credential.allCases.map(\.rawValue).joined(separator: " | ")) |"
      try DocumentedTable(page: "reference/access-table.md", header: header).expect(rows)
    }
  }
}
