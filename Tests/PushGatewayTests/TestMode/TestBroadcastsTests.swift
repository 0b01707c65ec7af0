import HTTP2Transport
import PushTesting
import Testing

@testable import GatewayClient
@testable import PushCore
@testable import PushGateway
@testable import PushPolicy

/// Broadcasts to the devices of a test gateway.
@Suite(.timeLimit(.minutes(5))) struct TestBroadcastsTests {
  static let channel = "AAECAwQFBgcICQoLDA0ODw=="
  static let goal = #"{"aps":{"timestamp":1,"event":"update","content-state":{},"alert":{"title":"Goal"}}}"#

  /// Adds a device that subscribes to channels, and returns its token.
  func device(
    _ gateway: RecordingGateway, channels: [String] = [channel], topic: String = RecordingGateway.topic,
    preferences: String? = nil
  ) async throws -> String {
    let list = channels.map { "\"\($0)\"" }.joined(separator: ",")
    let more = preferences.map { #","preferences":\#($0)"# } ?? ""
    let made = try await gateway.call("POST", "/devices", #"{"topic":"\#(topic)","channels":[\#(list)]\#(more)}"#)
    #expect(made.status == 201)
    return try #require(made.body["token"]?.text)
  }

  func send(
    _ gateway: RecordingGateway, _ client: Client, to channel: String = channel, expiration: Int64 = 0,
    id: String? = nil
  ) async throws -> Client.Answer {
    var fields: [(HeaderName, String)] = [
      try gateway.authorization(), (.apnsChannelID, channel), (.apnsPushType, "liveactivity"),
      (.apnsExpiration, String(expiration)),
    ]
    if let id { fields.append((.apnsRequestID, id)) }
    return try await client.request(
      "POST", "/4/broadcasts/apps/" + RecordingGateway.topic, fields, body: Array(TestBroadcastsTests.goal.utf8))
  }

  @Test(arguments: [0, 4_000_000_000] as [Int64])
  func `a broadcast is a push to each subscriber`(_ expiration: Int64) async throws {
    try await RecordingGateway.run { gateway in
      let (one, two) = (try await device(gateway), try await device(gateway))
      let other = try await device(gateway, channels: [])
      let client = try await gateway.client()
      let answer = try await send(gateway, client, expiration: expiration)
      #expect(answer.status == 200)
      for token in [one, two] {
        let found = try await gateway.expect(
          #"{"token":"\#(token)","match":{"title":"Goal","push-type":"liveactivity"},"state":"presented"}"#)
        #expect(found.status == 200 && found.pushes.count == 1)
        #expect(found.pushes.first?["id"]?.text == answer.apnsID)
        #expect(found.pushes.first?["token"]?.text == token)
        #expect(found.pushes.first?["presented"] == ["alert"])
      }
      #expect(try await gateway.expect(#"{"token":"\#(other)","state":"any","within":"1ms"}"#).status == 417)
      // The request itself, and the two pushes.
      #expect(try await gateway.call("GET", "/pushes").body["last"] == 3)
      #expect(gateway.mode.report.first == "1 pushes; none was refused")
    }
  }

  @Test func `the preferences of each subscriber decide`() async throws {
    try await RecordingGateway.run { gateway in
      let preferences = #"{"apps":{"\#(RecordingGateway.topic)":{"alert":false}}}"#
      let silent = try await device(gateway, preferences: preferences)
      let other = try await device(gateway)
      let client = try await gateway.client()
      #expect(try await send(gateway, client).status == 200)
      #expect(try await gateway.expect(#"{"token":"\#(silent)","state":"suppressed"}"#).status == 200)
      #expect(try await gateway.expect(#"{"token":"\#(other)","state":"presented"}"#).status == 200)
      let none = try await gateway.expect(#"{"token":"\#(silent)","state":"presented","within":"1ms"}"#)
      #expect(none.status == 417)
    }
  }

  @Test func `a stored broadcast is a push to a device that subscribes later, and a retry is none`() async throws {
    try await RecordingGateway.run { gateway in
      let first = try await device(gateway)
      let client = try await gateway.client()
      let id = "0f8fad5b-d9cb-469f-a165-70867728950e"
      for _ in 0..<2 {
        #expect(try await send(gateway, client, expiration: 4_000_000_000, id: id).status == 200)
      }
      let later = try await device(gateway)
      for token in [first, later] {
        let found = try await gateway.expect(#"{"token":"\#(token)","exactly":true,"idle":"1ms","state":"presented"}"#)
        #expect(found.status == 200)
        #expect(found.pushes.first?["id"]?.text == id)
      }
    }
  }

  @Test func `the app of a channel is registered on first use, unless the gateway is strict`() async throws {
    for isStrict in [false, true] {
      var options = TestOptions()
      options.isStrict = isStrict
      try await RecordingGateway.run(options) { gateway in
        let client = try await gateway.client()
        let answer = try await client.request(
          "POST", "/1/apps/\(RecordingGateway.topic)/channels", [try gateway.authorization()],
          body: Array(#"{"message-storage-policy":1,"push-type":"LiveActivity"}"#.utf8))
        #expect(answer.status == (isStrict ? 403 : 201))
        // Requests about channels are no pushes.
        #expect(try await gateway.call("GET", "/pushes").body["last"] == 0)
      }
    }
  }

  @Test func `a broadcast to an unknown channel is refused, and recorded`() async throws {
    try await RecordingGateway.run { gateway in
      let client = try await gateway.client()
      #expect(try await send(gateway, client).status == 400)
      let found = try await gateway.expect(#"{"match":{"reason":"BadChannelId"},"state":"refused"}"#)
      #expect(found.status == 200)
    }
  }

  @Test func `a device that was removed receives no broadcast`() async throws {
    try await RecordingGateway.run { gateway in
      let token = try await device(gateway)
      #expect(try await gateway.call("DELETE", "/devices/\(token)").status == 204)
      let client = try await gateway.client()
      #expect(try await send(gateway, client).status == 200)
      #expect(try await gateway.expect(#"{"state":"accepted"}"#).status == 200)
      #expect(try await gateway.expect(#"{"token":"\#(token)","state":"any","within":"1ms"}"#).status == 417)
    }
  }

  @Test(
    arguments: [
      (#"["x"]"#, 400), (#""x""#, 400), ("[3]", 400), (#"["\#(TestBroadcastsTests.channel)"]"#, 409),
    ] as [(String, Int)])
  func `channels that can't be used are refused with the member`(_ channels: String, _ status: Int) async throws {
    try await RecordingGateway.run { gateway in
      _ = try await device(gateway, topic: "com.example.other")
      let answer = try await gateway.call(
        "POST", "/devices", #"{"topic":"\#(RecordingGateway.topic)","channels":\#(channels)}"#)
      #expect(answer.status == status)
      #expect(answer.body["field"]?.text == "channels")
    }
  }

  @Test func `a broadcast leaves a full record with its pushes`() async throws {
    var options = TestOptions()
    options.keep = 2
    try await RecordingGateway.run(options) { gateway in
      let token = try await device(gateway)
      let client = try await gateway.client()
      for _ in 0..<2 { #expect(try await send(gateway, client).status == 200) }
      let found = try await gateway.expect(#"{"token":"\#(token)","state":"presented","since":2}"#)
      #expect(found.status == 200)
      #expect(found.pushes.last?["number"] == 4)
      #expect(try await gateway.call("GET", "/pushes").body["dropped"] == 2)
    }
  }
}
