import PushGatewayTesting
import Testing

/// Tests of a sender with Swift Testing. They run in parallel: each has a device of its own.
@Suite(.timeLimit(.minutes(5)), .enabled(if: PushGatewayServer.isAvailable)) struct SenderTests {
  static let topic = "com.example.train"
  static let payload = #"{"aps":{"alert":{"title":"Train in 5 Minutes"},"badge":3},"url":"https://example.com/4"}"#

  @Test func `a push is presented`() async throws {
    let server = try await PushGatewayServer.shared
    let device = try await server.device(topic: Self.topic)
    let sender = Sender(url: server.apnsURL, caFile: server.caFile)
    #expect(try await sender.send(Self.payload, to: device.token))
    let push = try await device.expect(
      title: "Train in 5 Minutes", presented: true, match: ["payload./url*": "example"], within: .seconds(60))
    #expect(push.presented.contains("alert"))
    #expect(try await device.pushes().map(\.id) == [push.id])
  }

  @Test func `the user has turned alerts off`() async throws {
    let server = try await PushGatewayServer.shared
    let device = try await server.device(
      topic: Self.topic, preferences: ["apps": .object([Self.topic: ["alert": false]])])
    let sender = Sender(url: server.apnsURL, caFile: server.caFile)
    #expect(try await sender.send(Self.payload, to: device.token))
    let push = try await device.expect(.suppressed, badge: 3, within: .seconds(60))
    #expect(push.suppressed.map(\.part) == ["alert"])
  }

  @Test func `a token that is no longer registered is refused`() async throws {
    let server = try await PushGatewayServer.shared
    let device = try await server.device(topic: Self.topic)
    try await device.setState(.unregistered)
    let sender = Sender(url: server.apnsURL, caFile: server.caFile)
    #expect(try await sender.send(Self.payload, to: device.token) == false)
    try await device.expect(.refused, match: ["reason": "Unregistered"], within: .seconds(60))
    let lines = try await server.report.lines.filter { $0.token == device.token }
    #expect(lines.map(\.verdict) == ["handled"])
  }

  @Test func `a failure has the nearest push`() async throws {
    let server = try await PushGatewayServer.shared
    let device = try await server.device(topic: Self.topic)
    try await device.expectNone(within: .milliseconds(1))
    let sender = Sender(url: server.apnsURL, caFile: server.caFile)
    #expect(try await sender.send(Self.payload, to: device.token))
    try await device.expect(within: .seconds(60))
    let failure = await #expect(throws: PushExpectationFailure.self) {
      try await device.expect(title: "Bus", within: .milliseconds(1))
    }
    #expect(failure?.nearest.first?.differences.map(\.field) == ["title"])
    #expect(failure?.description.contains(#"title: expected "Bus", found "Train in 5 Minutes""#) == true)
  }

  @Test func `a user answers`() async throws {
    let server = try await PushGatewayServer.shared
    let device = try await server.device(topic: Self.topic)
    let sender = Sender(url: server.apnsURL, caFile: server.caFile)
    #expect(try await sender.send(Self.payload, to: device.token))
    try await device.expect(presented: true, within: .seconds(60))
    #expect(try await device.answer("view") == "view")
  }
}
