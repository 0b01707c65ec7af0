import PushTesting
import Testing

@testable import GatewayClient
@testable import GatewayProtocol
@testable import HTTP2Transport
@testable import PushCore
@testable import PushGateway
@testable import PushPolicy
@testable import PushStorage

/// The rows of refused pushes in the delivery log.
@Suite(.timeLimit(.minutes(5))) struct RefusalRowsTests {
  private let provider = ProviderAPITests()

  private func rows(_ gateway: TestGateway, _ events: Set<DeliveryEvent> = [.refused]) async throws -> [LogRecord] {
    try await gateway.endIterations()
    return try await gateway.parts.logQueries.newest(.init(query: .init(events: events))).found.map(LogRecord.init)
  }

  private func refusal(_ record: LogRecord?) -> DeliveryDetail.Refusal? {
    if case .refusal(let refusal) = record?.details { refusal } else { nil }
  }

  private func reached(_ gateway: TestGateway) -> UInt64 {
    gateway.parts.meter.loops.reduce(0) { $0 + $1.loop.limits.totals[ReachedLimit.refusalRows.rawValue] }
  }

  @Test func `every refused push leaves one row with the status and the reason of its answer`() async throws {
    try await TestGateway.run { gateway in
      let (client, device) = (try await gateway.client(), try await gateway.enroll())
      _ = try await gateway.registrations.putApp(
        topic: "com.example.mail", name: "Mail", icon: "M", policyMode: .enforce)
      var count = 0
      for refusal in ProviderAPITests.refusals {
        let answer = try await provider.send(refusal, gateway, client, device.token)
        let found = try await rows(gateway)
        guard refusal.method == "POST", refusal.path?.hasPrefix("/3/device/") ?? true else {
          #expect(found.count == count, "\(refusal)")
          continue
        }
        count += 1
        #expect(found.count == count, "\(refusal)")
        let row = self.refusal(found.last)
        #expect((row?.status, row?.reason) == (answer.status, refusal.reason.rawValue), "\(refusal)")
        if answer.apnsID.flatMap({ APNSID($0) }) != nil { #expect(found.last?.id == answer.apnsID, "\(refusal)") }
      }
      #expect(try await rows(gateway, [.accepted]).isEmpty)
    }
  }

  @Test func `a row has the sender's id, its topic, its key and the device of the token`() async throws {
    try await TestGateway.run { gateway in
      let (client, device) = (try await gateway.client(), try await gateway.enroll())
      let fields: [(HeaderName, String)] = [(.apnsID, SampleRequest.id), (.apnsPriority, "7")]
      #expect(try await gateway.push(client, to: device.token, fields).status == 400)
      let row = try #require(try await rows(gateway).last)
      #expect((row.id, row.device, row.topic) == (SampleRequest.id, device.name, SampleRequest.topic))
      #expect(
        refusal(row)
          == .init(
            status: 400, reason: "BadPriority", topic: SampleRequest.topic, keyID: "ABC123DEFG", team: TestGateway.team)
      )
      let answer = try await client.request(
        "POST", "/3/device/" + device.token, [try gateway.authorization(), (.apnsTopic, "com.example.none")])
      #expect(answer.status == 400)
      let other = try #require(try await rows(gateway).last)
      #expect((other.device, other.topic) == (device.name, "com.example.none"))
      #expect(other.detail == "400 PayloadEmpty, key ABC123DEFG, team TEAM000001")
    }
  }

  @Test func `a refused token is logged with the key and the team that it names, where they have the form of one`()
    async throws
  {
    try await TestGateway.run { gateway in
      let (client, device) = (try await gateway.client(), try await gateway.enroll())
      func send(_ change: (inout TokenRecipe) -> Void) async throws -> DeliveryDetail.Refusal? {
        let answer = try await client.request(
          "POST", "/3/device/" + device.token, [try gateway.authorization(change), (.apnsTopic, SampleRequest.topic)],
          body: Array("{}".utf8))
        #expect(answer.status == 403)
        return refusal(try await rows(gateway).last)
      }
      let unknown = try await send { $0.header = #"{"alg":"ES256","kid":"ZZZ123DEFG"}"# }
      #expect((unknown?.reason, unknown?.keyID, unknown?.team) == ("InvalidProviderToken", "ZZZ123DEFG", "TEAM000001"))
      let none = try await send { $0.header = #"{"alg":"ES256","kid":"a\u001b[31mbcde"}"# }
      #expect((none?.reason, none?.keyID, none?.team) == ("InvalidProviderToken", nil, "TEAM000001"))
    }
  }

  @Test func `rows without a valid credential are limited and counted, and those of senders are not`() async throws {
    try await TestGateway.run { gateway in
      let (client, device) = (try await gateway.client(), try await gateway.enroll())
      let count = Limits.allRefusalRows.burst
      for _ in 0..<count + 5 {
        let answer = try await client.request("POST", "/3/device/" + device.token, [(.apnsTopic, "x")])
        #expect(answer.status == 403)
      }
      #expect(try await rows(gateway).count == count)
      #expect(reached(gateway) == 5)
      #expect(try await gateway.push(client, to: device.token, payload: "").status == 400)
      let found = try await rows(gateway)
      #expect(found.count == count + 1 && refusal(found.last)?.reason == "PayloadEmpty")
      #expect(reached(gateway) == 5)
    }
  }

  @Test func `an address and all of them have as many rows as they may`() throws {
    let budget = RefusalRowLimiter()
    func taken(_ address: String, at now: Int64) -> Int {
      (0..<1_000).prefix { _ in budget.take(.init(text: address), at: now) }.count
    }
    #expect(taken("10.0.0.1", at: 0) == Limits.refusalRows.burst)
    #expect(taken("10.0.0.1", at: 9_999) == 0)
    #expect(taken("10.0.0.1", at: 10_000) == 1)
    let others = (2...100).reduce(0) { $0 + taken("10.0.0.\($1)", at: 10_000) }
    #expect(others == Limits.allRefusalRows.burst - Limits.refusalRows.burst + 9)
    #expect(taken("127.0.0.1", at: 10_000) == 0)
    #expect(taken("127.0.0.1", at: 12_000) == 2)
  }

  @Test func `a breach that is only reported is a row of its own event`() async throws {
    try await TestGateway.run { gateway in
      let (client, device) = (try await gateway.client(), try await gateway.enroll())
      _ = try await gateway.registrations.putApp(
        topic: SampleRequest.topic, name: "News", icon: "N", policyMode: .report)
      let answer = try await gateway.push(client, to: device.token, payload: #"{"aps":{"badge":-1}}"#)
      let id = try #require(answer.apnsID.flatMap { APNSID($0) })
      #expect(Set(try await gateway.events(of: id)) == [.reported, .accepted, .stored])
      let row = try #require(try await rows(gateway, [.reported]).first)
      #expect(row.detail?.hasPrefix("report only: B1 /aps/badge") == true)
    }
  }

  @Test func `a refused broadcast leaves a row, and other refused requests leave none`() async throws {
    try await TestGateway.run { gateway in
      let client = try await gateway.client()
      let authorization = try gateway.authorization()
      let path = "/4/broadcasts/apps/" + SampleRequest.topic
      #expect(try await client.request("POST", path, [authorization]).status == 400)
      let row = try #require(try await rows(gateway).last)
      #expect((row.topic, refusal(row)?.keyID) == (SampleRequest.topic, "ABC123DEFG"))
      for (method, path) in [("GET", "/3/device/ab"), ("POST", "/3/devices/ab"), ("DELETE", "/v1/pushes/ab/cd")] {
        #expect(try await client.request(method, path, [authorization]).status >= 400)
      }
      #expect(try await rows(gateway).count == 1)
    }
  }
}
