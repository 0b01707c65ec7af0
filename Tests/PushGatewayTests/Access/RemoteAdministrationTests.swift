import Foundation
import Glibc
import PushTesting
import Testing

@testable import GatewayClient
@testable import GatewayProtocol
@testable import HTTP2Transport
@testable import PushCore
@testable import PushGateway
@testable import PushStorage

/// The admin API for clients that do not use the admin socket.
@Suite(.timeLimit(.minutes(5))) struct RemoteAdministrationTests {
  /// A gateway with a socket for remote clients.
  private struct Outside {
    let gateway: TestGateway
    let path: String

    /// Creates an administrator token and returns its header field.
    func token(_ name: String, _ role: Role, days: Int64 = 1) async throws -> (HeaderName, String) {
      let text = AdministratorTokenText.make(fingerprint: "0123456789ABCDEF")
      let clock = gateway.parts.clock
      try await gateway.parts.remote.tokens.add(
        AdministratorToken(
          name: name, role: role, created: clock.milliseconds(), expires: clock.seconds + days * 86_400), text: text)
      return (.authorization, "bearer " + text)
    }

    /// Enrolls a device with a role. Returns its header field.
    func device(_ name: String, _ role: Role) async throws -> (HeaderName, String) {
      let code = try await gateway.registrations.invite(InvitationTerms(role: role, expires: .max)).secret
      let enrolled = try await gateway.registrations.enroll(
        name: name, person: nil, by: .invitation(code, now: gateway.parts.clock.seconds))
      return (.authorization, "bearer " + enrolled.secret)
    }

    func client() async throws -> Client { try await Client.connect(to: .admin(path: path)) }

    func ask(
      _ method: String, _ path: String, _ fields: [(HeaderName, String)], body: String = ""
    ) async throws -> Client.Answer {
      let client = try await client()
      defer { client.close() }
      return try await client.request(method, path, fields, body: Array(body.utf8))
    }

    /// Returns the records of the audit trail. The test's own preparations are not recorded there.
    func trail() async throws -> [AuditTrail.Record] {
      try await gateway.parts.audit.records(before: nil, limit: 1000)
    }
  }

  private static func run(
    isOn: Bool = true, channelsOnly: Bool = false, _ body: (Outside) async throws -> Void
  ) async throws {
    try await TestGateway.run(enrollment: .invitation) { gateway in
      gateway.parts.remote.set(isOn: isOn)
      let path = gateway.folder.file("outside")
      var options = ConnectionOptions(peer: .remote)
      options.servesChannelsOnly = channelsOnly
      let listener = try await Listener.listen(
        on: .unix(path: path), tls: nil, options: options, loops: gateway.loops)
      do {
        try await body(Outside(gateway: gateway, path: path))
      } catch {
        await listener.close()
        throw error
      }
      await listener.close()
    }
  }

  private static func detail(_ answer: Client.Answer) throws -> String {
    try decodeJSON(ProblemRecord.self, from: answer.body).detail
  }

  @Test func `nobody is let in before the setting says so, and somebody at once when it does`() async throws {
    try await Self.run(isOn: false) { outside in
      let ada = try await outside.token("ada", .admin)
      for fields in [[], [ada]] {
        let answer = try await outside.ask("GET", "/admin/v1/status", fields)
        #expect(answer.status == 403)
        #expect(try Self.detail(answer).contains("remote_admin: on"))
      }
      outside.gateway.parts.remote.set(isOn: true)
      #expect(try await outside.ask("GET", "/admin/v1/status", [ada]).status == 200)
    }
  }

  @Test(
    arguments: [
      ("bearer TOKEN", 200), ("Bearer TOKEN", 200), ("BEARER TOKEN", 200), ("bearer  TOKEN", 401),
      ("bearer", 401), ("TOKEN", 401), ("basic TOKEN", 401), ("bearerTOKEN", 401),
      ("bearer token", 401),
      ("bearer TOKEN,TOKEN", 401), ("bearer\tTOKEN", 401),
    ])
  func `a credential is read as it is sent`(_ field: String, _ status: Int) async throws {
    try await Self.run { outside in
      let token = try await outside.token("ada", .reader).1.dropFirst(7)
      let text = field.replacing("TOKEN", with: token).replacing("token", with: token.lowercased())
      #expect(try await outside.ask("GET", "/admin/v1/status", [(.authorization, text)]).status == status)
    }
  }

  @Test func `of two credentials none is believed`() async throws {
    try await Self.run { outside in
      let (ada, eve) = (try await outside.token("ada", .admin), (HeaderName.authorization, "bearer pga-none"))
      for fields in [[ada, eve], [eve, ada], [ada, ada]] {
        #expect(try await outside.ask("GET", "/admin/v1/status", fields).status == 400)
      }
    }
  }

  @Test(
    arguments: [
      "//admin/v1/status", "/v1/../admin/v1/status", "/./admin/v1/status", "/%61dmin/v1/status", "/ADMIN/v1/status",
      "/admin/../v1/health", "/admin/%2e%2e/v1/health", "/admin%2Fv1/status", "/admin", "/admin/", "/admin/v1/st%61tus",
      "/healthz/../admin/v1/status", "/3/device/../../admin/v1/status",
    ])
  func `no other spelling of a path opens anything`(_ path: String) async throws {
    try await Self.run { outside in
      let ada = try await outside.token("ada", .admin)
      #expect(try await outside.ask("GET", path, []).status >= 400)
      #expect(try await outside.ask("GET", path, [ada]).status >= 400)
    }
  }

  @Test func `whose role is too small is told which it takes, and that it was tried is written down`() async throws {
    try await Self.run { outside in
      let body = #"{"valid_seconds":60,"role":"admin"}"#
      let who = [
        ("opa", try await outside.token("opa", .operator), "operator", "opa (token, operator)"),
        ("console", try await outside.device("console", .reader), "reader", "console (device, reader)"),
        ("phone", try await outside.device("phone", .device), "device", "phone (device, device)"),
      ]
      for (_, field, role, _) in who {
        let answer = try await outside.ask("POST", "/admin/v1/invitations", [field], body: body)
        #expect(answer.status == 403)
        let detail = try Self.detail(answer)
        #expect(detail.contains("expected admin") && detail.contains("credentials have \(role)"), "\(detail)")
      }
      for fields in [[], [(HeaderName.authorization, "bearer pga-none")]] {
        #expect(try await outside.ask("POST", "/admin/v1/invitations", fields, body: body).status == 401)
      }
      // Read requests are not recorded.
      #expect(try await outside.ask("GET", "/admin/v1/ads/reports", [who[1].1]).status == 403)
      let trail = try await outside.trail()
      #expect(trail.map(\.who) == who.map(\.3))
      #expect(trail.allSatisfy { $0.status == 403 && $0.path == "/admin/v1/invitations" && $0.body.isEmpty })
      #expect(try await outside.gateway.registrations.invitations(now: 0).isEmpty)
    }
  }

  @Test func `who is refused again and again does not fill the trail`() async throws {
    try await Self.run { outside in
      let client = try await outside.client()
      defer { client.close() }
      let reader = try await outside.token("ada", .reader)
      func refused(_ count: Int) async throws -> Int {
        for _ in 0..<count { #expect(try await client.request("POST", "/admin/v1/compact", [reader]).status == 403) }
        return try await outside.trail().count
      }
      #expect(try await refused(Limits.maximumAuditedRefusals + 5) == Limits.maximumAuditedRefusals)
      outside.gateway.clock.advance(seconds: 3600)
      #expect(try await refused(1) == Limits.maximumAuditedRefusals + 1)
    }
  }

  @Test func `a token that was removed, or is over, is refused on a connection that is open`() async throws {
    try await Self.run { outside in
      let client = try await outside.client()
      defer { client.close() }
      func status(_ field: (HeaderName, String)) async throws -> Int {
        try await client.request("GET", "/admin/v1/status", [field]).status
      }
      let (ada, bob) = (try await outside.token("ada", .admin), try await outside.token("bob", .admin))
      #expect(try await status(ada) == 200)
      #expect(try await client.request("DELETE", "/admin/v1/tokens/ada", [bob]).status == 204)
      #expect(try await status(ada) == 401)
      #expect(try await status(bob) == 200)
      outside.gateway.clock.advance(seconds: 86_400)
      #expect(try await status(bob) == 401)
      let device = try await outside.device("console", .reader)
      #expect(try await status(device) == 200)
      let id = try outside.gateway.registrations.device(named: "console").id
      _ = try await outside.gateway.registrations.remove(id, now: 1)
      #expect(try await status(device) == 401)
    }
  }

  @Test func `HEAD takes the role of GET and has no body`() async throws {
    try await Self.run { outside in
      let ada = try await outside.token("ada", .reader)
      #expect(try await outside.ask("HEAD", "/admin/v1/status", []).status == 401)
      #expect(try await outside.ask("HEAD", "/admin/v1/ads/reports", [ada]).status == 403)
      let answer = try await outside.ask("HEAD", "/admin/v1/status", [ada])
      #expect(answer.status == 200 && answer.body.isEmpty)
    }
  }

  @Test func `a stranger's body is not kept, and an administrator's is bounded`() async throws {
    try await Self.run { outside in
      let large = String(repeating: "x", count: 200_000)
      #expect(try await outside.ask("POST", "/admin/v1/teams", [], body: large).status == 401)
      let phone = try await outside.device("phone", .device)
      #expect(try await outside.ask("POST", "/admin/v1/teams", [phone], body: large).status == 403)
      let ada = try await outside.token("ada", .operator)
      #expect(try await outside.ask("POST", "/admin/v1/teams", [ada], body: large).status == 400)
      let huge = String(repeating: "x", count: Limits.maximumControlBodySize + 1)
      #expect(try await outside.ask("POST", "/admin/v1/teams", [ada], body: huge).status == 413)
    }
  }

  @Test func `wrong credentials of an address are limited, and a right one is not`() async throws {
    try await Self.run { outside in
      let gate = outside.gateway.admin.gate
      let source = UnauthenticatedConnections.Source.network([10, 0, 0, 1])
      let statuses = (0...Limits.failedAuthentications.burst).map { _ in gate.refusal(of: source).status }
      #expect(statuses.dropLast().allSatisfy { $0 == 401 } && statuses.last == 429)
      #expect(gate.refusal(of: .network([10, 0, 0, 2])).status == 401)
      outside.gateway.clock.advance(seconds: 1)
      #expect(gate.refusal(of: source).status == 401)
    }
  }

  @Test func `an admin enrolls as the admin socket does, and nobody else`() async throws {
    try await Self.run { outside in
      _ = try await outside.gateway.registrations.enroll(name: "laptop", person: "ada")
      func enroll(_ name: String, _ fields: [(HeaderName, String)]) async throws -> Int {
        try await outside.ask("POST", "/v1/devices", fields, body: #"{"name":"\#(name)","person":"ada"}"#).status
      }
      let (opa, ada) = (try await outside.token("opa", .operator), try await outside.token("ada", .admin))
      for fields in [[], [opa], [(.authorization, "bearer pga-none")], [ada, opa]] {
        #expect(try await enroll("evil", fields) == 403)
      }
      #expect(try await enroll("phone", [ada]) == 201)
      #expect(try await enroll("phone", [ada]) == 409)
      #expect(try outside.gateway.registrations.device(named: "phone").role == .device)
      #expect(try await outside.trail().map(\.status) == [201, 409])
      #expect(try await outside.trail().map(\.who) == ["ada (token, admin)", "ada (token, admin)"])
      outside.gateway.parts.remote.set(isOn: false)
      #expect(try await enroll("tablet", [ada]) == 403)
    }
  }

  @Test func `the trail says who did it: the socket's user, a token, a device`() async throws {
    try await Self.run { outside in
      let inside = try await outside.gateway.client()
      defer { inside.close() }
      let body = Array(#"{"name":"ci","role":"operator","days":3}"#.utf8)
      let made = try await inside.request("POST", "/admin/v1/tokens", body: body)
      #expect(made.status == 201)
      let token = try decodeJSON(CreatedAdministratorToken.self, from: made.body)
      #expect(token.isUsable)
      #expect(token.token.hasPrefix("pga-\(TestGateway.authority)-"))
      let shown = (HeaderName.authorization, "bearer " + token.token)
      let team = #"{"team_id":"TEAM000009"}"#
      #expect(try await outside.ask("POST", "/admin/v1/teams", [shown], body: team).status == 201)
      let device = try await outside.device("console", .admin)
      #expect(try await outside.ask("DELETE", "/admin/v1/tokens/ci", [device]).status == 204)
      let trail = try await outside.trail()
      #expect(
        trail.map(\.who) == [ServiceUser.name(geteuid()), "ci (token, operator)", "console (device, admin)"])
      let secret = token.token.suffix(26)
      #expect(trail.allSatisfy { !$0.body.contains(secret) && !$0.path.contains(secret) })
      let listed = try await inside.request("GET", "/admin/v1/audit")
      #expect(
        try decodeJSON([AuditRecord].self, from: listed.body).last?.who == "console (device, admin)")
    }
  }

  @Test(arguments: [
    #"{"name":"a","role":"device","days":1}"#, #"{"name":"a","role":"root","days":1}"#,
    #"{"name":"a","role":"admin","days":0}"#, #"{"name":"a","role":"admin","days":3651}"#,
    #"{"name":"a\n","role":"admin","days":1}"#, #"{"name":"","role":"admin","days":1}"#,
  ])
  func `a token that can't be is refused`(_ body: String) async throws {
    try await Self.run { outside in
      let client = try await outside.gateway.client()
      defer { client.close() }
      #expect(try await client.request("POST", "/admin/v1/tokens", body: Array(body.utf8)).status == 400)
      #expect(outside.gateway.parts.remote.tokens.list.isEmpty)
    }
  }

  @Test func `a reader waits for the log as the admin socket does`() async throws {
    try await Self.run { outside in
      let ada = try await outside.token("ada", .reader)
      let device = try await outside.gateway.enroll()
      async let answer = outside.ask("GET", "/admin/v1/log/next?after=0&seconds=60", [ada])
      let provider = try await outside.gateway.client()
      defer { provider.close() }
      #expect(try await outside.gateway.push(provider, to: device.token).status == 200)
      let page = try decodeJSON(LogPage.self, from: try await answer.body)
      #expect(!page.rows.isEmpty)
    }
  }

  @Test func `a listener for channels alone has no admin API`() async throws {
    try await Self.run(channelsOnly: true) { outside in
      let ada = try await outside.token("ada", .admin)
      #expect(try await outside.ask("GET", "/admin/v1/status", [ada]).status == 404)
      #expect(try await outside.ask("POST", "/admin/v1/teams", [ada], body: "{}").status == 404)
    }
  }

  @Test func `every route of the admin API names a role`() async throws {
    try await Self.run { outside in
      for route in outside.gateway.admin.router.routes {
        #expect(route.role.map(Role.administrators.contains) == true, "\(route.method) \(route.pattern)")
      }
    }
  }
}
