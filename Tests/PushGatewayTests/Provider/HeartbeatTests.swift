import Foundation
import HTTP2Transport
import PushPolicy
import PushTesting
import Testing

@testable import GatewayClient
@testable import GatewayProtocol
@testable import PushCore
@testable import PushGateway
@testable import PushStorage

/// Heartbeats of senders, from the request to the pushes.
@Suite(.timeLimit(.minutes(5))) struct HeartbeatTests {
  private static let token = "pgs-TEST"

  /// Runs a test with a gateway that expects a heartbeat of `backup` every hour, with a grace of a minute.
  private func run(_ body: (TestGateway, Client, TestStream, TestDevice) async throws -> Void) async throws {
    try await TestGateway.run { gateway in
      let device = try await gateway.enroll("phone")
      let app = try gateway.registrations.app(topic: SampleRequest.topic).id
      try await gateway.parts.messages.senders.add(
        MessageSender(name: "backup", app: app, recipients: [.device(device.id)], rate: 60, created: 1),
        token: HeartbeatTests.token)
      let client = try await gateway.client()
      let stream = try await TestStream.caughtUp(client, device)
      let answer = try await client.request(
        "POST", AdminPath.expectations(), body: Array(#"{"sender":"backup","every":3600,"grace":60}"#.utf8))
      #expect(answer.status == 201)
      try await body(gateway, client, stream, device)
    }
  }

  private func beat(
    _ client: Client, _ method: String = "GET", path: String = "/beat/backup", token: String? = HeartbeatTests.token
  ) async throws -> Client.Answer {
    let fields = token.map { [(HeaderName.authorization, "bearer " + $0)] } ?? []
    return try await client.request(method, path, fields)
  }

  private func advance(_ gateway: TestGateway, _ seconds: Int64) {
    gateway.clock.advance(seconds: seconds)
    gateway.parts.schedule.wake()
  }

  private func list(_ client: Client) async throws -> [ExpectationRecord] {
    try decodeJSON([ExpectationRecord].self, from: try await client.request("GET", AdminPath.expectations()).body)
  }

  @Test func `a late heartbeat is a push, and the next one another that replaces it`() async throws {
    try await run { gateway, client, stream, _ in
      let first = try await beat(client)
      #expect(first.status == 200)
      #expect(String(decoding: first.body, as: UTF8.self).contains(#""due":"2027-01-15T09:01:00.000Z""#))
      advance(gateway, 3660)
      let late = try #require(try await stream.next())
      #expect(late.text.contains("backup is late"))
      #expect(late.text.contains("No heartbeat since 2027-01-15 08:00 UTC, expected every 1h"))
      let records = try await list(client)
      #expect(records.map(\.late) == [true])
      advance(gateway, 3600)
      let answer = try await beat(client)
      #expect(String(decoding: answer.body, as: UTF8.self).contains(#""late":true"#))
      let lines = try await stream.lines(upTo: "push")
      #expect(lines.last?.text.contains("A heartbeat came after 2h 1m") == true)
      // The second heartbeat in a row is no news.
      let next = try await beat(client)
      #expect(String(decoding: next.body, as: UTF8.self).contains(#""late":false"#))
      await eventually { gateway.parts.schedule.pushes.count == 0 }
      let id = try #require((late.json["id"] as? String).flatMap { APNSID($0) })
      let events = try await gateway.events(of: id)
      #expect(Array(events.prefix(2)) == [.accepted, .stored])
    }
  }

  @Test func `heartbeats in time send nothing, and the first one counts from the command`() async throws {
    try await run { gateway, client, stream, device in
      for _ in 0..<3 {
        advance(gateway, 3659)
        let status = try await beat(client).status
        #expect(status == 200)
      }
      #expect(gateway.parts.mailbox.waitingCount(for: device.id) == 0)
      advance(gateway, 3660)
      let late = try await stream.next()
      #expect(late?.text.contains("backup is late") == true)
    }
  }

  @Test func `each method and both places of the token are accepted, and nothing else`() async throws {
    try await run { gateway, client, _, _ in
      for method in ["GET", "POST", "HEAD"] {
        let answer = try await beat(client, method)
        #expect(answer.status == 200, "\(method)")
        #expect(answer.body.isEmpty == (method == "HEAD"))
      }
      let inQuery = try await beat(client, path: "/beat/backup?token=" + HeartbeatTests.token, token: nil).status
      #expect(inQuery == 200)
      for (path, token, method, status) in [
        ("/beat/backup", nil, "GET", 401), ("/beat/backup?token=x", nil, "GET", 401),
        ("/beat/backup", "pgs-OTHER", "GET", 401), ("/beat/none", HeartbeatTests.token, "GET", 401),
        ("/beat/", HeartbeatTests.token, "GET", 401), ("/beat/backup", HeartbeatTests.token, "PUT", 405),
      ] as [(String, String?, String, Int)] {
        let answer = try await beat(client, method, path: path, token: token).status
        #expect(answer == status, "\(method) \(path)")
      }
    }
  }

  @Test func `an expectation that is removed while late sends nothing more`() async throws {
    try await run { gateway, client, stream, _ in
      advance(gateway, 3660)
      _ = try await stream.next()
      let removed = try await client.request("DELETE", AdminPath.expectation("backup")).status
      #expect(removed == 204)
      let answer = try await beat(client)
      #expect(answer.status == 404)
      #expect(String(decoding: answer.body, as: UTF8.self).contains("NotExpected"))
      advance(gateway, 100_000)
      await eventually { gateway.parts.schedule.pushes.next == nil && gateway.parts.schedule.pushes.count == 0 }
      let again = try await client.request("DELETE", AdminPath.expectation("backup")).status
      #expect(again == 404)
    }
  }

  @Test(arguments: [
    (#"{"sender":"none","every":60,"grace":0}"#, 404), (#"{"sender":"backup","every":0,"grace":0}"#, 400),
    (#"{"sender":"backup","every":60,"grace":-1}"#, 400), (#"{"sender":"backup","every":31622401,"grace":0}"#, 400),
    (#"{"sender":"backup","every":9223372036854775807,"grace":0}"#, 400),
  ])
  func `an expectation out of range, or of nobody, is refused`(_ body: String, _ status: Int) async throws {
    try await run { _, client, _, _ in
      let answer = try await client.request("POST", AdminPath.expectations(), body: Array(body.utf8)).status
      #expect(answer == status)
      let records = try await list(client)
      #expect(records.map(\.every) == [3600])
    }
  }

  @Test func `a group gets the pushes, and a recipient that is not registered gets none`() async throws {
    try await run { gateway, client, _, device in
      let members = [
        try await gateway.enroll("desk", person: "ben"), try await gateway.enroll("tablet", person: "ben"),
      ]
      let app = try gateway.registrations.app(topic: SampleRequest.topic).id
      let group = try await gateway.parts.groups.add("ops", [try gateway.registrations.person(named: "ben").id])
      _ = try await gateway.parts.groups.register(group, app: app, environment: .development)
      try await gateway.parts.messages.senders.add(
        MessageSender(
          name: "ci", app: app, recipients: [.device(device.id), .group(group.id)], rate: 60, created: 1),
        token: "pgs-CI")
      let answer = try await client.request(
        "POST", AdminPath.expectations(), body: Array(#"{"sender":"ci","every":60,"grace":0}"#.utf8))
      #expect(answer.status == 201)
      try await gateway.registrations.unregister(device.id, topic: SampleRequest.topic, now: 1)
      advance(gateway, 60)
      await eventually { members.allSatisfy { gateway.parts.mailbox.waitingCount(for: $0.id) == 1 } }
      #expect(gateway.parts.mailbox.waitingCount(for: device.id) == 0)
    }
  }

  @Test func `the texts have the time of the last heartbeat, or say that there was none`() {
    var expectation = Expectation(sender: "a\"b", every: 86_400, grace: 0, from: 0)
    #expect(Heartbeats.Text(late: expectation).body == "No heartbeat yet, expected every 24h")
    #expect(Heartbeats.Text(endOf: expectation, at: 5).body == "The first heartbeat came")
    expectation.beat = 1_800_000_000_000
    #expect(Heartbeats.Text(endOf: expectation, at: 1_800_000_090_000).body == "A heartbeat came after 1m 30s")
    // A clock that went back gives no negative time.
    #expect(Heartbeats.Text(endOf: expectation, at: 5).body == "The first heartbeat came")
    let late = String(decoding: Heartbeats.Text(late: expectation).payload, as: UTF8.self)
    let body = "No heartbeat since 2027-01-15 08:00 UTC, expected every 24h"
    #expect(late == #"{"aps":{"alert":{"title":"a\"b is late","body":"\#(body)"},"sound":"default"}}"#)
    let end = String(decoding: Heartbeats.Text(endOf: expectation, at: 5).payload, as: UTF8.self)
    #expect(end == #"{"aps":{"alert":{"title":"a\"b is back","body":"The first heartbeat came"}}}"#)
  }
}
