import GatewayClient
import HTTP2Transport
import PushPolicy
import PushTesting
import Testing

@testable import GatewayProtocol
@testable import PushCore
@testable import PushGateway
@testable import PushStorage

/// Pushes for device tokens that a gateway does not know, and that it forwards to another gateway.
@Suite(.timeLimit(.minutes(5))) struct ForwardingTests {
  private static let keyID = "BBB123DEFG"

  /// Runs a test with a gateway, its upstream, and the fields of a sender whose key only the upstream has.
  private func run(
    environment: Environment = .development, options: ConnectionOptions = ConnectionOptions(),
    _ body: (_ gateway: TestGateway, _ upstream: TestGateway, _ fields: [(HeaderName, String)]) async throws -> Void
  ) async throws {
    try await TestGateway.run(environment: environment) { upstream in
      try await upstream.addKey(Self.keyID)
      let authorization = try upstream.authorization { $0.header = #"{"alg":"ES256","kid":"\#(Self.keyID)"}"# }
      try await TestGateway.run(environment: environment, options: options, upstream: upstream) { gateway in
        try await body(gateway, upstream, [authorization, (.apnsTopic, SampleRequest.topic)])
      }
    }
  }

  private func send(
    _ client: Client, _ token: String, _ fields: [(HeaderName, String)], payload: String = #"{"aps":{"alert":"hello"}}"#
  ) async throws -> Client.Answer {
    try await client.request("POST", "/3/device/" + token, fields, body: Array(payload.utf8))
  }

  private func text(_ answer: Client.Answer) -> String { String(decoding: answer.body, as: UTF8.self) }

  /// Sends a push, and returns the body of its answer.
  private func reply(
    _ client: Client, _ token: String, _ fields: [(HeaderName, String)], payload: String = #"{"aps":{"alert":"hello"}}"#
  ) async throws -> String {
    text(try await send(client, token, fields, payload: payload))
  }

  @Test func `a push for a device of the upstream is delivered there, and both logs have it`() async throws {
    try await run { gateway, upstream, fields in
      let (client, device) = (try await gateway.client(), try await upstream.enroll())
      let answer = try await send(client, device.token, fields + [(.apnsID, SampleRequest.id)])
      #expect((answer.status, answer.apnsID) == (200, SampleRequest.id))
      #expect(answer.apnsUniqueID.flatMap { APNSID($0) } != nil)
      #expect(upstream.parts.mailbox.waitingCount(for: device.id) == 1)
      let id = try #require(APNSID(SampleRequest.id))
      #expect(try await upstream.events(of: id).first == .accepted)
      let rows = try await gateway.rows(.init(id: id))
      #expect(rows.map(\.row.event) == [.forwarded])
      #expect(
        rows.first?.row.detail
          == .forwarding(
            .init(
              upstream: TestGateway.upstreamName, status: 200, topic: SampleRequest.topic, keyID: Self.keyID,
              team: TestGateway.team)))
      let app = try gateway.registrations.app(topic: SampleRequest.topic)
      #expect(rows.first?.row.app == app.id)
    }
  }

  @Test func `every answer is that of the upstream`() async throws {
    try await run { gateway, upstream, fields in
      let (client, direct) = (try await gateway.client(), try await upstream.client())
      let (device, gone) = (try await upstream.enroll("here"), try await upstream.enroll("gone"))
      try await upstream.parts.devices.unregister(gone.id, topic: SampleRequest.topic)
      let unknown = String(repeating: "0", count: 64)
      let id: [(HeaderName, String)] = [(.apnsID, SampleRequest.id)]
      for token in [device.token, device.token.uppercased(), gone.token, unknown, unknown + "00"] {
        let answer = try await send(client, token, fields + id)
        let expected = try await send(direct, token, fields + id)
        #expect(answer.status == expected.status, "\(token)")
        #expect(answer.body == expected.body)
        #expect(answer.apnsID == expected.apnsID)
      }
      #expect(try await send(client, gone.token, fields).status == 410)
    }
  }

  @Test func `a sender whose key both gateways have is verified here, too`() async throws {
    try await run { gateway, upstream, fields in
      try await gateway.registrations.addKey(
        ProviderKey(id: Self.keyID, team: TestGateway.team, publicKey: upstream.key, environment: nil, topics: nil))
      let (client, device) = (try await gateway.client(), try await upstream.enroll())
      #expect(try await send(client, device.token, fields).status == 200)
      // A key of this gateway alone is verified here, and refused there.
      let own: [(HeaderName, String)] = [try gateway.authorization(), (.apnsTopic, SampleRequest.topic)]
      let answer = try await send(try await gateway.client(), device.token, own)
      #expect(text(answer) == #"{"reason":"InvalidProviderToken"}"#)
    }
  }

  @Test func `a device token of this gateway is never forwarded, also after its end`() async throws {
    try await run { gateway, upstream, fields in
      let (client, device, gone) = (
        try await gateway.client(), try await gateway.enroll("here"), try await gateway.enroll("gone")
      )
      try await gateway.parts.devices.unregister(gone.id, topic: SampleRequest.topic)
      #expect(try await reply(client, device.token, fields) == #"{"reason":"InvalidProviderToken"}"#)
      #expect(try await reply(client, gone.token, fields) == #"{"reason":"InvalidProviderToken"}"#)
      #expect(try await gateway.push(client, to: gone.token).status == 410)
      #expect(try await gateway.push(client, to: device.token).status == 200)
      #expect(try await upstream.rows(.init(limit: 10)).isEmpty)
    }
  }

  @Test func `the policy for senders applies before a push is forwarded`() async throws {
    try await run { gateway, upstream, fields in
      let (client, device) = (try await gateway.client(), try await upstream.enroll())
      let breach = try await send(client, device.token, fields, payload: #"{"aps":{"badge":"3"}}"#)
      #expect(text(breach).hasPrefix(#"{"reason":"Forbidden","policy":{"rule":""#))
      #expect(try await reply(client, device.token, fields, payload: "[]") == #"{"reason":"PayloadEmpty"}"#)
      let late = fields + [(HeaderName.apnsDeliverAt, String(gateway.clock.seconds + 60))]
      #expect(try await reply(client, device.token, late) == #"{"reason":"BadExpirationDate"}"#)
      #expect(try await reply(client, "abc", fields) == #"{"reason":"BadDeviceToken"}"#)
      #expect(try await upstream.rows(.init(limit: 10)).isEmpty)
    }
  }

  @Test func `a push that another gateway has forwarded is not forwarded again`() async throws {
    try await run { gateway, upstream, fields in
      let (client, device) = (try await gateway.client(), try await upstream.enroll())
      let answer = try await send(client, device.token, fields + [(.via, "2.0 pushgateway")])
      #expect(text(answer) == #"{"reason":"InternalServerError"}"#)
    }
  }

  @Test func `senders without a verified token have a limit, until the upstream accepts their token`() async throws {
    try await run(options: ConnectionOptions(peer: .remote)) { gateway, upstream, fields in
      let (client, device) = (try await gateway.client(), try await upstream.enroll())
      #expect(try await send(client, device.token, fields).status == 200)
      let forged = try gateway.authorization { $0.header = #"{"alg":"ES256","kid":"FFF123DEFG"}"# }
      let foreign: [(HeaderName, String)] = [forged, (.apnsTopic, SampleRequest.topic)]
      #expect(try await reply(client, device.token, foreign) == #"{"reason":"InvalidProviderToken"}"#)
      let (link, now) = (try #require(gateway.parts.upstream), gateway.clock.wallClock.milliseconds())
      let other = UnauthenticatedConnections.Source.network([10, 0, 0, 1])
      #expect((0..<1000).count { _ in link.allowsUnverified(from: other, at: now) } == Limits.unverifiedForwards.burst)
      // All senders on this machine share one limit.
      while link.allowsUnverified(from: .loopback, at: now) {}
      let excess = try await send(client, device.token, foreign)
      #expect(text(excess) == #"{"reason":"TooManyRequests"}"#)
      #expect(try await send(client, device.token, fields).status == 200, "the upstream has accepted this token")
    }
  }

  @Test func `an accepted token stays accepted after a refusal of a push, until the upstream refuses the token`()
    async throws
  {
    try await run { gateway, upstream, fields in
      let (client, device) = (try await gateway.client(), try await upstream.enroll())
      let vouched = try #require(gateway.parts.upstream).vouched
      let (token, now) = (Array(fields[0].1.utf8), gateway.clock.seconds)
      #expect(try await send(client, device.token, fields).status == 200)
      #expect(vouched.contains(token, at: now))
      // The recipient has not turned marketing on, which only the upstream can check.
      let refused = try await send(client, device.token, fields, payload: MarketingConsentTests.sale)
      #expect(text(refused).hasPrefix(#"{"reason":"Forbidden""#))
      #expect(vouched.contains(token, at: now))
      try await upstream.registrations.removeKey(Self.keyID)
      #expect(try await reply(client, device.token, fields) == #"{"reason":"InvalidProviderToken"}"#)
      #expect(!vouched.contains(token, at: now))
    }
  }

  @Test func `an accepted token that has expired is forgotten`() async throws {
    try await run { gateway, upstream, fields in
      let (client, device) = (try await gateway.client(), try await upstream.enroll())
      let vouched = try #require(gateway.parts.upstream).vouched
      let (token, now) = (Array(fields[0].1.utf8), gateway.clock.seconds)
      #expect(try await send(client, device.token, fields).status == 200)
      // The clock of the upstream only: its token expires there before the gateway forgets it.
      upstream.clock.advance(seconds: Int64(Limits.maximumTokenAge) * 2)
      #expect(try await reply(client, device.token, fields) == #"{"reason":"ExpiredProviderToken"}"#)
      #expect(!vouched.contains(token, at: now))
    }
  }

  @Test func `a malformed provider token is refused here`() async throws {
    try await run { gateway, upstream, fields in
      let (client, device) = (try await gateway.client(), try await upstream.enroll())
      for value in ["bearer a.b.c", "basic x", "bearer"] {
        let answer = try await send(client, device.token, [(.authorization, value), (.apnsTopic, SampleRequest.topic)])
        #expect(answer.status == 403)
      }
      let other = try upstream.authorization { $0.header = #"{"alg":"ES256","kid":"no key id"}"# }
      let answer = try await send(client, device.token, [other, (.apnsTopic, SampleRequest.topic)])
      #expect(text(answer) == #"{"reason":"InvalidProviderToken"}"#)
      #expect(try await upstream.rows(.init(limit: 10)).isEmpty)
    }
  }

  @Test func `an upstream that has stopped is a 503 with the time of the next attempt`() async throws {
    let upstream = try await TestGateway()
    try await TestGateway.run(upstream: upstream) { gateway in
      await upstream.stop()
      let client = try await gateway.client()
      let answer = try await gateway.push(client, to: String(repeating: "0", count: 64))
      #expect(text(answer) == #"{"reason":"ServiceUnavailable"}"#)
      #expect(answer.retryAfter == 1)
      #expect(gateway.parts.healthCheck.health.warnings?.map(\.part) == ["upstream"])
      #expect(gateway.parts.healthCheck.health.problems.isEmpty)
      #expect(gateway.parts.healthCheck.readiness == .ready)
    }
  }
}
