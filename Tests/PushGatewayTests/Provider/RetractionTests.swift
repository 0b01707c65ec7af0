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

/// The retraction of pushes by their sender: its permissions and its effects in every state of a push.
@Suite(.timeLimit(.minutes(5))) struct RetractionTests {
  private let id = APNSID(SampleRequest.id)

  @Test func `what waits is not delivered, and the log says who took it back`() async throws {
    try await TestGateway.run { gateway in
      let (client, id) = (try await gateway.client(), try #require(id))
      let (phone, tablet) = (
        try await gateway.enroll("phone", person: "ada"), try await gateway.enroll("tablet", person: "ada")
      )
      for device in [phone, tablet] {
        _ = try await gateway.push(client, to: device.token, [(.apnsID, SampleRequest.id)])
        _ = try await gateway.push(client, to: device.token)
      }
      // One request retracts the push for all devices of the user. A second one is no error.
      for result in ["retracted", "already"] {
        let answer = try await gateway.takeBack(client, phone.token)
        #expect(answer.status == 200 && answer.apnsID == SampleRequest.id)
        #expect(String(decoding: answer.body, as: UTF8.self) == #"{"result":"\#(result)"}"#)
      }
      for device in [phone, tablet] {
        let stream = try await TestStream.open(client, device)
        let lines = try await stream.lines(upTo: "caught-up")
        #expect(lines.map(\.type) == ["welcome", "retract", "push", "caught-up"])
        #expect(lines[1].json["topic"] as? String == SampleRequest.topic)
        #expect(lines[2].json["id"] as? String != SampleRequest.id)
      }
      let rows = try await gateway.rows(.init(id: id, events: [.retracted, .dropped])).map(\.row)
      #expect(rows.count(where: { $0.event == .dropped && $0.detail == .fact(.retracted) }) == 2)
      let by = DeliveryDetail.takenBack(by: "key ABC123DEFG of team \(TestGateway.team)")
      #expect(
        Set(rows.filter { $0.event == .retracted && $0.detail == by }.compactMap(\.device)) == [phone.id, tablet.id])
      // A push with the same id is a retry of the retracted push.
      let again = try await gateway.push(client, to: phone.token, [(.apnsID, SampleRequest.id)])
      #expect(again.status == 200)
      #expect(gateway.parts.mailbox.waitingCount(for: phone.id) == 1)
    }
  }

  @Test func `what is on a screen leaves it, and what comes late is withheld`() async throws {
    try await TestGateway.run { gateway in
      let (client, device) = (try await gateway.client(), try await gateway.enroll())
      let stream = try await TestStream.caughtUp(client, device)
      _ = try await gateway.push(client, to: device.token, [(.apnsID, SampleRequest.id)])
      _ = try await stream.next()
      _ = try await gateway.takeBack(client, device.token)
      let line = #"{"type":"retract","id":"\#(SampleRequest.id)","topic":"\#(SampleRequest.topic)"}"#
      #expect(try await stream.next()?.text == line)
      // The push arrived at the mailbox after the request to retract it.
      let now = try #require(APNSID("00000000-0000-4000-8000-000000000abc"))
      _ = try await gateway.takeBack(client, device.token, now.description)
      #expect(try await stream.next()?.type == "retract")
      for expiration in ["0", "1900000000"] {
        let fields: [(HeaderName, String)] = [(.apnsID, now.description), (.apnsExpiration, expiration)]
        #expect(try await gateway.push(client, to: device.token, fields).status == 200)
      }
      _ = try await gateway.push(client, to: device.token)
      #expect(try await stream.next()?.json["id"] as? String != now.description)
      let ends = try await gateway.rows(.init(id: now, events: [.dropped, .transmitted])).map(\.row)
      #expect(ends.map(\.event) == [.dropped, .dropped])
    }
  }

  @Test func `a device that connects is sent all retractions of its user, however many there are`() async throws {
    try await TestGateway.run { gateway in
      let (client, device) = (try await gateway.client(), try await gateway.enroll("phone", person: "ada"))
      // The lines are longer than a stream keeps, and more than are postponed.
      let app = try await gateway.registrations.putApp(
        topic: String(repeating: "a", count: 255), name: "News", icon: "N", policyMode: .enforce
      ).id
      let person = try gateway.registrations.person(named: "ada").id
      let ids = (1...2000).map { APNSID.number($0) }
      for id in ids {
        _ = try await gateway.parts.retractions.add(id, app: app, from: [person], at: gateway.clock.seconds * 1000)
      }
      let stream = try await TestStream.open(client, device)
      for id in ids {
        var line = try await stream.next()
        while line != nil, line?.type != "retract" { line = try await stream.next() }
        let found = line?.json["id"] as? String ?? "the end"
        guard found == id.description else {
          Issue.record("the stream has \(found) in place of \(id)")
          return
        }
      }
    }
  }

  @Test func `what is scheduled or held for a summary never comes`() async throws {
    try await TestGateway.run { gateway in
      let (client, device, id) = (try await gateway.client(), try await gateway.enroll(), try #require(id))
      let later = String(gateway.clock.seconds + 600)
      let scheduled = try await gateway.push(
        client, to: device.token, [(.apnsID, SampleRequest.id), (.apnsDeliverAt, later)])
      #expect(scheduled.status == 200 && gateway.parts.schedule.pushes.count == 1)
      let app = try gateway.registrations.app(topic: SampleRequest.topic).id
      let held = samplePush(1, to: device.id, app: app)
      gateway.parts.held.add(
        MailboxEntry(seq: 1, push: held), Deferral(by: .summary, until: .max),
        PushNotification(), nil)
      #expect(gateway.parts.held.count == 1)
      #expect(try await gateway.takeBack(client, device.token).status == 200)
      #expect(gateway.parts.schedule.pushes.count == 0)
      _ = try await gateway.takeBack(client, device.token, held.id.description)
      #expect(gateway.parts.held.count == 0)
      #expect(try await gateway.events(of: id).suffix(2) == [.dropped, .retracted])
      // After a crash, the pushes of a summary may still include a retracted one.
      gateway.parts.held.add(
        MailboxEntry(seq: 1, push: held), Deferral(by: .summary, until: .max),
        PushNotification(), nil)
      gateway.parts.pushes.restoreRetractions()
      #expect(gateway.parts.held.count == 0)
    }
  }

  @Test func `nobody takes back what is another app's, and what is unknown is no error`() async throws {
    try await TestGateway.run { gateway in
      let (client, device) = (try await gateway.client(), try await gateway.enroll())
      let other = try await gateway.registrations.putApp(
        topic: "com.example.other", name: "Other", icon: "O", policyMode: .enforce)
      let token = try await gateway.registrations.register(
        device.id, topic: other.topic, environment: .development, expires: nil, now: 0
      ).token.hex
      _ = try await gateway.push(client, to: device.token, [(.apnsID, SampleRequest.id)])
      let answer = try await gateway.takeBack(client, token, topic: other.topic)
      #expect(String(decoding: answer.body, as: UTF8.self) == #"{"result":"unknown"}"#)
      #expect(gateway.parts.mailbox.waitingCount(for: device.id) == 1)
      let stream = try await TestStream.open(client, device)
      let lines = try await stream.lines(upTo: "caught-up")
      #expect(lines.map(\.type) == ["welcome", "retract", "push", "caught-up"])
      #expect(lines[1].json["topic"] as? String == other.topic)
    }
  }

  @Test func `a push that another gateway accepted, whose log is away, is known`() async throws {
    try await TestGateway.run { gateway in
      let (client, device, id) = (try await gateway.client(), try await gateway.enroll(), try #require(id))
      let app = try gateway.registrations.app(topic: SampleRequest.topic).id
      let push = StoredPush(
        device: device.id, app: app, id: id, isSenderID: true, uniqueID: id, received: TestClock.start * 1000,
        expires: TestClock.start + 3600, priority: 10, collapseID: "", payload: Array(#"{"aps":{}}"#.utf8))
      _ = await gateway.parts.mailbox.append([push])
      let answer = try await gateway.takeBack(client, device.token)
      #expect(String(decoding: answer.body, as: UTF8.self) == #"{"result":"retracted"}"#)
      #expect(gateway.parts.mailbox.waitingCount(for: device.id) == 0)
    }
  }

  /// A request that is refused for the same reasons as a push.
  struct Refusal: Sendable {
    var reason: Reason
    var method = "DELETE"
    var token: String?
    var id = SampleRequest.id
    var topic = SampleRequest.topic
    var authorizes = true
  }

  static let refusals: [Refusal] = [
    .init(reason: .methodNotAllowed, method: "POST"), .init(reason: .missingProviderToken, authorizes: false),
    .init(reason: .badTopic, topic: "a b"), .init(reason: .badDeviceToken, token: "xyz"),
    .init(reason: .badDeviceToken, token: String(repeating: "ab", count: 32)), .init(reason: .badMessageId, id: "x"),
    .init(reason: .badPath, id: "x/y"), .init(reason: .deviceTokenNotForTopic, topic: "com.example.unknown"),
    .init(reason: .topicDisallowed, topic: SampleRequest.topic + ".unknown"),
    .init(reason: .topicDisallowed, topic: "com.example.theirs"),
  ]

  @Test(arguments: refusals) func `it is refused as a push is`(_ refusal: Refusal) async throws {
    try await TestGateway.run { gateway in
      let (client, device) = (try await gateway.client(), try await gateway.enroll())
      try await gateway.registrations.addTeam("TEAM000002")
      _ = try await gateway.registrations.putApp(
        topic: "com.example.theirs", name: "Theirs", icon: "T", policyMode: .enforce, isStrict: false, ads: .off,
        team: "TEAM000002")
      let fields = (refusal.authorizes ? [try gateway.authorization()] : []) + [(.apnsTopic, refusal.topic)]
      let answer = try await client.request(
        refusal.method, "/v1/pushes/\(refusal.token ?? device.token)/\(refusal.id)", fields)
      #expect(answer.status == refusal.reason.status)
      #expect(String(decoding: answer.body, as: UTF8.self) == #"{"reason":"\#(refusal.reason.rawValue)"}"#)
    }
  }

  @Test func `a token that ended, and one that is pushed to too often, are told so`() async throws {
    try await TestGateway.run(rateLimit: 1) { gateway in
      let (client, device) = (try await gateway.client(), try await gateway.enroll())
      #expect(try await gateway.takeBack(client, device.token).status == 200)
      #expect(try await gateway.takeBack(client, device.token).status == 429)
      try await gateway.registrations.unregister(device.id, topic: SampleRequest.topic, now: 1000)
      let answer = try await gateway.takeBack(client, device.token)
      #expect(String(decoding: answer.body, as: UTF8.self) == #"{"reason":"Unregistered","timestamp":1000}"#)
    }
  }

  @Test func `an administrator takes back whichever app's it is`() async throws {
    try await TestGateway.run { gateway in
      let (client, device) = (try await gateway.client(), try await gateway.enroll())
      for query in ["", "?topic=\(SampleRequest.topic)"] {
        let path = "/admin/v1/devices/\(device.name)/alerts/\(SampleRequest.id)\(query)"
        #expect(try await client.request("DELETE", path).status == 204)
      }
      #expect(try await client.request("DELETE", "/admin/v1/devices/nobody/alerts/\(SampleRequest.id)").status == 404)
      let person = try #require(gateway.registrations.device(device.id)).person
      #expect(gateway.parts.retractions.retractions(of: person).map(\.app) == [nil])
      try await gateway.parts.devices.remove(person)
      #expect(gateway.parts.retractions.isEmpty)
    }
  }
}

extension TestGateway {
  /// Retracts a push as its sender.
  func takeBack(
    _ client: Client, _ token: String, _ id: String = SampleRequest.id, topic: String = SampleRequest.topic
  ) async throws -> Client.Answer {
    try await client.request("DELETE", "/v1/pushes/\(token)/\(id)", [try authorization(), (.apnsTopic, topic)])
  }
}
