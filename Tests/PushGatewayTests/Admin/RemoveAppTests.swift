import HTTP2Transport
import PushPolicy
import PushTesting
import Testing

@testable import GatewayClient
@testable import GatewayProtocol
@testable import PushCore
@testable import PushGateway
@testable import PushStorage

/// The removal of apps and teams.
@Suite(.timeLimit(.minutes(5))) struct RemoveAppTests {
  private static let topic = "com.example.trains"
  private static let path = "/admin/v1/apps/com.example.trains"

  private func addApp(_ gateway: TestGateway) async throws -> App {
    try await gateway.registrations.putApp(topic: Self.topic, name: "Trains", icon: "T", policyMode: .enforce)
  }

  private func detail(_ answer: Client.Answer) throws -> String {
    try decodeJSON(ProblemRecord.self, from: answer.body).detail
  }

  @Test func `an app without registrations goes at once`() async throws {
    try await TestGateway.run { gateway in
      let (client, app) = (try await gateway.client(), try await addApp(gateway))
      #expect(try await client.request("DELETE", Self.path).status == 204)
      #expect(gateway.registrations.app(app.id) == nil)
      #expect(try await client.request("DELETE", Self.path).status == 404)
    }
  }

  @Test func `an app with registrations is refused with what it has, and goes with all of it by force`() async throws {
    try await TestGateway.run { gateway in
      let (client, app) = (try await gateway.client(), try await addApp(gateway))
      let parts = gateway.parts
      let device = try await gateway.enroll()
      let token = try await gateway.registrations.register(
        device.id, topic: Self.topic, environment: .development
      ).token.hex
      let group = try await parts.groups.add("ops", [])
      let shared = try await parts.groups.register(group, app: app.id, environment: .development)
      _ = try await parts.channels.create(
        2, app: app.id, environment: .development, policy: .mostRecentMessage, now: 0)
      let trains: [(HeaderName, String)] = [try gateway.authorization(), (.apnsTopic, Self.topic)]
      func push(_ more: [(HeaderName, String)] = []) async throws -> Client.Answer {
        try await client.request("POST", "/3/device/" + token, trains + more, body: Array("{}".utf8))
      }
      #expect(try await push().status == 200)
      #expect(try await push([(.apnsDeliverAt, String(gateway.clock.seconds + 60))]).status == 200)
      #expect(try await gateway.push(client, to: device.token).status == 200)
      let person = try gateway.registrations.person(named: "laptop").id
      _ = try await parts.devices.changePreferences(
        of: person, assigning: ["badge=off"], app: Self.topic, category: nil, isByOwner: true)
      let refused = try await client.request("DELETE", Self.path)
      #expect(refused.status == 409)
      #expect(
        try detail(refused)
          == "com.example.trains has 2 registrations, 2 channels, 1 scheduled push: "
          + "`pushcli apps remove com.example.trains --yes` removes them, too")
      #expect(try await push().status == 200)
      #expect(try await client.request("DELETE", Self.path + "?force=true").status == 204)
      #expect(gateway.registrations.app(app.id) == nil)
      #expect(parts.schedule.pushes.count == 0 && parts.groups.registration(shared.token) == nil)
      #expect(parts.channels.channels(of: app.id, environment: .development).isEmpty)
      #expect(parts.channels.brokenInvariant() == nil)
      #expect(gateway.registrations.preferences(of: device.id).apps.isEmpty)
      let answer = try await push()
      #expect(String(decoding: answer.body, as: UTF8.self) == #"{"reason":"BadDeviceToken"}"#)
      // The pending push of another app stays.
      await parts.mailbox.settle()
      #expect(parts.mailbox.waitingCount(for: device.id) == 1)
      let again = try await addApp(gateway)
      #expect(again.id != app.id)
      #expect(try await client.request("DELETE", Self.path).status == 204)
    }
  }

  @Test func `a team is refused with its keys and apps, and goes when it has none`() async throws {
    try await TestGateway.run { gateway in
      let client = try await gateway.client()
      let path = "/admin/v1/teams/OTHER00001"
      try await gateway.registrations.addTeam("OTHER00001")
      for number in 0..<6 {
        _ = try await gateway.registrations.putApp(
          topic: "com.example.app\(number)", name: "App", icon: "A", policyMode: .enforce, isStrict: false,
          ads: .standard, team: "OTHER00001")
      }
      let refused = try await client.request("DELETE", path)
      #expect(refused.status == 409)
      #expect(
        try detail(refused)
          == "team OTHER00001 has app com.example.app0, app com.example.app1, app com.example.app2, "
          + "app com.example.app3, app com.example.app4 and 1 more: remove these first")
      for number in 0..<6 {
        #expect(try await client.request("DELETE", "/admin/v1/apps/com.example.app\(number)").status == 204)
      }
      #expect(try await client.request("DELETE", path).status == 204)
      #expect(try await client.request("DELETE", path).status == 404)
      #expect(gateway.registrations.teams == [TestGateway.team])
    }
  }
}
