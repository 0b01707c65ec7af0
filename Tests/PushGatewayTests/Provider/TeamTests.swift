import Foundation
import HTTP2Transport
import PushTesting
import Testing

@testable import GatewayClient
@testable import PushCore
@testable import PushGateway
@testable import PushStorage

/// An app belongs to one team: keys of other teams reach neither its devices nor its channels.
@Suite(.timeLimit(.minutes(5))) struct TeamTests {
  static let other = "OTHERTEAM1"

  /// Assigns the sample app to a team.
  func give(_ team: String?, in gateway: TestGateway) async throws {
    _ = try await gateway.registrations.putApp(
      topic: SampleRequest.topic, name: "News", icon: "N", policyMode: .enforce, isStrict: false, ads: .standard,
      team: team)
  }

  /// Returns the header field with a token of the other team's key.
  func authorization(_ gateway: TestGateway) throws -> (HeaderName, String) {
    try gateway.authorization { recipe in
      recipe.header = #"{"alg":"ES256","kid":"OTHERKEY01"}"#
      recipe.claims = recipe.claims.replacing(TestGateway.team, with: TeamTests.other)
    }
  }

  func addOther(to gateway: TestGateway) async throws {
    try await gateway.registrations.addTeam(TeamTests.other)
    try await gateway.registrations.addKey(
      ProviderKey(id: "OTHERKEY01", team: TeamTests.other, publicKey: gateway.key, environment: nil, topics: nil))
  }

  /// Returns the status and reason of a push.
  func push(
    _ gateway: TestGateway, _ client: Client, _ token: String, as authorization: (HeaderName, String),
    topic: String = SampleRequest.topic, payload: String = #"{"aps":{"badge":1}}"#
  ) async throws -> String {
    let answer = try await client.request(
      "POST", "/3/device/" + token, [authorization, (.apnsTopic, topic)], body: Array(payload.utf8))
    let body = (try? JSONSerialization.jsonObject(with: Data(answer.body))) as? [String: Any]
    return "\(answer.status) \(body?["reason"] as? String ?? "")"
  }

  @Test func `a key of another team is refused before anything else of the push is looked at`() async throws {
    try await TestGateway.run { gateway in
      try await addOther(to: gateway)
      try await give(TestGateway.team, in: gateway)
      let device = try await gateway.enroll()
      let (own, other) = (try gateway.authorization(), try authorization(gateway))
      let client = try await gateway.client()
      for topic in [SampleRequest.topic, SampleRequest.topic + ".voip"] {
        for token in [device.token, String(repeating: "0", count: 64), "xyz"] {
          for payload in [#"{"aps":{"badge":1}}"#, "nonsense", ""] {
            let outcome = try await push(gateway, client, token, as: other, topic: topic, payload: payload)
            #expect(outcome == "400 TopicDisallowed", "\(topic) \(token) \(payload)")
          }
        }
      }
      let second = try await gateway.client()
      #expect(try await push(gateway, second, device.token, as: own) == "200 ")
    }
  }

  @Test func `an app without a team is everybody's, and who gets it has it from the next push on`() async throws {
    try await TestGateway.run { gateway in
      try await addOther(to: gateway)
      let device = try await gateway.enroll()
      let (own, other) = (try gateway.authorization(), try authorization(gateway))
      let (one, two) = (try await gateway.client(), try await gateway.client())
      for (team, outcomes) in [
        (nil, ["200 ", "200 "]), (TestGateway.team, ["200 ", "400 TopicDisallowed"]),
        (TeamTests.other, ["400 TopicDisallowed", "200 "]),
      ] as [(String?, [String])] {
        try await give(team, in: gateway)
        #expect(try await push(gateway, one, device.token, as: own) == outcomes[0])
        #expect(try await push(gateway, two, device.token, as: other) == outcomes[1])
      }
    }
  }

  @Test func `a key of another team neither sends to channels nor manages them`() async throws {
    try await TestGateway.run { gateway in
      try await addOther(to: gateway)
      try await give(TestGateway.team, in: gateway)
      let app = try gateway.registrations.app(topic: SampleRequest.topic)
      let channel = try #require(
        try await gateway.parts.channels.create(
          app: app.id, environment: .development, policy: .mostRecentMessage, now: 0
        ).first)
      let client = try await gateway.client()
      let (other, id) = (try authorization(gateway), (HeaderName.apnsChannelID, channel.description))
      for (method, path) in [
        ("GET", "/1/apps/\(SampleRequest.topic)/all-channels"), ("GET", "/1/apps/\(SampleRequest.topic)/channels"),
        ("POST", "/1/apps/\(SampleRequest.topic)/channels"), ("DELETE", "/1/apps/\(SampleRequest.topic)/channels"),
        ("POST", "/4/broadcasts/apps/\(SampleRequest.topic)"),
      ] {
        let answer = try await client.request(method, path, [other, id], body: [])
        #expect(answer.status == 403, "\(method) \(path)")
        #expect(String(decoding: answer.body, as: UTF8.self).contains("TopicMismatch"), "\(method) \(path)")
      }
      #expect(gateway.parts.channels.channel(channel)?.deleted == nil)
    }
  }

  @Test func `a new app is the only team's, and needs a name of one where there are several`() async throws {
    try await TestGateway.run { gateway in
      let apps = gateway.parts.apps
      func add(_ topic: String, team: String? = nil) async throws -> String? {
        try await apps.put(
          topic: topic, name: "X", icon: nil, policyMode: nil, isStrict: nil, ads: nil, team: team
        ).team
      }
      #expect(try await add("a.one") == TestGateway.team)
      #expect(gateway.registrations.appsOfNoTeam.isEmpty)
      try await addOther(to: gateway)
      #expect(gateway.registrations.appsOfNoTeam.map(\.topic) == [SampleRequest.topic])
      let refusal = await #expect(throws: RegistrationRefusal.self) { _ = try await add("a.two") }
      #expect(refusal?.kind == .invalid)
      #expect(refusal?.description.contains("--team") == true)
      #expect(try await add("a.two", team: TeamTests.other) == TeamTests.other)
      // A field that is not given keeps its value.
      #expect(try await add("a.two") == TeamTests.other)
      #expect(try await add("a.one", team: TeamTests.other) == TeamTests.other)
      #expect(try await add(SampleRequest.topic) == nil)
      await #expect(throws: RegistrationRefusal.self) { _ = try await add("a.three", team: "NOSUCHTEAM") }
    }
  }
}
