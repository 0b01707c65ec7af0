import Foundation
import PushPolicy
import PushTesting
import Testing

@testable import GatewayClient
@testable import GatewayProtocol
@testable import PushCore
@testable import PushGateway
@testable import PushStorage

/// The limits for a single device.
@Suite(.timeLimit(.minutes(5))) struct DeviceLimitTests {
  private func rows(_ gateway: TestGateway, _ events: Set<DeliveryEvent>) async throws -> [DeliveryLog.Row] {
    await gateway.parts.answers.settle()
    return try await gateway.rows(.init(events: events, limit: 100_000)).map(\.row)
  }

  /// Sends pushes and waits until the device has received them.
  private func push(_ count: Int, _ gateway: TestGateway, _ client: Client, _ device: TestDevice, _ stream: TestStream)
    async throws -> [APNSID]
  {
    var ids: [APNSID] = []
    for _ in 0..<count {
      let answer = try await gateway.push(client, to: device.token)
      ids.append(try #require(answer.apnsID.flatMap { APNSID($0) }))
      _ = try await stream.next()
    }
    return ids
  }

  @Test func `a device that reports for ever fills its share of the log and no more`() async throws {
    try await TestGateway.run { gateway in
      let (client, device) = (try await gateway.client(), try await gateway.enroll())
      let stream = try await TestStream.caughtUp(client, device)
      let id = try await push(1, gateway, client, device, stream)[0]
      let rate = Limits.deviceReports
      // A line of about the maximum length, with each part ten times.
      let parts = String(repeating: #""alert","badge","sound","\#(String(repeating: "x", count: 300))","#, count: 40)
      let line = #"{"type":"presented","id":"\#(id)","parts":[\#(parts)"alert"]}"#
      #expect(line.utf8.count > 10_000 && line.utf8.count < Limits.maximumLineSize)
      for _ in 0..<rate.burst + 500 { stream.send(#"{"type":"presented","id":"\#(id)","parts":["alert"]}"#) }
      try await settle(stream)
      #expect(try await rows(gateway, [.presented]).count == rate.burst)
      gateway.clock.advance(seconds: 2)
      let again = try await TestStream.open(client, device, cursor: 1)
      for _ in 0..<500 { again.send(line) }
      try await settle(again)
      let all = try await rows(gateway, [.presented])
      #expect(all.count == rate.burst + 2 * rate.perSecond)
      #expect(all.last?.detail == .presented(["badge", "sound", "alert"]))
    }
  }

  /// Waits until the gateway has read all lines of a stream.
  private func settle(_ stream: TestStream) async throws {
    stream.finish()
    _ = try await stream.lines(upTo: "bye")
  }

  @Test func `a person closes all alerts of a screen at once`() async throws {
    try await TestGateway.run { gateway in
      let (client, device) = (try await gateway.client(), try await gateway.enroll())
      let stream = try await TestStream.caughtUp(client, device)
      let ids = try await push(200, gateway, client, device, stream)
      for id in ids { stream.send(#"{"type":"answer","id":"\#(id)","action":"close"}"#) }
      try await settle(stream)
      #expect(try await rows(gateway, [.closed]).map(\.id) == ids)
      #expect(gateway.parts.budgets.limits.totals[ReachedLimit.deviceAnswers.rawValue] == 0)
    }
  }

  @Test func `a device answers as fast as a person, not as a machine`() async throws {
    try await TestGateway.run { gateway in
      let (client, device) = (try await gateway.client(), try await gateway.enroll())
      let stream = try await TestStream.caughtUp(client, device)
      let rate = Limits.deviceAnswers
      let left = 5
      for _ in left..<rate.burst {
        #expect(gateway.parts.budgets.allowsAnswer(device.id, at: gateway.clock.seconds * 1000))
      }
      let ids = try await push(left + rate.perSecond + 10, gateway, client, device, stream)
      for id in ids { stream.send(#"{"type":"answer","id":"\#(id)","action":"close"}"#) }
      try await settle(stream)
      #expect(try await rows(gateway, [.closed]).map(\.id) == Array(ids.prefix(left)))
      gateway.clock.advance(seconds: 1)
      // Nothing was acknowledged, so the device receives all pushes again.
      let again = try await TestStream.caughtUp(client, device)
      for id in ids.dropFirst(left) { again.send(#"{"type":"answer","id":"\#(id)","action":"view"}"#) }
      try await settle(again)
      #expect(try await rows(gateway, [.viewed]).map(\.id) == Array(ids.dropFirst(left).prefix(rate.perSecond)))
    }
  }

  @Test func `another device has its own share`() {
    let budgets = DeviceRateLimiter()
    for _ in 0..<Limits.deviceAnswers.burst { #expect(budgets.allowsAnswer(1, at: 0)) }
    #expect(!budgets.allowsAnswer(1, at: 0))
    #expect(budgets.allowsAnswer(2, at: 0))
  }

  @Test func `what is too much is told once a minute, with its number`() {
    let budgets = DeviceRateLimiter()
    #expect(budgets.noteRefusal(at: 1000) == 1)
    for now in [1000, 2000, 60_999] { #expect(budgets.noteRefusal(at: Int64(now)) == nil) }
    #expect(budgets.noteRefusal(at: 61_000) == 4)
    #expect(budgets.noteRefusal(at: 61_001) == nil)
    // The clock went back by hours.
    #expect(budgets.noteRefusal(at: 0) == 2)
  }

  @Test func `a device searches its log once at a time`() async throws {
    try await TestGateway.run { gateway in
      let (client, device) = (try await gateway.client(), try await gateway.enroll())
      let other = try await gateway.enroll("phone")
      func search(_ device: TestDevice, _ query: String = "") async throws -> Client.Answer {
        try await client.request("GET", "/v1/device/log" + query, [device.authorization])
      }
      #expect(gateway.parts.budgets.beginSearch(device.id))
      let refused = try await search(device)
      #expect(refused.status == 429)
      #expect(String(decoding: refused.body, as: UTF8.self).contains("wait for its response"))
      #expect(try await search(other).status == 200)
      gateway.parts.budgets.endSearch(device.id)
      #expect(try await search(device).status == 200)
      // A search that fails also ends.
      #expect(try await search(device, "?since=x").status == 400)
      #expect(try await search(device).status == 200)
    }
  }

  @Test func `a device has so many streams and no more`() async throws {
    try await TestGateway.run { gateway in
      let (client, device) = (try await gateway.client(), try await gateway.enroll())
      let other = try await gateway.enroll("phone")
      var streams: [TestStream] = []
      for _ in 0..<Limits.maximumDeviceStreams {
        let stream = try await TestStream.open(client, device)
        #expect(try await stream.lines(upTo: "caught-up").last?.type == "caught-up")
        streams.append(stream)
      }
      let late = try await TestStream.open(try await gateway.client(), device)
      #expect(try await late.lines(upTo: "never").map(\.text) == [#"{"type":"bye","reason":"too-many-streams"}"#])
      #expect(try await TestStream.open(client, other).next()?.type == "welcome")
      streams[0].finish()
      _ = try await streams[0].lines(upTo: "never")
      #expect(try await TestStream.open(client, device).next()?.type == "welcome")
    }
  }
}
