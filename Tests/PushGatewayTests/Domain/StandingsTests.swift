import Foundation
import GatewayClient
import HTTP2Transport
import PushPolicy
import PushTesting
import Testing

@testable import GatewayProtocol
@testable import PushCore
@testable import PushGateway
@testable import PushStorage

/// The standing of an app from alerts and reports to the measure, and its end by an appeal (N11).
@Suite struct StandingsTests {
  /// Logs alerts that a device reports as shown.
  private func present(_ count: Int, on device: TestDevice, _ gateway: TestGateway) throws {
    let app = try gateway.registrations.app(topic: SampleRequest.topic)
    let now = gateway.clock.seconds * 1_000
    gateway.parts.log.append(
      (0..<count).map { number in
        DeliveryLog.Row(
          at: now, event: .presented, id: .number(number), device: device.id, app: app.id,
          detail: .presented(["alert"]))
      })
  }

  /// Stores a report of each device, and evaluates the app after each.
  private func report(_ number: Int, by devices: [TestDevice], _ gateway: TestGateway) async throws {
    let app = try gateway.registrations.app(topic: SampleRequest.topic)
    for device in devices {
      try await gateway.registrations.add(
        AdReport(at: gateway.clock.seconds * 1_000, device: device.id, app: app.id, id: .number(number), text: ""))
      try await gateway.parts.standings.noteReport(of: app.id)
    }
  }

  private func measure(_ gateway: TestGateway) throws -> SummaryMeasure? {
    try gateway.registrations.app(topic: SampleRequest.topic).measure
  }

  private func enroll(_ gateway: TestGateway) async throws -> [TestDevice] {
    [try await gateway.enroll("ada"), try await gateway.enroll("bob"), try await gateway.enroll("cat")]
  }

  @Test func `the third user who reports an app begins the measure, and devices learn of it`() async throws {
    try await TestGateway.run { gateway in
      let devices = try await enroll(gateway)
      try present(Standing.Bound.alerts, on: devices[0], gateway)
      try await report(1, by: Array(devices[..<2]), gateway)
      try await report(2, by: Array(devices[..<2]), gateway)
      #expect(try measure(gateway) == nil, "four reports of two users")
      try await report(1, by: [devices[2]], gateway)
      let now = gateway.clock.seconds
      let end = now + Standing.Bound.days * 86_400
      #expect(try measure(gateway) == SummaryMeasure(summaryFrom: now, countedFrom: end))
      let stream = try await TestStream.open(try await gateway.client(), devices[0])
      let welcome = try #require(try await stream.next())
      let until = Timestamp.text(seconds: end)
      #expect(
        welcome.text.contains(
          #""standing":{"presented":100,"viewed":0,"closed":0,"reported":5,"unsubscribed":0,"summary_until":"\#(until)"}"#
        ))
      stream.finish()
    }
  }

  @Test func `alerts are held for the summary, until the recipient allows advertising`() async throws {
    try await TestGateway.run { gateway in
      let devices = try await enroll(gateway)
      try present(Standing.Bound.alerts, on: devices[0], gateway)
      try await report(1, by: devices, gateway)
      let stream = try await TestStream.open(try await gateway.client(), devices[0])
      _ = try await stream.lines(upTo: "caught-up")
      let client = try await gateway.client()
      #expect(try await gateway.push(client, to: devices[0].token).status == 200)
      let held = try #require(try await stream.lines(upTo: "push").last)
      #expect(held.text.contains(#""held":{"by":"summary""#))
      stream.acknowledge(held.seq)
      let person = try #require(gateway.registrations.device(devices[0].id)).person
      _ = try await gateway.parts.devices.changePreferences(
        of: person, assigning: ["advertising=allow"], app: SampleRequest.topic, category: nil, isByOwner: true)
      let summary = try #require(try await stream.lines(upTo: "push").last)
      #expect(summary.text.contains(#""topic":"summary""#))
      stream.finish()
    }
  }

  @Test func `an administrator ends the measure, and earlier reports do not count again`() async throws {
    try await TestGateway.run { gateway in
      let devices = try await enroll(gateway)
      let client = try await gateway.client()
      let path = AdminPath.standing(SampleRequest.topic)
      try present(Standing.Bound.alerts, on: devices[0], gateway)
      try await report(1, by: devices, gateway)
      gateway.clock.advance(seconds: 60)
      let answer = try await client.request("POST", path, [], body: Array("{}".utf8))
      #expect(answer.status == 200)
      let record = try decodeJSON(StandingRecord.self, from: answer.body)
      #expect(record.presented == 100 && record.reporters == 3)
      #expect(record.summaryUntil == nil && record.exemptUntil == nil)
      let now = gateway.clock.seconds
      #expect(try measure(gateway) == SummaryMeasure(summaryFrom: nil, countedFrom: now))
      gateway.clock.advance(seconds: 60)
      try await gateway.parts.standings.tend()
      #expect(try measure(gateway)?.summaryFrom == nil)
      let later = Array(#"{"until":\#(now + 86_400)}"#.utf8)
      #expect(try await client.request("POST", path, [], body: later).status == 200)
      try await report(2, by: devices, gateway)
      #expect(try measure(gateway)?.summaryFrom == nil, "the app is exempt")
      for body in [#"{"until":\#(now - 1)}"#, #"{"until":\#(now + 400 * 86_400)}"#, #"{"until":"soon"}"#] {
        #expect(try await client.request("POST", path, [], body: Array(body.utf8)).status == 400)
      }
      let unknown = AdminPath.standing("com.example.unknown")
      #expect(try await client.request("POST", unknown, [], body: Array("{}".utf8)).status == 404)
    }
  }

  @Test func `after the measure only new alerts and reports begin another one`() async throws {
    try await TestGateway.run { gateway in
      let devices = try await enroll(gateway)
      try present(Standing.Bound.alerts, on: devices[0], gateway)
      try await report(1, by: devices, gateway)
      gateway.clock.advance(seconds: Standing.Bound.days * 86_400)
      try await gateway.parts.standings.tend()
      let first = try measure(gateway)
      #expect(first?.isActive(at: gateway.clock.seconds) == false)
      try present(Standing.Bound.alerts, on: devices[0], gateway)
      try await report(2, by: devices, gateway)
      #expect(try measure(gateway)?.summaryFrom == gateway.clock.seconds)
    }
  }

  @Test func `readers and devices see the standings of their apps`() async throws {
    try await TestGateway.run { gateway in
      let devices = try await enroll(gateway)
      let client = try await gateway.client()
      _ = try await gateway.registrations.putApp(
        topic: "com.example.mail", name: "Mail", icon: "M", policyMode: .enforce)
      try present(7, on: devices[0], gateway)
      let all = try await client.request("GET", AdminPath.standings(), [], body: [])
      let records = try decodeJSON([StandingRecord].self, from: all.body)
      #expect(records.map(\.topic).sorted() == ["com.example.mail", SampleRequest.topic].sorted())
      #expect(records.first { $0.topic == SampleRequest.topic }?.presented == 7)
      let one = try await client.request("GET", AdminPath.standings() + "?app=com.example.mail", [], body: [])
      #expect(try decodeJSON([StandingRecord].self, from: one.body).map(\.presented) == [0])
      let own = try await client.request("GET", "/v1/device/ads/standing", [devices[0].authorization], body: [])
      #expect(try decodeJSON([StandingRecord].self, from: own.body).map(\.topic) == [SampleRequest.topic])
    }
  }
}
