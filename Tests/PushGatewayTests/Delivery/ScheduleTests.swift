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

/// Scheduled pushes, from the request to the device.
@Suite(.timeLimit(.minutes(5))) struct ScheduleTests {
  private func open(_ gateway: TestGateway, _ device: TestDevice) async throws -> TestStream {
    let stream = try await TestStream.caughtUp(try await gateway.client(), device)
    return stream
  }

  /// Sends a push that is scheduled for `seconds` from now.
  private func send(
    _ gateway: TestGateway, to device: TestDevice, in seconds: Int64, _ fields: [(HeaderName, String)] = [],
    payload: String = #"{"aps":{"alert":"later"}}"#
  ) async throws -> Client.Answer {
    try await gateway.push(
      try await gateway.client(), to: device.token,
      [(.apnsDeliverAt, String(gateway.clock.seconds + seconds))] + fields, payload: payload)
  }

  /// Advances the clock and wakes the schedule.
  private func advance(_ gateway: TestGateway, _ seconds: Int64) {
    gateway.clock.advance(seconds: seconds)
    gateway.parts.schedule.wake()
  }

  @Test func `a push comes at its time, and not before`() async throws {
    try await TestGateway.run { gateway in
      let device = try await gateway.enroll()
      let stream = try await open(gateway, device)
      let answer = try await send(gateway, to: device, in: 3600)
      #expect(answer.status == 200 && answer.apnsDeliverAt == String(gateway.clock.seconds + 3600))
      let id = try #require(answer.apnsID.flatMap { APNSID($0) })
      #expect(answer.apnsUniqueID != nil)
      advance(gateway, 3599)
      // A push without a schedule is delivered first.
      _ = try await gateway.push(try await gateway.client(), to: device.token, payload: #"{"aps":{"alert":"now"}}"#)
      #expect(try await stream.next()?.text.contains("now") == true)
      advance(gateway, 1)
      let line = try #require(try await stream.next())
      #expect(line.text.contains("later") && line.json["id"] as? String == id.description)
      // The time of receipt is the time of delivery, so no waiting time is counted.
      #expect(line.text.contains(#""received":"2027-01-15T09:00:00.000Z""#))
      await eventually { gateway.parts.schedule.pushes.count == 0 }
      let rows = try await gateway.rows(.init(id: id))
      #expect(rows.map(\.row.event) == [.accepted, .stored, .transmitted])
      #expect(rows.first?.row.detail == .scheduled("2027-01-15T09:00:00.000Z"))
    }
  }

  @Test func `the choices of that moment hold`() async throws {
    try await TestGateway.run { gateway in
      let device = try await gateway.enroll()
      let stream = try await open(gateway, device)
      _ = try await send(gateway, to: device, in: 60)
      let person = try #require(gateway.registrations.device(device.id)).person
      _ = try await gateway.parts.devices.changePreferences(
        of: person, assigning: ["alert=off"], app: SampleRequest.topic, category: nil, isByOwner: true)
      _ = try await stream.lines(upTo: "preferences")
      advance(gateway, 60)
      let line = try #require(try await stream.next())
      #expect(line.json["presentation"] as? [String: String] == [:])
    }
  }

  @Test(
    arguments: [
      // A time in the past means now.
      ("1799999999", nil), ("0", nil), ("1800000000", nil),
      ("1802592000", nil), ("1802592001", .badExpirationDate), ("999999999999999999", .badExpirationDate),
      ("", .badExpirationDate), ("-1", .badExpirationDate), ("1800000060.5", .badExpirationDate),
      ("2027-01-15T09:00:00Z", .badExpirationDate), ("1e9", .badExpirationDate),
    ] as [(String, Reason?)])
  func `a time is whole seconds since 1970, and thirty days ahead at most`(_ value: String, _ reason: Reason?)
    async throws
  {
    try await TestGateway.run { gateway in
      let device = try await gateway.enroll()
      let answer = try await gateway.push(
        try await gateway.client(), to: device.token, [(.apnsDeliverAt, value)])
      #expect(answer.status == reason?.status ?? 200)
      if let reason { #expect(String(decoding: answer.body, as: UTF8.self).contains(reason.rawValue)) }
      let isScheduled = reason == nil && (Int64(value) ?? 0) > gateway.clock.seconds
      #expect((answer.apnsDeliverAt != nil) == isScheduled)
      #expect(gateway.parts.schedule.pushes.count == (isScheduled ? 1 : 0))
    }
  }

  @Test func `what would be over before it comes is refused, and so is what the door refuses`() async throws {
    try await TestGateway.run { gateway in
      let device = try await gateway.enroll()
      func status(_ payload: String, _ fields: [(HeaderName, String)] = []) async throws -> Int {
        try await send(gateway, to: device, in: 60, fields, payload: payload).status
      }
      let now = gateway.clock.seconds
      #expect(try await status(#"{"aps":{"alert":"x"}}"#, [(.apnsExpiration, "\(now + 60)")]) == 400)
      #expect(try await status(#"{"aps":{"badge":"3"}}"#) == 403)
      #expect(try await status(#"{"aps":{"alert":{"title":"Flash sale","body":"50% off, buy now"}}}"#) == 403)
      #expect(try await status("[]") == 400)
      #expect(gateway.parts.schedule.pushes.count == 0)
      #expect(try await status(#"{"aps":{"alert":"x"}}"#, [(.apnsExpiration, "\(now + 61)")]) == 200)
      #expect(try await status(#"{"aps":{"alert":"x"}}"#, [(.apnsExpiration, "0")]) == 200)
    }
  }

  @Test func `one whose time to live is over when a late gateway starts is not delivered`() async throws {
    try await TestGateway.run { gateway in
      let device = try await gateway.enroll()
      let stream = try await open(gateway, device)
      let late = try await send(gateway, to: device, in: 60, [(.apnsExpiration, "\(gateway.clock.seconds + 90)")])
      let good = try await send(gateway, to: device, in: 70)
      advance(gateway, 100)
      #expect(try await stream.next()?.json["id"] as? String == good.apnsID)
      let id = try #require(late.apnsID.flatMap { APNSID($0) })
      #expect(try await gateway.events(of: id) == [.accepted, .expired])
    }
  }

  @Test func `one attempt is one attempt, at its time`() async throws {
    try await TestGateway.run { gateway in
      let device = try await gateway.enroll()
      let away = try await send(gateway, to: device, in: 60, [(.apnsExpiration, "0")])
      advance(gateway, 60)
      let id = try #require(away.apnsID.flatMap { APNSID($0) })
      // The push leaves the schedule before it is delivered.
      while try await gateway.events(of: id) == [.accepted] {}
      #expect(gateway.parts.schedule.pushes.count == 0)
      #expect(try await gateway.events(of: id) == [.accepted, .dropped])
      let stream = try await open(gateway, device)
      _ = try await send(gateway, to: device, in: 60, [(.apnsExpiration, "0")])
      advance(gateway, 60)
      #expect(try await stream.next()?.seq == 0)
    }
  }

  @Test func `the same id is scheduled once, and delivered once`() async throws {
    try await TestGateway.run { gateway in
      let device = try await gateway.enroll()
      let stream = try await open(gateway, device)
      for _ in 0..<2 {
        #expect(try await send(gateway, to: device, in: 60, [(.apnsID, SampleRequest.id)]).status == 200)
      }
      #expect(gateway.parts.schedule.pushes.count == 1)
      // Simulates a crash between the commit of the mailbox and that of the schedule: the push is due again.
      let row = try #require(try await gateway.parts.schedule.pushes.due(at: .max / 2, limit: 1).first)
      advance(gateway, 60)
      #expect(try await stream.next()?.json["id"] as? String == SampleRequest.id)
      await eventually { gateway.parts.schedule.pushes.count == 0 }
      await withCheckedContinuation { continuation in
        gateway.parts.schedule.add(row.push) { _ in continuation.resume() }
      }
      await eventually { gateway.parts.schedule.pushes.count == 0 }
      _ = try await gateway.push(try await gateway.client(), to: device.token)
      #expect(try await stream.next()?.json["id"] as? String != SampleRequest.id)
    }
  }

  @Test func `what belongs to a device that goes, goes`() async throws {
    try await TestGateway.run { gateway in
      let (device, other) = (try await gateway.enroll(), try await gateway.enroll("phone"))
      let gone = try await send(gateway, to: device, in: 60)
      _ = try await send(gateway, to: other, in: 60)
      try await gateway.parts.devices.remove(device.id)
      #expect(gateway.parts.schedule.pushes.count == 1)
      let id = try #require(gone.apnsID.flatMap { APNSID($0) })
      #expect(try await gateway.events(of: id) == [.accepted, .dropped])
      try await gateway.parts.devices.unregister(other.id, topic: SampleRequest.topic)
      #expect(gateway.parts.schedule.pushes.count == 0)
    }
  }

  @Test func `an expectation that can't be read delays no scheduled push`() async throws {
    try await TestGateway.run { gateway in
      let device = try await gateway.enroll()
      let stream = try await open(gateway, device)
      let app = try gateway.registrations.app(topic: SampleRequest.topic).id
      try await gateway.parts.messages.senders.add(
        MessageSender(name: "backup", app: app, recipients: [.device(device.id)], rate: 60, created: 1),
        token: "pgs-TEST")
      _ = try await send(gateway, to: device, in: 60)
      let expectations = gateway.parts.schedule.heartbeats.expectations
      // The interval is out of its range: the row is damaged.
      try await expectations.set(Expectation(sender: "backup", every: -1, grace: 0, from: gateway.clock.seconds * 1000))
      advance(gateway, 60)
      let line = try await stream.next()
      #expect(line?.text.contains("later") == true)
      try await expectations.remove("backup")
      gateway.parts.schedule.wake()
      await eventually { !gateway.parts.schedule.isWaiting }
    }
  }

  @Test func `nobody waits while nothing is scheduled`() async throws {
    try await TestGateway.run { gateway in
      #expect(!gateway.parts.schedule.isWaiting)
      let device = try await gateway.enroll()
      _ = try await send(gateway, to: device, in: 60)
      #expect(gateway.parts.schedule.isWaiting)
      advance(gateway, 60)
      await eventually { !gateway.parts.schedule.isWaiting }
    }
  }
}
