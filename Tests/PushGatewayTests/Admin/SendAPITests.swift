import Foundation
import PushTesting
import Testing

@testable import GatewayClient
@testable import GatewayProtocol
@testable import HTTP2Transport
@testable import PushCore
@testable import PushGateway
@testable import PushStorage

/// The routes with which an administrator checks and sends a push.
@Suite(.timeLimit(.minutes(5))) struct SendAPITests {
  static func post(_ gateway: TestGateway, _ path: String, _ body: some Encodable) async throws -> Client.Answer {
    let client = try await gateway.client()
    defer { client.close() }
    return try await client.request("POST", path, body: controlJSON(body))
  }

  /// Writes the private key of the sample key to the state folder.
  static func keepKey(_ gateway: TestGateway) throws {
    let path = gateway.folder.file("AuthKey_ABC123DEFG.p8")
    try Data(gateway.key.privatePEM).write(to: URL(filePath: path))
  }

  @Test func `a push is signed with the team's key, and takes the way of every push`() async throws {
    try await TestGateway.run { gateway in
      let device = try await gateway.enroll()
      try SendAPITests.keepKey(gateway)
      let payload = #"{"aps":{"alert":"hello"}}"#
      var body = PushSendRequest(token: device.token, topic: SampleRequest.topic, payload: payload)
      body.id = SampleRequest.id
      body.priority = 5
      let answer = try await SendAPITests.post(gateway, AdminPath.pushes(), body)
      #expect(answer.status == 200)
      let record = try decodeJSON(PushSendRecord.self, from: answer.body)
      #expect(record.status == 200 && record.reason == nil)
      let id = try #require(record.id.flatMap { APNSID($0) })
      let events = try await gateway.events(of: id)
      #expect(events == [.accepted, .stored])
    }
  }

  @Test func `a refusal has the reason and the rule of the provider API`() async throws {
    try await TestGateway.run { gateway in
      let device = try await gateway.enroll()
      try SendAPITests.keepKey(gateway)
      let body = PushSendRequest(token: device.token, topic: SampleRequest.topic, payload: #"{"aps":{"badge":-1}}"#)
      let answer = try await SendAPITests.post(gateway, AdminPath.pushes(), body)
      #expect(answer.status == 200)
      let record = try decodeJSON(PushSendRecord.self, from: answer.body)
      #expect(record.status == 403 && record.reason == "Forbidden" && record.rule == "B1" && record.at == "/aps/badge")
    }
  }

  @Test func `without a key, and with a text that no field can have, nothing is sent`() async throws {
    try await TestGateway.run { gateway in
      let device = try await gateway.enroll()
      var body = PushSendRequest(token: device.token, topic: SampleRequest.topic, payload: "{}")
      let keyless = try await SendAPITests.post(gateway, AdminPath.pushes(), body)
      #expect(keyless.status == 409)
      try SendAPITests.keepKey(gateway)
      body.collapseID = "a\r\nb"
      let split = try await SendAPITests.post(gateway, AdminPath.pushes(), body)
      #expect(split.status == 400)
      body.topic = "com.example.none"
      let unknown = try await SendAPITests.post(gateway, AdminPath.pushes(), body)
      #expect(unknown.status == 404)
    }
  }

  @Test func `a check has the findings and the decision, and leaves no trace`() async throws {
    try await TestGateway.run { gateway in
      _ = try await gateway.enroll("laptop")
      let setting = PreferencesRequest(settings: ["sound=off"], app: nil, category: nil)
      _ = try await SendAPITests.post(gateway, AdminPath.preferences("laptop"), setting)
      let payload = #"{"aps":{"alert":{"title":"hello world"},"sound":"chime","badge":1}}"#
      let body = PushCheckRequest(payload: payload, device: "laptop", topic: SampleRequest.topic)
      let answer = try await SendAPITests.post(gateway, AdminPath.pushCheck(), body)
      let record = try decodeJSON(PushCheckRecord.self, from: answer.body)
      #expect(record.findings.contains { $0.rule == "T5" && $0.at == "/aps/alert/title" })
      #expect(record.presented == ["badge", "alert"])
      #expect(record.removed?.map(\.rule) == ["N4"] && record.removed?.map(\.setting) == ["sound"])
      #expect(record.refused == nil)
      let rows = try await gateway.rows(DeliveryLog.Query())
      #expect(rows.isEmpty)
      let audit = try await gateway.parts.audit.records(before: nil, limit: 10)
      #expect(audit.map(\.path) == [AdminPath.preferences("laptop")])
    }
  }

  @Test func `a check says for which rule the gateway would refuse the push`() async throws {
    try await TestGateway.run { gateway in
      _ = try await gateway.enroll("laptop")
      let body = PushCheckRequest(payload: #"{"aps":{"badge":-1}}"#, device: "laptop", topic: SampleRequest.topic)
      let answer = try await SendAPITests.post(gateway, AdminPath.pushCheck(), body)
      let record = try decodeJSON(PushCheckRecord.self, from: answer.body)
      #expect(record.refused?.map(\.rule) == ["B1"])
      let broken = PushCheckRequest(payload: "{", device: "laptop", topic: SampleRequest.topic)
      let other = try await SendAPITests.post(gateway, AdminPath.pushCheck(), broken)
      let findings = try decodeJSON(PushCheckRecord.self, from: other.body)
      #expect(findings.findings.map(\.rule) == ["JSON"] && findings.presented == nil)
    }
  }
}
