import Foundation
import HTTP2Transport
import PushTesting
import Testing

@testable import GatewayClient
@testable import GatewayProtocol
@testable import PushCore
@testable import PushGateway
@testable import PushStorage

@Suite(.timeLimit(.minutes(5))) struct ProviderAPITests {
  /// A refused request and its reason.
  struct Refusal: Sendable {
    var reason: Reason
    var method = "POST"
    /// The token in the path. Nil: the device's token.
    var path: String?
    var fields: [(HeaderName, String)] = []
    var withholds: [HeaderName] = []
    var payload = #"{"aps":{"alert":"hello"}}"#
  }

  static let long = String(repeating: "a", count: 65)

  static let refusals: [Refusal] = [
    .init(reason: .methodNotAllowed, method: "GET"), .init(reason: .methodNotAllowed, method: "PUT"),
    .init(reason: .methodNotAllowed, method: "GET", withholds: [.authorization, .apnsTopic]),
    .init(reason: .badPath, path: "/3/devices/ab"), .init(reason: .badPath, path: "/"),
    .init(reason: .badPath, path: "/3/device", withholds: [.authorization]),
    .init(reason: .duplicateHeaders, fields: [(.apnsTopic, SampleRequest.topic)]),
    .init(reason: .duplicateHeaders, fields: [(.authorization, "x")], withholds: []),
    .init(reason: .missingProviderToken, withholds: [.authorization]),
    .init(reason: .missingProviderToken, path: "/3/device/abcd", withholds: [.authorization, .apnsTopic]),
    .init(reason: .missingProviderToken, fields: [(.authorization, "basic abc")], withholds: [.authorization]),
    .init(reason: .missingProviderToken, fields: [(.authorization, "bearer")], withholds: [.authorization]),
    .init(reason: .invalidProviderToken, fields: [(.authorization, "bearer a.b.c")], withholds: [.authorization]),
    .init(reason: .badMessageId, fields: [(.apnsID, "x")]),
    .init(reason: .invalidPushType, fields: [(.apnsPushType, "x")]),
    .init(reason: .badPriority, fields: [(.apnsPriority, "7")]),
    .init(reason: .badExpirationDate, fields: [(.apnsExpiration, "x")]),
    .init(reason: .badCollapseId, fields: [(.apnsCollapseID, long)]),
    .init(reason: .missingTopic, withholds: [.apnsTopic]),
    .init(reason: .badTopic, fields: [(.apnsTopic, "*")], withholds: [.apnsTopic]),
    .init(reason: .missingDeviceToken, path: "/3/device/"),
    .init(reason: .badDeviceToken, path: "/3/device/abc"), .init(reason: .badDeviceToken, path: "/3/device/xy"),
    .init(reason: .badDeviceToken, path: "/3/device/" + String(repeating: "0", count: 64)),
    .init(reason: .badDeviceToken, path: "/3/device/" + String(repeating: "0", count: 160)),
    .init(reason: .badDeviceToken, path: "/3/device/" + String(repeating: "0", count: 402)),
    .init(reason: .payloadEmpty, payload: ""), .init(reason: .payloadEmpty, payload: "words"),
    .init(reason: .payloadEmpty, payload: "[]"), .init(reason: .payloadEmpty, payload: "{"),
    .init(reason: .payloadTooLarge, payload: payload(size: 4097)),
    .init(reason: .payloadTooLarge, payload: payload(size: 100_000)),
    .init(reason: .payloadTooLarge, fields: [(.apnsPushType, "voip")], payload: payload(size: 5121)),
    .init(reason: .deviceTokenNotForTopic, fields: [(.apnsTopic, "com.example.mail")], withholds: [.apnsTopic]),
    .init(reason: .forbidden, payload: #"{"aps":{"badge":"3"}}"#),
  ]

  /// Returns a payload of exactly this many bytes.
  static func payload(size: Int) -> String {
    #"{"aps":{"alert":""# + String(repeating: "x", count: size - 20) + #""}}"#
  }

  func text(_ answer: Client.Answer) -> String { String(decoding: answer.body, as: UTF8.self) }

  /// Sends a request that the gateway is to refuse.
  func send(_ refusal: Refusal, _ gateway: TestGateway, _ client: Client, _ token: String) async throws -> Client.Answer
  {
    let all = [try gateway.authorization(), (.apnsTopic, SampleRequest.topic)] + refusal.fields
    let withheld = all.prefix(2).filter { field in refusal.withholds.contains { "\($0)" == "\(field.0)" } }
    let kept = all.enumerated().filter { place, field in
      place >= 2 || !withheld.contains { "\($0.0)" == "\(field.0)" }
    }
    return try await client.request(
      refusal.method, refusal.path ?? "/3/device/" + token, kept.map(\.element), body: Array(refusal.payload.utf8))
  }

  @Test func `an acceptable push is accepted, with the sender's id byte for byte`() async throws {
    try await TestGateway.run { gateway in
      let (client, device) = (try await gateway.client(), try await gateway.enroll())
      for id in [SampleRequest.id, SampleRequest.id.uppercased(), SampleRequest.id.lowercased()] {
        let answer = try await gateway.push(client, to: device.token, [(.apnsID, id)])
        #expect(answer.status == 200)
        #expect(answer.body.isEmpty)
        #expect(answer.apnsID == id)
        let unique = try #require(answer.apnsUniqueID)
        #expect(APNSID(unique) != nil)
      }
      #expect(gateway.parts.mailbox.waitingCount(for: device.id) == 1)
      let answer = try await gateway.push(client, to: device.token.uppercased())
      let made = try #require(answer.apnsID)
      #expect(made == made.uppercased())
      #expect(APNSID(made) != nil)
      #expect(gateway.parts.mailbox.waitingCount(for: device.id) == 2)
    }
  }

  @Test func `every refusal has its status, its exact body and an apns-id, and the connection goes on`() async throws {
    try await TestGateway.run { gateway in
      let (client, device) = (try await gateway.client(), try await gateway.enroll())
      _ = try await gateway.registrations.putApp(
        topic: "com.example.mail", name: "Mail", icon: "M", policyMode: .enforce)
      for refusal in ProviderAPITests.refusals {
        let answer = try await send(refusal, gateway, client, device.token)
        #expect(answer.status == refusal.reason.status, "\(refusal)")
        let words = #"{"reason":"\#(refusal.reason.rawValue)""#
        #expect(
          refusal.reason == .forbidden ? text(answer).hasPrefix(words + ",") : text(answer) == words + "}", "\(refusal)"
        )
        #expect(answer.apnsID?.isEmpty == false, "\(refusal)")
        #expect(answer.apnsUniqueID == nil, "\(refusal)")
      }
      #expect(try await gateway.push(client, to: device.token).status == 200)
    }
  }

  @Test(arguments: ["x", "not-a-uuid", "!", String(repeating: "z", count: 64)])
  func `a malformed apns-id is echoed when it is short and printable`(_ id: String) async throws {
    try await TestGateway.run { gateway in
      let (client, device) = (try await gateway.client(), try await gateway.enroll())
      let answer = try await gateway.push(client, to: device.token, [(.apnsID, id)])
      #expect(answer.apnsID == id)
      #expect(text(answer) == #"{"reason":"BadMessageId"}"#)
      for other in [id + String(repeating: "z", count: 64), "a b", ""] {
        let answer = try await gateway.push(client, to: device.token, [(.apnsID, other)])
        #expect(answer.apnsID.flatMap { APNSID($0) } != nil)
        #expect(answer.status == 400)
      }
    }
  }

  @Test(arguments: [("alert", 4096), ("voip", 5120), ("background", 4096)])
  func `the largest payload is accepted, and one byte more is not`(_ type: String, _ size: Int) async throws {
    try await TestGateway.run { gateway in
      let (client, device) = (try await gateway.client(), try await gateway.enroll())
      let fields: [(HeaderName, String)] = [(.apnsPushType, type)]
      let answers = [
        try await gateway.push(client, to: device.token, fields, payload: ProviderAPITests.payload(size: size)),
        try await gateway.push(client, to: device.token, fields, payload: ProviderAPITests.payload(size: size + 1)),
        try await gateway.push(client, to: device.token, fields),
      ]
      #expect(answers.map(\.status) == [200, 413, 200])
    }
  }

  @Test func `a topic's suffix names the push type`() async throws {
    try await TestGateway.run { gateway in
      let (client, device) = (try await gateway.client(), try await gateway.enroll())
      let answer = try await client.request(
        "POST", "/3/device/" + device.token,
        [try gateway.authorization(), (.apnsTopic, SampleRequest.topic + ".voip")],
        body: Array(ProviderAPITests.payload(size: 5120).utf8))
      #expect(answer.status == 200)
    }
  }

  @Test func `a token is expired after an hour, on the same connection, too`() async throws {
    try await TestGateway.run { gateway in
      let (client, device) = (try await gateway.client(), try await gateway.enroll())
      let authorization = try gateway.authorization()
      func push() async throws -> String {
        let answer = try await client.request(
          "POST", "/3/device/" + device.token, [authorization, (.apnsTopic, SampleRequest.topic)],
          body: Array("{}".utf8))
        return text(answer)
      }
      #expect(try await push() == "")
      gateway.clock.advance(seconds: 3570)
      #expect(try await push() == "")
      gateway.clock.advance(seconds: 90)
      #expect(try await push() == #"{"reason":"ExpiredProviderToken"}"#)
      #expect(try await gateway.push(client, to: device.token).status == 200)
    }
  }

  @Test(arguments: ["bearer ", "Bearer ", "BEARER  "])
  func `the scheme is read in any case`(_ scheme: String) async throws {
    try await TestGateway.run { gateway in
      let (client, device) = (try await gateway.client(), try await gateway.enroll())
      let token = try gateway.authorization().1.dropFirst(7)
      let answer = try await client.request(
        "POST", "/3/device/" + device.token, [(.authorization, scheme + token), (.apnsTopic, SampleRequest.topic)],
        body: Array("{}".utf8))
      #expect(answer.status == 200)
    }
  }

  @Test func `a removed key's token is refused on a connection that used it, every time`() async throws {
    try await TestGateway.run { gateway in
      let (client, device) = (try await gateway.client(), try await gateway.enroll())
      #expect(try await gateway.push(client, to: device.token, payload: "{}").status == 200)
      let authorization = try gateway.authorization()
      func push(_ field: (HeaderName, String)) async throws -> String {
        text(
          try await client.request(
            "POST", "/3/device/" + device.token, [field, (.apnsTopic, SampleRequest.topic)], body: Array("{}".utf8)))
      }
      #expect(try await push(authorization) == "")
      try await gateway.registrations.removeKey("ABC123DEFG")
      for _ in 0..<3 { #expect(try await push(authorization) == #"{"reason":"InvalidProviderToken"}"#) }
      #expect(try await push((.authorization, "bearer a.b.c")) == #"{"reason":"InvalidProviderToken"}"#)
      #expect(try await push(authorization) == #"{"reason":"InvalidProviderToken"}"#)
    }
  }

  @Test func `a breach of a rule is told with the rule, or only logged where the app wants it so`() async throws {
    try await TestGateway.run { gateway in
      let (client, device) = (try await gateway.client(), try await gateway.enroll())
      let payload = #"{"aps":{"badge":"3"}}"#
      let refused = try await gateway.push(client, to: device.token, payload: payload)
      let object = try JSONSerialization.jsonObject(with: Data(refused.body)) as? [String: Any]
      let policy = try #require(object?["policy"] as? [String: Any])
      #expect(policy["rule"] as? String == "B1")
      #expect(policy["at"] as? String == "/aps/badge")
      #expect(policy["evidence"] as? [String] == [#""3""#])
      #expect(gateway.parts.mailbox.waitingCount(for: device.id) == 0)
      _ = try await gateway.registrations.putApp(
        topic: SampleRequest.topic, name: "News", icon: "N", policyMode: .report)
      #expect(try await gateway.push(client, to: device.token, payload: payload).status == 200)
      #expect(gateway.parts.mailbox.waitingCount(for: device.id) == 1)
    }
  }

  @Test func `wrong types in aps are logged, and refused where the app is strict`() async throws {
    try await TestGateway.run { gateway in
      let (client, device) = (try await gateway.client(), try await gateway.enroll())
      let payload = #"{"aps":{"alert":"x","category":7,"thread-id":[]}}"#
      func log(_ id: String?) async throws -> [String] {
        var query = DeliveryLog.Query()
        query.id = id.flatMap { APNSID($0) }
        return try await gateway.parts.logQueries.newest(.init(query: query)).found.map(LogRecord.init)
          .filter { ["ignored", "refused"].contains($0.event) }.map { "\($0.event) \($0.detail ?? "")" }
      }
      let accepted = try await gateway.push(client, to: device.token, payload: payload)
      #expect(accepted.status == 200)
      #expect(
        try await log(accepted.apnsID) == [
          "ignored aps /aps/category: category is a string; this is the number 7",
          "ignored aps /aps/thread-id: thread-id is a string; this is an array",
        ])
      _ = try await gateway.registrations.putApp(
        topic: SampleRequest.topic, name: "News", icon: "N", policyMode: .enforce, isStrict: true)
      let refused = try await gateway.push(client, to: device.token, payload: payload)
      #expect(refused.status == 403)
      #expect(
        text(refused)
          == #"{"reason":"Forbidden","policy":{"rule":"aps","at":"/aps/category","message":"category is a string; "#
          + #"this is the number 7","evidence":["7"]}}"#)
      #expect(
        try await log(refused.apnsID) == [
          "refused aps /aps/category: category is a string; this is the number 7; "
            + "403 Forbidden, key ABC123DEFG, team TEAM000001"
        ])
      #expect(try await gateway.push(client, to: device.token, payload: #"{"aps":{"badge":1}}"#).status == 200)
      let many = "{\"aps\":{" + (0..<20).map { _ in "\"category\":1" }.joined(separator: ",") + "}}"
      _ = try await gateway.registrations.putApp(
        topic: SampleRequest.topic, name: "News", icon: "N", policyMode: .enforce)
      let long = try await gateway.push(client, to: device.token, payload: many)
      #expect(try await log(long.apnsID).count == Limits.maximumReportedFaults)
    }
  }

  @Test func `an unregistered token is 410 with its time, and a new one works`() async throws {
    try await TestGateway.run { gateway in
      let (client, device) = (try await gateway.client(), try await gateway.enroll())
      #expect(try await gateway.push(client, to: device.token).status == 200)
      gateway.clock.advance(seconds: 7)
      let answer = try await client.request("DELETE", "/v1/device/apps/" + SampleRequest.topic, [device.authorization])
      #expect(answer.status == 204)
      gateway.clock.advance(seconds: 60)
      let refused = try await gateway.push(client, to: device.token)
      #expect(refused.status == 410)
      #expect(text(refused) == #"{"reason":"Unregistered","timestamp":1800000007000}"#)
      await gateway.parts.mailbox.settle()
      #expect(gateway.parts.mailbox.waitingCount(for: device.id) == 0)
      let registered = try await client.request("PUT", "/v1/device/apps/" + SampleRequest.topic, [device.authorization])
      let token = try JSONDecoder().decode([String: String].self, from: Data(registered.body))["token"]
      #expect(token != device.token)
      #expect(try await gateway.push(client, to: try #require(token)).status == 200)
      #expect(try await gateway.push(client, to: device.token).status == 410)
    }
  }

  @Test func `a thousand pushes at once are all answered`() async throws {
    try await TestGateway.run { gateway in
      let (client, device) = (try await gateway.client(), try await gateway.enroll())
      let statuses = try await withThrowingTaskGroup(of: Int.self) { group in
        for _ in 0..<1000 { group.addTask { try await gateway.push(client, to: device.token).status } }
        return try await group.reduce(into: [:]) { counts, status in counts[status, default: 0] += 1 }
      }
      #expect(statuses == [200: 1000])
      #expect(try await gateway.parts.mailbox.waiting(device.id) == Array(1...1000))
    }
  }

  @Test func `every reason was provoked`() async throws {
    var provoked = Set<String>()
    func note(_ answer: Client.Answer) throws {
      let object = try JSONSerialization.jsonObject(with: Data(answer.body)) as? [String: Any]
      let name = try #require(object?["reason"] as? String)
      #expect(Reason(rawValue: name)?.status == answer.status)
      #expect((object?["timestamp"] != nil) == (answer.status == 410))
      provoked.insert(name)
    }
    try await TestGateway.run(rateLimit: 1) { gateway in
      let (client, device) = (try await gateway.client(), try await gateway.enroll())
      _ = try await gateway.registrations.putApp(
        topic: "com.example.mail", name: "Mail", icon: "M", policyMode: .enforce)
      for refusal in ProviderAPITests.refusals {
        gateway.clock.advance(seconds: 1)
        try note(try await send(refusal, gateway, client, device.token))
      }
      gateway.clock.advance(seconds: 1)
      #expect(try await gateway.push(client, to: device.token).status == 200)
      try note(try await gateway.push(client, to: device.token))
      let topic: (HeaderName, String) = (.apnsTopic, SampleRequest.topic)
      try await gateway.addKey("PRODUCTION", environment: .production)
      try await gateway.addKey("MAILONLY00", topics: ["com.example.mail"])
      func noteToken(_ client: Client? = nil, _ change: (inout TokenRecipe) -> Void) async throws {
        let client = if let client { client } else { try await gateway.client() }
        try note(
          try await client.request("POST", "/3/device/" + device.token, [try gateway.authorization(change), topic]))
      }
      try await noteToken { $0.claims = #"{"iss":"TEAM000001","iat":1799990000}"# }
      try await noteToken { $0.header = #"{"alg":"ES256","kid":"PRODUCTION"}"# }
      try await noteToken { $0.header = #"{"alg":"ES256","kid":"MAILONLY00"}"# }
      try await noteToken(client) { $0.header = #"{"alg":"ES256","kid":"MAILONLY00"}"# }
      try await noteToken(client) { $0.claims = #"{"iss":"TEAM000001","iat":1800000001}"# }
      try await gateway.parts.devices.unregister(device.id, topic: SampleRequest.topic)
      try note(try await gateway.push(client, to: device.token))
      let short = try await gateway.registrations.register(
        device.id, topic: SampleRequest.topic, environment: .development,
        expires: gateway.clock.seconds * 1000 + 500, now: gateway.clock.seconds * 1000)
      gateway.clock.advance(seconds: 1)
      try note(try await gateway.push(client, to: short.token.hex))
    }
    for outcome in [AppendOutcome.unavailable, .failed] {
      try await TestGateway.run(mailbox: RefusingMailbox(outcome)) { gateway in
        let (client, device) = (try await gateway.client(), try await gateway.enroll())
        try note(try await gateway.push(client, to: device.token))
      }
    }
    let settings = ProviderSettings(environmentKeyReason: .badEnvironmentKeyIdInToken)
    try await TestGateway.run(provider: settings) { gateway in
      let (client, device) = (try await gateway.client(), try await gateway.enroll())
      try await gateway.addKey("PRODUCTION", environment: .production)
      let other = try gateway.authorization { $0.header = #"{"alg":"ES256","kid":"PRODUCTION"}"# }
      try note(try await client.request("POST", "/3/device/" + device.token, [other]))
    }
    // Tests/Interop/test_reasons.py covers the reasons that end a connection, together with all of these.
    let endings: Set<Reason> = [.badCertificate, .badCertificateEnvironment, .idleTimeout, .shutdown]
    // Tests/Interop/test_broadcast.py covers the reasons for channels.
    let broadcast: Set<Reason> = [
      .badChannelId, .badRequestParams, .badRequestPayload, .broadcastFeatureNotEnabled, .cannotCreateChannelConfig,
      .channelNotRegistered, .featureNotEnabled, .missingChannelId, .missingChannelQueueSize, .missingPushType,
      .topicMismatch,
    ]
    let rest = Set(Reason.allCases).subtracting(endings).subtracting(broadcast).map(\.rawValue)
    #expect(rest.filter { !provoked.contains($0) } == [])
  }

  // MARK: Keys and tokens of a connection (reference §4.2, §4.4)

  /// Sends a push with a token of a key, made at `issued`. Returns the reason, or an empty text if there is none.
  func push(_ gateway: TestGateway, _ client: Client, _ device: TestDevice, key: String, issued: Int64) async throws
    -> String
  {
    let token = try gateway.authorization {
      $0.header = #"{"alg":"ES256","kid":"\#(key)"}"#
      $0.claims = #"{"iss":"TEAM000001","iat":\#(issued)}"#
    }
    let answer = try await client.request(
      "POST", "/3/device/" + device.token, [token, (.apnsTopic, SampleRequest.topic)], body: Array("{}".utf8))
    let object = try? JSONSerialization.jsonObject(with: Data(answer.body)) as? [String: Any]
    return object?["reason"] as? String ?? ""
  }

  @Test(
    arguments: [
      // The seconds that pass, and the seconds between the times of the first and the second token.
      (0, 1, "TooManyProviderTokenUpdates"), (300, 300, "TooManyProviderTokenUpdates"),
      (1139, 1139, "TooManyProviderTokenUpdates"), (1140, 1140, ""), (1200, 1200, ""),
      // The first token of the connection was old already.
      (60, 1200, ""), (1200, 60, ""), (0, -1200, "TooManyProviderTokenUpdates"),
      // The clocks of both machines were set back by three hours.
      (-10_800, -10_800, ""),
    ] as [(Int64, Int64, String)])
  func `another token is accepted on a connection after twenty minutes`(
    _ wait: Int64, _ later: Int64, _ reason: String
  ) async throws {
    try await TestGateway.run { gateway in
      let (client, device) = (try await gateway.client(), try await gateway.enroll())
      let first = gateway.clock.seconds - 1200
      func push(_ issued: Int64, by client: Client) async throws -> String {
        try await self.push(gateway, client, device, key: "ABC123DEFG", issued: issued)
      }
      #expect(try await push(first, by: client) == "")
      #expect(try await push(first, by: client) == "")
      gateway.clock.advance(seconds: wait)
      #expect(try await push(first + later, by: client) == reason)
      // The state is the same after a refused change and after the same token again.
      if !reason.isEmpty { #expect(try await push(first, by: client) == "") }
      #expect(try await push(first + later, by: client) == reason)
      #expect(try await push(first + later, by: gateway.client()) == "")
    }
  }

  @Test func `tokens may change at any time where a setting says so`() async throws {
    try await TestGateway.run(provider: ProviderSettings(tokenUpdateInterval: 0)) { gateway in
      let (client, device) = (try await gateway.client(), try await gateway.enroll())
      for later in 0..<5 {
        let issued = gateway.clock.seconds - Int64(later)
        #expect(try await push(gateway, client, device, key: "ABC123DEFG", issued: issued) == "")
      }
    }
  }

  @Test func `a removed key's successor is accepted at once, on the same connection`() async throws {
    try await TestGateway.run { gateway in
      let (client, device) = (try await gateway.client(), try await gateway.enroll())
      try await gateway.addKey("OLDKEY0000", topics: [SampleRequest.topic])
      try await gateway.addKey("NEWKEY0000", topics: [SampleRequest.topic])
      let now = gateway.clock.seconds
      #expect(try await push(gateway, client, device, key: "OLDKEY0000", issued: now) == "")
      #expect(try await push(gateway, client, device, key: "NEWKEY0000", issued: now) == "UnrelatedKeyIdInToken")
      try await gateway.registrations.removeKey("OLDKEY0000")
      #expect(try await push(gateway, client, device, key: "OLDKEY0000", issued: now) == "InvalidProviderToken")
      #expect(try await push(gateway, client, device, key: "NEWKEY0000", issued: now) == "")
    }
  }

  @Test(
    arguments: [
      // The first key, the second key, and the result for the second.
      ("NEWSKEY001", "NEWSKEY002", ""), ("NEWSKEY002", "NEWSKEY001", ""),
      ("NEWSKEY001", "NEWSKEY003", "UnrelatedKeyIdInToken"), ("NEWSKEY001", "ABC123DEFG", "UnrelatedKeyIdInToken"),
      ("ABC123DEFG", "NEWSKEY001", "UnrelatedKeyIdInToken"), ("ABC123DEFG", "TEAMKEY002", ""),
      ("ABC123DEFG", "OTHERTEAM1", "InvalidProviderToken"),
    ])
  func `a connection takes keys of its team, and of topics only related ones`(
    _ first: String, _ second: String, _ reason: String
  ) async throws {
    try await TestGateway.run(provider: ProviderSettings(tokenUpdateInterval: 0)) { gateway in
      let (client, device) = (try await gateway.client(), try await gateway.enroll())
      try await gateway.addKey("TEAMKEY002")
      try await gateway.addKey("NEWSKEY001", topics: [SampleRequest.topic])
      try await gateway.addKey("NEWSKEY002", topics: [SampleRequest.topic], related: "NEWSKEY001")
      try await gateway.addKey("NEWSKEY003", topics: [SampleRequest.topic])
      try await gateway.registrations.addTeam("TEAM000002")
      try await gateway.registrations.addKey(
        ProviderKey(id: "OTHERTEAM1", team: "TEAM000002", publicKey: gateway.key, environment: nil, topics: nil))
      let now = gateway.clock.seconds
      #expect(try await push(gateway, client, device, key: first, issued: now) == "")
      let other = try gateway.authorization {
        $0.header = #"{"alg":"ES256","kid":"\#(second)"}"#
        if second == "OTHERTEAM1" { $0.claims = #"{"iss":"TEAM000002","iat":\#(now)}"# }
      }
      let answer = try await client.request(
        "POST", "/3/device/" + device.token, [other, (.apnsTopic, SampleRequest.topic)], body: Array("{}".utf8))
      #expect(text(answer) == (reason.isEmpty ? "" : #"{"reason":"\#(reason)"}"#))
    }
  }

  @Test func `an expired token is 410 with its time, and registering again brings a new one`() async throws {
    try await TestGateway.run { gateway in
      let (client, device) = (try await gateway.client(), try await gateway.enroll())
      try await gateway.parts.devices.unregister(device.id, topic: SampleRequest.topic)
      func register() async throws -> String {
        let now = gateway.clock.wallClock.milliseconds()
        return try await gateway.registrations.register(
          device.id, topic: SampleRequest.topic, environment: .development, expires: now + 60_000, now: now
        ).token.hex
      }
      let token = try await register()
      #expect(try await register() == token)
      gateway.clock.advance(seconds: 59)
      #expect(try await gateway.push(client, to: token).status == 200)
      gateway.clock.advance(seconds: 1)
      let refused = try await gateway.push(client, to: token)
      #expect(refused.status == 410)
      #expect(text(refused) == #"{"reason":"ExpiredToken","timestamp":1800000060000}"#)
      let next = try await register()
      #expect(next != token)
      #expect(try await gateway.push(client, to: next).status == 200)
    }
  }

  @Test(
    arguments: [
      // Type, suffix of the topic, priority, and the answer of a strict gateway.
      ("alert", "", "10", ""), ("background", "", "5", ""), ("background", "", nil, ""),
      ("background", "", "10", "BadPriority"), ("voip", ".voip", "10", ""), ("voip", "", nil, "TopicDisallowed"),
      ("alert", ".voip", nil, "TopicDisallowed"), ("liveactivity", ".push-type.liveactivity", "5", ""),
      ("pushtotalk", ".voip-ptt", "10", ""), ("pushtotalk", ".voip", "10", "TopicDisallowed"),
    ] as [(String, String, String?, String)])
  func `a push type that contradicts topic or priority is refused where a setting says so`(
    _ type: String, _ suffix: String, _ priority: String?, _ reason: String
  ) async throws {
    for isStrict in [false, true] {
      try await TestGateway.run(provider: ProviderSettings(checksPushType: isStrict)) { gateway in
        let (client, device) = (try await gateway.client(), try await gateway.enroll())
        let fields: [(HeaderName, String)] = [
          try gateway.authorization(), (.apnsTopic, SampleRequest.topic + suffix), (.apnsPushType, type),
        ]
        let answer = try await client.request(
          "POST", "/3/device/" + device.token, fields + (priority.map { [(.apnsPriority, $0)] } ?? []),
          body: Array("{}".utf8))
        #expect(text(answer) == (reason.isEmpty || !isStrict ? "" : #"{"reason":"\#(reason)"}"#))
      }
    }
  }

  @Test func `the app's own id with a suffix that nobody knows is TopicDisallowed`() async throws {
    try await TestGateway.run { gateway in
      let (client, device) = (try await gateway.client(), try await gateway.enroll())
      _ = try await gateway.registrations.putApp(
        topic: SampleRequest.topic + ".beta", name: "Beta", icon: "B", policyMode: .enforce)
      for (topic, reason) in [
        (".unknown", "TopicDisallowed"), (".beta", "DeviceTokenNotForTopic"), (".voip", ""),
      ] {
        let answer = try await client.request(
          "POST", "/3/device/" + device.token,
          [try gateway.authorization(), (.apnsTopic, SampleRequest.topic + topic)], body: Array("{}".utf8))
        #expect(text(answer) == (reason.isEmpty ? "" : #"{"reason":"\#(reason)"}"#))
      }
    }
  }
}
