import Foundation
import GRDB
import PushPolicy
import PushTesting
import Testing

@testable import GatewayClient
@testable import GatewayProtocol
@testable import HTTP2Transport
@testable import PushCore
@testable import PushGateway
@testable import PushStorage

/// The limits for frequent changes and for the size of tables.
@Suite(.timeLimit(.minutes(5))) struct ChangeLimitTests {
  private func change(_ client: Client, _ device: TestDevice, at path: String = "", _ body: String) async throws
    -> Client.Answer
  {
    try await client.request("PUT", "/v1/device/preferences" + path, [device.authorization], body: Array(body.utf8))
  }

  @Test func `choices that are too many are refused, by whichever route, and change nothing`() async throws {
    try await TestGateway.run { gateway in
      let (client, device) = (try await gateway.client(), try await gateway.enroll())
      #expect(try await change(client, device, #"{"badge":false}"#).status == 200)
      let before = gateway.registrations.preferences(of: device.id)
      let many = (0..<400).map { #""\#(String(repeating: "x", count: 250))\#($0)":{"badge":false}"# }.joined(
        separator: ",")
      let topics = (0..<6000).map { #""com.example.\#($0)""# }.joined(separator: ",")
      for (path, body) in [
        ("", #"{"focus":{"work":[\#(topics)]}}"#), ("", #"{"apps":{\#(many)}}"#),
        ("/apps/com.example.news", #"{"categories":{\#(many)}}"#),
      ] {
        let answer = try await change(client, device, at: path, body)
        #expect(answer.status == 400, "\(path)")
        #expect(String(decoding: answer.body, as: UTF8.self).contains("expected at most 65536 for a user"))
      }
      #expect(gateway.registrations.preferences(of: device.id) == before)
    }
  }

  @Test(arguments: [
    (EnrollmentPolicy.openOnLoopback, #"{"name":"a b"}"#, 400),
    (.invitation, #"{"name":"laptop","invitation":"guessed"}"#, 403), (.admin, #"{"name":"laptop"}"#, 403),
  ])
  func `enrollments are so many, whether or not they are refused, and administrators have no such bound`(
    _ policy: EnrollmentPolicy, _ body: String, _ status: Int
  ) async throws {
    try await TestGateway.run(options: ConnectionOptions(peer: .loopback), enrollment: policy) { gateway in
      let client = try await gateway.client()
      func enroll() async throws -> Int {
        try await client.request("POST", "/v1/devices", body: Array(body.utf8)).status
      }
      let rate = Limits.localEnrollments
      for _ in 0..<rate.burst - 1 {
        _ = gateway.parts.budgets.allowsEnrollment(from: .loopback, at: gateway.clock.seconds * 1000)
      }
      #expect(try await enroll() == status)
      #expect(try await enroll() == 429)
      #expect(gateway.parts.budgets.allowsEnrollment(from: .init(text: "192.0.2.1"), at: 0))
      gateway.clock.advance(seconds: 1)
      for _ in 0..<rate.perSecond { #expect(try await enroll() == status) }
      #expect(try await enroll() == 429)
    }
    try await TestGateway.run(enrollment: policy) { gateway in
      let client = try await gateway.client()
      let now = gateway.clock.seconds * 1000
      while gateway.parts.budgets.allowsEnrollment(from: .loopback, at: now) {}
      #expect(try await client.request("POST", "/v1/devices", body: Array(#"{"name":"laptop"}"#.utf8)).status == 201)
    }
  }

  @Test func `choices change as fast as a person changes them`() async throws {
    try await TestGateway.run { gateway in
      let (client, device) = (try await gateway.client(), try await gateway.enroll())
      let other = try await gateway.enroll("phone")
      let rate = Limits.personChanges
      for _ in 0..<rate.burst { #expect(try await change(client, device, #"{"badge":false}"#).status == 200) }
      let refused = try await change(client, device, #"{"badge":true}"#)
      #expect(refused.status == 429)
      #expect(String(decoding: refused.body, as: UTF8.self).contains("try again in a moment"))
      let assigned = try await client.request(
        "POST", "/v1/device/preferences", [device.authorization], body: Array(#"{"settings":["badge=on"]}"#.utf8))
      #expect(assigned.status == 429)
      #expect(!gateway.registrations.preferences(of: device.id).parts.badge)
      #expect(try await change(client, other, #"{"badge":false}"#).status == 200)
      gateway.clock.advance(seconds: 1)
      for _ in 0..<rate.perSecond { #expect(try await change(client, device, #"{"badge":true}"#).status == 200) }
      #expect(try await change(client, device, #"{"badge":false}"#).status == 429)
    }
  }

  @Test func `a device registers, subscribes and reports at its pace`() async throws {
    let budgets = DeviceRateLimiter()
    let rate = Limits.deviceChanges
    for _ in 0..<rate.burst { #expect(budgets.allowsChange(DeviceID(row: 1), at: 0)) }
    #expect(!budgets.allowsChange(DeviceID(row: 1), at: 0))
    #expect(budgets.allowsChange(DeviceID(row: 2), at: 0))
    try await TestGateway.run { gateway in
      let (client, device) = (try await gateway.client(), try await gateway.enroll())
      for _ in 0..<rate.burst { _ = gateway.parts.budgets.allowsChange(device.id, at: gateway.clock.seconds * 1000) }
      let report = #"{"id":"\#(SampleRequest.id)","topic":"\#(SampleRequest.topic)"}"#
      for (method, path, body) in [
        ("PUT", "/v1/device/apps/" + SampleRequest.topic, ""), ("DELETE", "/v1/device/apps/" + SampleRequest.topic, ""),
        ("PUT", "/v1/device/channels/AAAAAAAAAAAAAAAAAAAAAA==", ""),
        ("DELETE", "/v1/device/channels/AAAAAAAAAAAAAAAAAAAAAA==", ""), ("POST", "/v1/device/ads/reports", report),
      ] {
        let answer = try await client.request(method, path, [device.authorization], body: Array(body.utf8))
        #expect(answer.status == 429, "\(method) \(path)")
      }
      #expect(gateway.registrations.registrations(of: device.id).count == 1)
    }
  }

  @Test func `changes that meet are all kept`() async throws {
    let folder = try TemporaryFolder()
    let registrations = try SQLiteRegistrations(store: try SQLiteStore(path: folder.file("push.sqlite")))
    let (device, _) = try await registrations.enroll(name: "phone", person: nil)
    try await withThrowingTaskGroup(of: Void.self) { group in
      for number in 0..<30 {
        group.addTask {
          _ = try await registrations.changePreferences(of: device.person) {
            $0.apps["com.example.\(number)"] = AppPreferences()
          }
        }
      }
      try await group.waitForAll()
    }
    #expect(registrations.preferences(of: device.id).apps.count == 30)
    let reopened = try SQLiteRegistrations(store: try SQLiteStore(path: folder.file("push.sqlite")))
    #expect(reopened.preferences(of: device.id).apps.count == 30)
  }

  @Test func `the token that ended first is forgotten for a device's next one beyond the limit`() async throws {
    let folder = try TemporaryFolder()
    let store = try SQLiteStore(path: folder.file("push.sqlite"), durability: .normal)
    let registrations = try SQLiteRegistrations(store: store)
    _ = try await registrations.putApp(topic: SampleRequest.topic, name: "News", icon: "N", policyMode: .enforce)
    let (device, _) = try await registrations.enroll(name: "phone", person: nil)
    let (other, _) = try await registrations.enroll(name: "tablet", person: nil)
    func register(_ device: DeviceID, at now: Int64) async throws -> DeviceToken {
      // The registration expires at once, so that the next one creates a new token.
      try await registrations.register(
        device, topic: SampleRequest.topic, environment: .development, expires: now, now: now
      ).token
    }
    let kept = try await register(other.id, at: 1)
    var tokens: [DeviceToken] = []
    for number in 0...Limits.maximumDeviceTokens { tokens.append(try await register(device.id, at: Int64(number + 1))) }
    for home in [registrations, try SQLiteRegistrations(store: store)] {
      #expect(home.registration(tokens[0]) == nil)
      #expect(tokens.dropFirst().allSatisfy { home.registration($0) != nil })
      #expect(home.registration(kept) != nil)
    }
  }

  @Test func `a device all of whose tokens are in use gets no more`() async throws {
    let folder = try TemporaryFolder()
    let store = try SQLiteStore(path: folder.file("push.sqlite"), durability: .normal)
    let (device, _) = try await SQLiteRegistrations(store: store).enroll(name: "phone", person: nil)
    try await store.pool.write { db in
      for number in 0...Limits.maximumDeviceTokens {
        try db.execute(
          sql: "INSERT INTO app (topic, name, icon, policy_mode) VALUES (?, 'a', 'a', 'enforce')",
          arguments: ["com.example.a\(number)"])
        guard number < Limits.maximumDeviceTokens else { break }
        try db.execute(
          sql: "INSERT INTO token (token, device, app, environment) VALUES (?, ?, ?, 'development')",
          arguments: [Data(DeviceToken.random().bytes), device.id.row, db.lastInsertedRowID])
      }
    }
    let registrations = try SQLiteRegistrations(store: store)
    let topic = "com.example.a\(Limits.maximumDeviceTokens)"
    let refusal = await #expect(throws: RegistrationRefusal.self) {
      try await registrations.register(device.id, topic: topic, environment: .development)
    }
    #expect(refusal?.kind == .conflict)
    try await registrations.unregister(device.id, topic: "com.example.a5", now: 5)
    _ = try await registrations.register(device.id, topic: topic, environment: .development, expires: nil, now: 10)
  }

  @Test func `a person's name has a length`() async throws {
    let folder = try TemporaryFolder()
    let registrations = try SQLiteRegistrations(store: try SQLiteStore(path: folder.file("push.sqlite")))
    let longest = String(repeating: "x", count: ShownName.maximumSize)
    _ = try await registrations.enroll(name: "phone", person: longest)
    for name in ["", longest + "x"] {
      await #expect(throws: RegistrationRefusal.self) { try await registrations.enroll(name: "tablet", person: name) }
    }
  }

  @Test func `the database's log is moved, whoever writes`() async throws {
    let folder = try TemporaryFolder()
    let store = try SQLiteStore(path: folder.file("push.sqlite"), durability: .normal)
    let text = String(repeating: "x", count: 2 << 20)
    var largest = 0
    // Reports without a push, a third more than the limit.
    for number in 0..<22 {
      try await store.pool.write { db in
        try db.execute(
          sql: "INSERT INTO ad_report (at, device, app, apns_id, text) VALUES (1, 1, 1, ?, ?)",
          arguments: [Data([UInt8(number)]), text])
      }
      let attributes = try FileManager.default.attributesOfItem(atPath: folder.file("push.sqlite-wal"))
      largest = max(largest, attributes[.size] as? Int ?? 0)
    }
    #expect(largest > 30 << 20)
    #expect(largest < 38 << 20)
  }

  @Test func `a stranger learns what fails, and no file of this machine`() async throws {
    let full = RefusingMailbox()
    try await TestGateway.run(mailbox: full) { gateway in
      guard
        case .found(let route, _) = Router(HealthAPI(check: gateway.parts.healthCheck).routes).match(
          method: "GET", path: "/v1/health")
      else {
        Issue.record("health has a route")
        return
      }
      for isLocal in [true, false] {
        let answer = try await route.serve(
          ControlRequest(SampleRequest().message, from: isLocal ? .loopback : .remote))
        #expect(answer.status == 503)
        let health = try JSONDecoder().decode(Health.self, from: Data(answer.body))
        #expect(health.status == "degraded" && health.problems.map(\.part) == ["mailbox"])
        #expect((health.problems == [full.problem]) == isLocal)
        #expect(String(decoding: answer.body, as: UTF8.self).contains("the disk is full") == isLocal)
      }
    }
  }

  @Test func `a zone has its name, and an invalid name has none`() {
    for _ in 0..<2 {
      #expect(TimeZones.zone(named: "Mars/Olympus") == nil)
      #expect(TimeZones.zone(named: "Europe/Berlin")?.identifier == "Europe/Berlin")
    }
  }
}
