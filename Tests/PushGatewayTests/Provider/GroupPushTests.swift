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

/// Pushes to the token of a group.
@Suite(.timeLimit(.minutes(5))) struct GroupPushTests {
  /// Runs a test with a gateway that has a group of two users. The first user has two devices.
  private func run(
    cap: Int = 10_000, mailbox: (any Mailbox)? = nil,
    _ body: (TestGateway, Client, _ token: String, [TestDevice]) async throws -> Void
  ) async throws {
    try await TestGateway.run(cap: cap, mailbox: mailbox) { gateway in
      let devices = [
        try await gateway.enroll("phone", person: "ada"), try await gateway.enroll("tablet", person: "ada"),
        try await gateway.enroll("desk", person: "ben"),
      ]
      let persons = try ["ada", "ben"].map { try gateway.registrations.person(named: $0).id }
      let group = try await gateway.parts.groups.add("ops", persons)
      let app = try gateway.registrations.app(topic: SampleRequest.topic).id
      let token = try await gateway.parts.groups.register(group, app: app, environment: .development).token.hex
      try await body(gateway, try await gateway.client(), token, devices)
    }
  }

  @Test func `it goes to all devices that are registered then, under one id`() async throws {
    try await run { gateway, client, token, devices in
      try await gateway.registrations.unregister(devices[1].id, topic: SampleRequest.topic, now: 1)
      for _ in 0..<2 {
        let answer = try await gateway.push(client, to: token, [(.apnsID, SampleRequest.id)])
        #expect(answer.status == 200 && answer.apnsID == SampleRequest.id)
      }
      #expect(devices.map { gateway.parts.mailbox.waitingCount(for: $0.id) } == [1, 0, 1])
      let stream = try await TestStream.open(client, devices[2])
      #expect(try await stream.lines(upTo: "caught-up").map(\.type) == ["welcome", "push", "caught-up"])
      let now = try await gateway.push(client, to: token, [(.apnsExpiration, "0")])
      #expect(now.status == 200)
      #expect(try await stream.next()?.json["id"] as? String == now.apnsID)
    }
  }

  @Test func `an answered question whose removal a crash prevented leaves the other members at the next start`()
    async throws
  {
    try await run { gateway, client, token, devices in
      #expect(try await gateway.push(client, to: token, [(.apnsID, SampleRequest.id)]).status == 200)
      let answer = Answer(
        id: try #require(APNSID(SampleRequest.id)), person: try gateway.registrations.person(named: "ada").id,
        action: "yes", device: devices[0].id, app: try gateway.registrations.app(topic: SampleRequest.topic).id,
        at: gateway.clock.seconds * 1000)
      await withCheckedContinuation { done in
        gateway.parts.answers.take(answer, isPick: true) { _ in done.resume() }
      }
      #expect(devices.map { gateway.parts.mailbox.waitingCount(for: $0.id) } == [1, 1, 1])
      try await gateway.parts.pushes.restoreAnswers()
      await eventually { gateway.parts.mailbox.waitingCount(for: devices[2].id) == 0 }
      #expect(devices.map { gateway.parts.mailbox.waitingCount(for: $0.id) } == [1, 1, 0])
    }
  }

  @Test func `what is wrong with a push is wrong with one to a group`() async throws {
    try await run { gateway, client, token, _ in
      let other = try await gateway.registrations.putApp(
        topic: "com.example.other", name: "Other", icon: "O", policyMode: .enforce)
      let wrong = try await client.request(
        "POST", "/3/device/" + token, [try gateway.authorization(), (.apnsTopic, other.topic)],
        body: Array(#"{"aps":{}}"#.utf8))
      #expect(String(decoding: wrong.body, as: UTF8.self) == #"{"reason":"DeviceTokenNotForTopic"}"#)
      let group = try gateway.parts.groups.group(named: "ops")
      let production = try await gateway.parts.groups.register(
        group, app: gateway.registrations.app(topic: SampleRequest.topic).id, environment: .production)
      let elsewhere = try await gateway.push(client, to: production.token.hex)
      #expect(String(decoding: elsewhere.body, as: UTF8.self) == #"{"reason":"BadDeviceToken"}"#)
      try await gateway.parts.groups.remove(group, now: 1000)
      let gone = try await gateway.push(client, to: token)
      #expect(String(decoding: gone.body, as: UTF8.self) == #"{"reason":"Unregistered","timestamp":1000}"#)
    }
  }

  @Test func `nobody has it where the disk refuses one`() async throws {
    try await run(mailbox: RefusingMailbox()) { gateway, client, token, _ in
      let answer = try await gateway.push(client, to: token)
      #expect(answer.status == 503)
    }
  }

  @Test func `a full mailbox of one is not the others' affair`() async throws {
    try await run(cap: 2) { gateway, client, token, devices in
      for _ in 0..<2 { _ = try await gateway.push(client, to: devices[0].token) }
      #expect(try await gateway.push(client, to: token, [(.apnsID, SampleRequest.id)]).status == 200)
      #expect(devices.map { gateway.parts.mailbox.waitingCount(for: $0.id) } == [2, 1, 1])
    }
  }

  @Test func `where nobody is registered it is accepted, and the log says so`() async throws {
    try await run { gateway, client, token, devices in
      for device in devices {
        try await gateway.registrations.unregister(device.id, topic: SampleRequest.topic, now: 1)
      }
      let answer = try await gateway.push(client, to: token, [(.apnsID, SampleRequest.id)])
      #expect(answer.status == 200)
      let rows = try await gateway.parts.logQueries.newest(.init(query: .init(id: APNSID(SampleRequest.id)))).found
      #expect(rows.map(\.record.row.event) == [.accepted, .dropped] && rows.map(\.device) == ["ops", "ops"])
      #expect(rows.last?.record.row.detail == .fact(.nobodyRegistered))
    }
  }

  @Test func `advertising reaches those alone who allow it, and is refused where nobody does`() async throws {
    let advertisement =
      #"{"aps":{"alert":{"title":"Mega Sale","body":"50% off everything today! Buy now, use code SAVE50"}}}"#
    try await run { gateway, client, token, devices in
      _ = try await gateway.registrations.putApp(
        topic: SampleRequest.topic, name: "News", icon: "N", policyMode: .enforce, isStrict: false, ads: .refuse,
        team: nil)
      let refused = try await gateway.push(client, to: token, payload: advertisement)
      #expect(refused.status == 403)
      let id = try #require(refused.apnsID.flatMap { APNSID($0) })
      let rows = try await gateway.rows(.init(id: id)).map(\.row)
      #expect(rows.map(\.event) == [.refused, .refused, .refused, .refused])
      #expect(Set(rows.dropLast().compactMap(\.device)) == Set(devices.map(\.id)))
      #expect(rows.last?.device?.isGroup == true)
      let person = try gateway.registrations.person(named: "ben").id
      _ = try await gateway.parts.devices.changePreferences(
        of: person, assigning: ["advertising=allow"], app: SampleRequest.topic, category: nil, isByOwner: true)
      #expect(try await gateway.push(client, to: token, payload: advertisement).status == 200)
      #expect(devices.map { gateway.parts.mailbox.waitingCount(for: $0.id) } == [0, 0, 1])
    }
  }

  @Test func `later it goes to those who are members then`() async throws {
    try await run { gateway, client, token, devices in
      let later = String(gateway.clock.seconds + 60)
      let answer = try await gateway.push(
        client, to: token, [(.apnsID, SampleRequest.id), (.apnsDeliverAt, later)])
      #expect(answer.status == 200)
      let group = try gateway.parts.groups.group(named: "ops")
      try await gateway.parts.groups.remove(gateway.registrations.person(named: "ada").id, from: group)
      gateway.clock.advance(seconds: 61)
      gateway.parts.schedule.wake()
      await eventually { gateway.parts.schedule.pushes.count == 0 }
      #expect(devices.map { gateway.parts.mailbox.waitingCount(for: $0.id) } == [0, 0, 1])
    }
  }

  @Test func `who takes it back takes it from all, also what is scheduled`() async throws {
    try await run { gateway, client, token, devices in
      _ = try await gateway.push(client, to: token, [(.apnsID, SampleRequest.id)])
      #expect(try await gateway.takeBack(client, token).status == 200)
      #expect(devices.map { gateway.parts.mailbox.waitingCount(for: $0.id) } == [0, 0, 0])
      let id = "00000000-0000-4000-8000-000000000abc"
      let later = String(gateway.clock.seconds + 60)
      _ = try await gateway.push(client, to: token, [(.apnsID, id), (.apnsDeliverAt, later)])
      let answer = try await gateway.takeBack(client, token, id)
      #expect(String(decoding: answer.body, as: UTF8.self) == #"{"result":"retracted"}"#)
      #expect(gateway.parts.schedule.pushes.count == 0)
      // The device's own pushes are stored as before.
      _ = try await gateway.push(client, to: devices[0].token, [(.apnsID, "00000000-0000-4000-8000-000000000abd")])
      #expect(gateway.parts.mailbox.waitingCount(for: devices[0].id) == 1)
    }
  }

  @Test func `a group and a device do not share a name, and members go with their persons`() async throws {
    try await run { gateway, client, _, _ in
      let taken = try await client.request("POST", "/v1/devices", body: Array(#"{"name":"ops"}"#.utf8))
      #expect(taken.status == 409)
      let body = Array(#"{"name":"phone","members":[]}"#.utf8)
      #expect(try await client.request("POST", "/admin/v1/groups", body: body).status == 409)
      try await gateway.parts.devices.remove(try gateway.registrations.person(named: "ada").id)
      #expect(try gateway.parts.groups.group(named: "ops").members.count == 1)
    }
  }
}
