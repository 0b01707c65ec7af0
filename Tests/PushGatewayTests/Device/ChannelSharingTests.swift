import Foundation
import PushTesting
import Testing

@testable import GatewayClient
@testable import GatewayProtocol
@testable import HTTP2Transport
@testable import PushCore
@testable import PushGateway
@testable import PushStorage

/// A channel that several users read through one link.
@Suite(.timeLimit(.minutes(5))) struct ChannelSharingTests {
  /// Runs a test with a gateway that has a channel, and a client of the gateway.
  private func run(
    peer: Connection.Peer = .adminSocket, enrollment: EnrollmentPolicy = .openOnLoopback,
    _ body: (TestGateway, Client, ChannelID) async throws -> Void
  ) async throws {
    try await TestGateway.run(options: ConnectionOptions(peer: peer), enrollment: enrollment) { gateway in
      let app = try gateway.registrations.app(topic: SampleRequest.topic)
      let made = try await gateway.parts.channels.create(
        app: app.id, environment: .production, policy: .mostRecentMessage, now: gateway.parts.clock.milliseconds())
      try await body(gateway, try await gateway.client(), try #require(made.first))
    }
  }

  private func escaped(_ id: ChannelID) -> String {
    id.description.addingPercentEncoding(withAllowedCharacters: .alphanumerics) ?? ""
  }

  private func share(
    _ client: Client, _ channel: ChannelID, _ body: String = #"{"valid_seconds":600,"uses":3}"#
  ) async throws -> Client.Answer {
    try await client.request("POST", "/admin/v1/channels/\(escaped(channel))/shares", body: Array(body.utf8))
  }

  /// Creates the code of a link without the admin API.
  private func link(_ gateway: TestGateway, _ channel: ChannelID, uses: Int = 3) async throws -> String {
    let terms = InvitationTerms(expires: gateway.clock.seconds + 600, uses: uses, channel: channel)
    let secret = try await gateway.registrations.invite(terms).secret
    return InvitationCode(authority: TestGateway.authority, secret: secret).description
  }

  private func enroll(_ client: Client, _ code: String, as name: String) async throws -> Client.Answer {
    try await client.request("POST", "/v1/devices", body: Array(#"{"name":"\#(name)","invitation":"\#(code)"}"#.utf8))
  }

  private func join(_ client: Client, _ code: String, _ device: TestDevice) async throws -> Client.Answer {
    try await client.request(
      "POST", "/v1/device/channels", [device.authorization], body: Array(#"{"invitation":"\#(code)"}"#.utf8))
  }

  private func uses(_ gateway: TestGateway) async throws -> [Int] {
    try await gateway.registrations.invitations(now: gateway.clock.seconds).map(\.terms.uses)
  }

  private func decoded<Value: Decodable>(_ type: Value.Type, _ answer: Client.Answer) throws -> Value {
    try JSONDecoder().decode(type, from: Data(answer.body))
  }

  @Test func `a link is made, listed and taken back, and the audit trail has no code`() async throws {
    try await run { gateway, client, channel in
      let answer = try await share(client, channel)
      let made = try decoded(CreatedInvitation.self, answer)
      #expect(answer.status == 201 && made.uses == 3 && made.topic == SampleRequest.topic && made.role == "device")
      #expect(made.channel == channel.description && made.person == nil)
      #expect(try #require(InvitationCode(made.code)).isShared)
      // A code for a single use is also of the long kind, which can't be guessed.
      let single = try decoded(
        CreatedInvitation.self, try await share(client, channel, #"{"valid_seconds":600,"uses":1}"#))
      #expect(try #require(InvitationCode(single.code)).isShared)
      _ = try await client.request("POST", "/admin/v1/invitations", body: Array(#"{"valid_seconds":60}"#.utf8))
      for (path, count) in [("shares", 2), ("invitations", 3)] {
        let listed = try decoded([InvitationRecord].self, try await client.request("GET", "/admin/v1/\(path)"))
        #expect(listed.count == count && listed.contains { $0.id == made.id && $0.uses == 3 })
      }
      let audit = String(decoding: try await client.request("GET", "/admin/v1/audit").body, as: UTF8.self)
      #expect(audit.contains("/shares") && !audit.contains(made.code) && !audit.contains(String(made.code.suffix(8))))
      #expect(try await client.request("DELETE", "/admin/v1/shares/" + made.id).status == 204)
      #expect(try await client.request("DELETE", "/admin/v1/shares/" + made.id).status == 404)
      #expect(try await enroll(client, made.code, as: "ada").status == 403)
    }
  }

  @Test func `an invitation of somebody is no link to be taken back as one`() async throws {
    try await run { gateway, client, _ in
      let terms = InvitationTerms(expires: gateway.clock.seconds + 60)
      let (_, invitation) = try await gateway.registrations.invite(terms)
      #expect(try await client.request("DELETE", "/admin/v1/shares/" + invitation.id).status == 404)
      #expect(try await uses(gateway) == [1])
    }
  }

  @Test(arguments: [
    #"{"valid_seconds":0,"uses":3}"#, #"{"valid_seconds":31536001,"uses":3}"#, #"{"valid_seconds":60,"uses":0}"#,
    #"{"valid_seconds":60,"uses":1000001}"#, #"{"valid_seconds":9223372036854775807,"uses":9223372036854775807}"#,
    #"{"valid_seconds":-9223372036854775808,"uses":2}"#, "{}",
  ])
  func `a link has a time and a number of uses`(_ body: String) async throws {
    try await run { _, client, channel in
      let statuses = (
        try await share(client, channel, body).status, try await share(client, .random()).status
      )
      #expect(statuses == (400, 404))
    }
  }

  @Test func `who comes by a link is somebody new and reads the channel`() async throws {
    try await run(peer: .remote, enrollment: .invitation) { gateway, client, channel in
      let code = try await link(gateway, channel, uses: 2)
      for name in ["ada", "ben"] {
        let answer = try await enroll(client, code, as: name)
        let enrolled = try decoded(Enrolled.self, answer)
        #expect(answer.status == 201 && enrolled.person == name && enrolled.role == "device")
        #expect(
          enrolled.channel
            == JoinedChannel(
              id: channel.description, topic: SampleRequest.topic, environment: "production", isKnown: false))
        let device = try gateway.registrations.device(named: name)
        #expect(gateway.parts.channels.subscriptions(of: device.id).map(\.channel) == [channel])
        // In the channel's environment, independent of the environment of the listener.
        #expect(gateway.registrations.registrations(of: device.id).map(\.0.environment) == [.production])
      }
      #expect(try await enroll(client, code, as: "cleo").status == 403)
      #expect(gateway.registrations.devices.count == 2)
    }
  }

  @Test func `a name that is taken, and a person who is known, cost no use`() async throws {
    try await run(peer: .remote, enrollment: .invitation) { gateway, client, channel in
      _ = try await gateway.enroll("laptop")
      _ = try await gateway.enroll("phone", person: "ada")
      let code = try await link(gateway, channel)
      #expect(try await enroll(client, code, as: "laptop").status == 409)
      #expect(try await enroll(client, code, as: "ada").status == 403)
      #expect(try await uses(gateway) == [3] && gateway.registrations.devices.count == 2)
    }
  }

  @Test func `a device that is there reads the channel for one use, however often it asks`() async throws {
    try await run(peer: .remote) { gateway, client, channel in
      let (device, other) = (try await gateway.enroll("phone"), try await gateway.enroll("tablet"))
      let code = try await link(gateway, channel, uses: 3)
      for isKnown in [false, true, true] {
        let joined = try decoded(JoinedChannel.self, try await join(client, code, device))
        #expect(joined.isKnown == isKnown && joined.topic == SampleRequest.topic)
      }
      #expect(try await uses(gateway) == [2])
      #expect(try await join(client, code, other).status == 200)
      #expect(try await uses(gateway) == [1])
      #expect(gateway.parts.channels.channel(channel)?.subscriptions == 2)
      #expect(gateway.registrations.devices.count == 2)
    }
  }

  @Test func `what a crash left half done is done by the same link`() async throws {
    try await run(peer: .remote) { gateway, client, channel in
      let device = try await gateway.enroll("phone")
      let code = try await link(gateway, channel)
      // The device is registered, and has no subscription.
      _ = try await gateway.registrations.register(device.id, topic: SampleRequest.topic, environment: .production)
      #expect(try await join(client, code, device).status == 200)
      #expect(try await uses(gateway) == [2])
      #expect(gateway.parts.channels.subscriptions(of: device.id).map(\.channel) == [channel])
    }
  }

  @Test func `the last use is one device's, whoever is faster`() async throws {
    try await run(peer: .remote) { gateway, client, channel in
      var devices: [TestDevice] = []
      for number in 0..<8 { devices.append(try await gateway.enroll("phone-\(number)")) }
      let code = try await link(gateway, channel, uses: 1)
      let statuses = try await withThrowingTaskGroup(of: Int.self) { group in
        for device in devices { group.addTask { try await join(client, code, device).status } }
        return try await group.reduce(into: [Int]()) { $0.append($1) }
      }
      #expect(statuses.count { $0 == 200 } == 1)
      #expect(gateway.parts.channels.channel(channel)?.subscriptions == 1)
    }
  }

  @Test func `wrong codes of a device count against its address`() async throws {
    try await run(peer: .remote) { gateway, client, channel in
      let device = try await gateway.enroll("phone")
      let right = try await link(gateway, channel)
      // A short code is refused without a lookup, so that this route does not reveal which short codes exist.
      let short = try await gateway.registrations.invite(InvitationTerms(expires: gateway.clock.seconds + 60)).secret
      let kinds: [InvitationCode.Kind] = [.shared, .once, .shared, .shared]
      for secret in [short] + kinds.map(InvitationCode.newSecret) {
        let code = InvitationCode(authority: TestGateway.authority, secret: secret).description
        #expect(try await join(client, code, device).status == 403)
      }
      #expect(try await join(client, right, device).status == 429)
      #expect(try await uses(gateway).sorted() == [1, 3])
      gateway.clock.advance(seconds: Int64(Limits.wrongInvitations.seconds))
      #expect(try await join(client, right, device).status == 200)
    }
  }

  @Test func `the links of a channel go with it, and one that is left is refused`() async throws {
    try await run { gateway, client, channel in
      let (code, device) = (try await link(gateway, channel), try await gateway.enroll("phone"))
      // The same state results when a link is created while its channel is deleted.
      try await gateway.parts.channels.delete([channel], now: gateway.parts.clock.milliseconds())
      for answer in [try await enroll(client, code, as: "ada"), try await join(client, code, device)] {
        let problem = try decoded(ProblemRecord.self, answer)
        #expect(answer.status == 404 && problem.detail == "the channel of this link was deleted: ask for another link")
      }
      #expect(gateway.registrations.devices.count == 1)
      #expect(try await uses(gateway) == [3])
      #expect(try await share(client, channel).status == 404)
    }
    for isOff in [false, true] {
      try await run { gateway, client, channel in
        _ = try await link(gateway, channel)
        let (method, path, body) =
          isOff
          ? ("POST", "/admin/v1/channels/features", #"{"topic":"\#(SampleRequest.topic)","on":false}"#)
          : ("DELETE", "/admin/v1/channels/" + escaped(channel), "")
        #expect(try await client.request(method, path, body: Array(body.utf8)).status < 300)
        #expect(try await uses(gateway).isEmpty)
      }
    }
  }

  @Test func `who can't subscribe has not come`() async throws {
    try await run { gateway, _, channel in
      let (device, _) = try await gateway.registrations.enroll(name: "ada", person: nil)
      let gone = try #require(gateway.parts.channels.channel(channel))
      try await gateway.parts.channels.delete([channel], now: gateway.parts.clock.milliseconds())
      await #expect(throws: RegistrationRefusal.self) {
        try await gateway.parts.broadcasts.join(gone, enrolled: device)
      }
      #expect(gateway.registrations.devices.isEmpty && gateway.registrations.persons.isEmpty)
    }
  }
}
