import Foundation
import PushTesting
import Testing

@testable import GatewayClient
@testable import GatewayProtocol
@testable import HTTP2Transport
@testable import PushCore
@testable import PushGateway
@testable import PushStorage

/// The permissions to enroll devices for users.
@Suite(.timeLimit(.minutes(5))) struct EnrollmentTests {
  static let peers: [Connection.Peer] = [.adminSocket, .loopback, .remote]

  /// Returns the expected status if a peer enrolls a device for a user under a policy.
  static func expected(
    _ peer: Connection.Peer, _ policy: EnrollmentPolicy, person: String, invited: String?
  ) -> Int {
    if let invited, peer == .adminSocket || policy != .admin { return invited == person ? 201 : 403 }
    switch (peer, policy) {
    case (.adminSocket, _): return 201
    case (.loopback, .openOnLoopback): return person == "new" ? 201 : 403
    default: return 403
    }
  }

  @Test(arguments: peers, EnrollmentPolicy.allCases)
  func `a peer enrolls those whom it may`(_ peer: Connection.Peer, _ policy: EnrollmentPolicy) async throws {
    for person in ["new", "ada"] {
      for invited in [nil, "ada", "new"] as [String?] {
        try await TestGateway.run(options: ConnectionOptions(peer: peer), enrollment: policy) { gateway in
          _ = try await gateway.enroll("phone", person: "ada")
          var invitation = ""
          if let invited {
            let code = try await gateway.registrations.invite(
              InvitationTerms(person: invited, expires: gateway.clock.seconds + 60)
            ).secret
            invitation = #","invitation":"\#(code)""#
          }
          let body = #"{"name":"evil","person":"\#(person)"\#(invitation)}"#
          let answer = try await gateway.client().request("POST", "/v1/devices", body: Array(body.utf8))
          let expected = EnrollmentTests.expected(peer, policy, person: person, invited: invited)
          #expect(answer.status == expected, "\(person), invited: \(invited ?? "nobody")")
          let ada = try gateway.registrations.device(named: "phone").person
          #expect(gateway.registrations.devices(of: ada).count == (person == "ada" && expected == 201 ? 2 : 1))
        }
      }
    }
  }

  @Test func `a device that takes a person's name joins nobody`() async throws {
    try await TestGateway.run(options: ConnectionOptions(peer: .loopback)) { gateway in
      _ = try await gateway.enroll("phone", person: "ada")
      let client = try await gateway.client()
      #expect(try await client.request("POST", "/v1/devices", body: Array(#"{"name":"ada"}"#.utf8)).status == 403)
      #expect(try await client.request("POST", "/v1/devices", body: Array(#"{"name":"bob"}"#.utf8)).status == 201)
    }
  }

  @Test(arguments: ["", "a\u{1B}[0m", "a\nb", String(repeating: "x", count: 65)])
  func `a person's name fits on a line`(_ name: String) async throws {
    try await TestGateway.run { gateway in
      let body = try JSONEncoder().encode(["name": "phone", "person": name])
      let answer = try await gateway.client().request("POST", "/v1/devices", body: Array(body))
      #expect(answer.status == 400)
    }
  }

  @Test func `invitations are made, listed and taken back`() async throws {
    try await TestGateway.run { gateway in
      let client = try await gateway.client()
      func post(_ text: String) async throws -> Client.Answer {
        try await client.request("POST", "/admin/v1/invitations", body: Array(text.utf8))
      }
      let made = try JSONDecoder().decode(
        CreatedInvitation.self, from: Data(try await post(#"{"valid_seconds":60,"person":"ada","role":"reader"}"#).body)
      )
      #expect(made.person == "ada" && made.role == "reader" && made.expires == "2027-01-15T08:01:00.000Z")
      for wrong in [#"{"valid_seconds":60,"role":"provider"}"#, #"{"valid_seconds":60,"role":"king"}"#] {
        #expect(try await post(wrong).status == 400)
      }
      func listed() async throws -> [InvitationRecord] {
        let answer = try await client.request("GET", "/admin/v1/invitations")
        return try JSONDecoder().decode([InvitationRecord].self, from: Data(answer.body))
      }
      #expect(try await listed().map(\.id) == [made.id])
      #expect(try await client.request("DELETE", "/admin/v1/invitations/" + made.id).status == 204)
      #expect(try await client.request("DELETE", "/admin/v1/invitations/" + made.id).status == 404)
      #expect(try await listed().isEmpty)
    }
  }
}

/// Guessed invitation codes.
extension EnrollmentTests {
  private func invite(_ client: Client) async throws -> CreatedInvitation {
    let body = Array(#"{"valid_seconds":600,"person":"ada","role":"reader"}"#.utf8)
    let answer = try await client.request("POST", "/admin/v1/invitations", body: body)
    return try JSONDecoder().decode(CreatedInvitation.self, from: Data(answer.body))
  }

  private func join(_ client: Client, _ code: String, as name: String = "laptop") async throws -> Client.Answer {
    try await client.request("POST", "/v1/devices", body: Array(#"{"name":"\#(name)","invitation":"\#(code)"}"#.utf8))
  }

  @Test func `a code names the authority, and its device the person and the role`() async throws {
    try await TestGateway.run { gateway in
      let client = try await gateway.client()
      let made = try await invite(client)
      #expect(InvitationCode(made.code)?.authority == TestGateway.authority)
      let answer = try await join(client, made.code.lowercased().replacingOccurrences(of: "-", with: " "))
      let device = try JSONDecoder().decode(Enrolled.self, from: Data(answer.body))
      #expect(answer.status == 201 && device.person == "ada" && device.role == "reader" && device.name == "laptop")
      #expect(try await join(client, made.code, as: "other").status == 403)
      let trail = try await gateway.parts.audit.records(before: nil, limit: 10)
      #expect(!trail.map(\.body).contains { $0.contains(made.code) })
    }
  }

  @Test func `five wrong codes from one place are all that are looked at`() async throws {
    try await TestGateway.run(options: ConnectionOptions(peer: .remote), enrollment: .invitation) { gateway in
      let client = try await gateway.client()
      let terms = InvitationTerms(expires: gateway.clock.seconds + 600)
      let right = InvitationCode(
        authority: TestGateway.authority, secret: try await gateway.registrations.invite(terms).secret)
      for _ in 0..<Limits.wrongInvitations.burst {
        let wrong = InvitationCode(authority: TestGateway.authority, secret: InvitationCode.newSecret(.once))
        #expect(try await join(client, wrong.description).status == 403)
      }
      #expect(try await join(client, right.description).status == 429)
      gateway.clock.advance(seconds: Int64(Limits.wrongInvitations.seconds))
      #expect(try await join(client, right.description).status == 201)
      let trail = try await gateway.parts.audit.records(before: nil, limit: 10)
      #expect(trail.map(\.who) == ["an invitation"] && trail.map(\.body) == [#"{"name":"laptop","person":"laptop"}"#])
    }
  }

  @Test func `the use of a code is in the audit trail after a failed write, too`() async throws {
    try await TestGateway.run(options: ConnectionOptions(peer: .remote), enrollment: .invitation) { gateway in
      let (client, path) = (try await gateway.client(), gateway.folder.file("push.sqlite"))
      let terms = InvitationTerms(expires: gateway.clock.seconds + 600)
      let code = InvitationCode(
        authority: TestGateway.authority, secret: try await gateway.registrations.invite(terms).secret)
      try await RefusedWrites.begin("audit", in: path)
      #expect(try await join(client, code.description).status == 201)
      #expect(try await gateway.parts.audit.records(before: nil, limit: 10).isEmpty)
      try await RefusedWrites.end("audit", in: path)
      await gateway.parts.maintain()
      let trail = try await gateway.parts.audit.records(before: nil, limit: 10)
      #expect(trail.map(\.who) == ["an invitation"] && trail.map(\.status) == [201])
    }
  }

  @Test func `the status of an administrator's request is in the audit trail after a failed write, too`() async throws {
    try await TestGateway.run { gateway in
      let (client, path) = (try await gateway.client(), gateway.folder.file("push.sqlite"))
      try await RefusedWrites.begin("audit", "UPDATE", in: path)
      _ = try await invite(client)
      try await RefusedWrites.end("audit", in: path)
      await gateway.parts.maintain()
      #expect(try await gateway.parts.audit.records(before: nil, limit: 10).map(\.status) == [201])
    }
  }
}
