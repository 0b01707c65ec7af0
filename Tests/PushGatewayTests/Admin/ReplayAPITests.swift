import PushTesting
import Testing

@testable import GatewayClient
@testable import GatewayProtocol
@testable import HTTP2Transport
@testable import PushCore
@testable import PushGateway
@testable import PushPolicy
@testable import PushStorage

/// The routes of the console for reports and for other preferences on past pushes.
@Suite(.timeLimit(.minutes(5))) struct ReplayAPITests {
  /// Appends the rows of a delivered push to the log.
  static func log(
    _ gateway: TestGateway, _ device: DeviceID, _ id: APNSID, at milliseconds: Int64
  ) throws {
    let payload = Array(#"{"aps":{"alert":"hello","badge":1}}"#.utf8)
    let push = try JSONParser().payload(payload.span).notification
    let app = try gateway.parts.registrations.app(topic: SampleRequest.topic).id
    gateway.parts.log.append([
      DeliveryLog.Row(at: milliseconds, event: .accepted, id: id, device: device, app: app),
      DeliveryLog.Row(
        at: milliseconds, event: .transmitted, id: id, device: device, app: app,
        detail: .asked(RequestedPresentation(push, on: Policy.DeviceState()))),
    ])
  }

  @Test func `other preferences have their effect on past pushes, and change nothing`() async throws {
    try await TestGateway.run { gateway in
      _ = try await gateway.enroll("laptop")
      let device = try gateway.parts.registrations.device(named: "laptop").id
      let now = gateway.parts.clock.milliseconds()
      try ReplayAPITests.log(gateway, device, .number(1), at: now - 50_000)
      try ReplayAPITests.log(gateway, device, .number(2), at: now - 1000)
      let body = ReplayRequest(seconds: 60, settings: ["alert=off"])
      let answer = try await SendAPITests.post(gateway, AdminPath.replay("laptop"), body)
      #expect(answer.status == 200)
      let record = try decodeJSON(ReplayRecord.self, from: answer.body)
      #expect(record.pushes == 2 && record.less == 2 && record.more == 0 && record.held == 0)
      #expect(!record.isCut)
      #expect(record.times.count == ReplayAPI.periodCount)
      #expect(record.times.map(\.before).reduce(0, +) == 2)
      #expect(record.times.map(\.after).reduce(0, +) == 0)
      #expect(record.times.filter { $0.pushes > 0 }.count == 2)
      #expect(record.apps.map(\.topic) == [SampleRequest.topic])
      #expect(record.changes.map(\.was) == [["badge", "alert"], ["badge", "alert"]])
      #expect(record.changes.map(\.wouldBe) == [["badge"], ["badge"]])
      #expect(record.changes.first?.id == APNSID.number(2).description)
      #expect(record.changes.first?.reasons == ["alert is off"])
      #expect(gateway.parts.registrations.preferences(of: device) == Preferences())
      let audit = try await gateway.parts.audit.records(before: nil, limit: 10)
      #expect(audit.isEmpty)
    }
  }

  @Test(arguments: [
    ReplayRequest(seconds: 1, settings: []), ReplayRequest(seconds: 60, settings: ["alert=perhaps"]),
    ReplayRequest(seconds: 60, settings: ["x"]), ReplayRequest(seconds: 60, settings: [], app: "com.example.none"),
  ])
  func `an invalid change is refused`(_ body: ReplayRequest) async throws {
    try await TestGateway.run { gateway in
      _ = try await gateway.enroll("laptop")
      let answer = try await SendAPITests.post(gateway, AdminPath.replay("laptop"), body)
      #expect(answer.status == (body.app == nil ? 400 : 404))
    }
  }

  @Test func `an administrator reviews a report of advertising`() async throws {
    try await TestGateway.run { gateway in
      _ = try await gateway.enroll("laptop")
      let registrations = gateway.parts.registrations
      let device = try registrations.device(named: "laptop").id
      let app = try registrations.app(topic: SampleRequest.topic).id
      try await registrations.add(AdReport(at: 1, device: device, app: app, id: .number(1), text: "Buy now"))
      func reviews() async throws -> [AdReportRecord] {
        let client = try await gateway.client()
        defer { client.close() }
        return try decodeJSON(
          [AdReportRecord].self, from: try await client.request("GET", AdminPath.adReports()).body)
      }
      let number = try #require(try await reviews().first?.number)
      for (review, status) in [("right", 204), ("perhaps", 400), ("wrong", 204)] {
        let answer = try await SendAPITests.post(
          gateway, AdminPath.adReport("\(number)"), AdReviewRequest(review: review))
        #expect(answer.status == status)
      }
      #expect(try await reviews().map(\.review) == ["wrong"])
      let none = try await SendAPITests.post(gateway, AdminPath.adReport("\(number)"), AdReviewRequest(review: nil))
      #expect(none.status == 204)
      #expect(try await reviews().map(\.review) == [nil])
      for unknown in ["\(number + 1)", "x"] {
        let answer = try await SendAPITests.post(gateway, AdminPath.adReport(unknown), AdReviewRequest(review: "right"))
        #expect(answer.status == 404)
      }
    }
  }
}
