import Foundation
import HTTP2Transport
import PushTesting
import Testing

@testable import GatewayClient
@testable import PushCore
@testable import PushGateway
@testable import PushPolicy

/// The record of a test gateway: what senders send, and what becomes of it.
@Suite(.timeLimit(.minutes(5))) struct RecordedPushTests {
  let token = RecordingGateway.token

  @Test func `a push of an unknown sender to an unknown token is presented, also if it is never stored`() async throws {
    try await RecordingGateway.run { gateway in
      let client = try await gateway.client()
      let answer = try await gateway.push(client, [(.apnsExpiration, "0"), (.apnsPriority, "10")])
      #expect(answer.status == 200)
      let found = try await gateway.expect(#"{"token":"\#(token)","match":{"badge":3},"state":"presented"}"#)
      #expect(found.status == 200)
      let push = try #require(found.pushes.first)
      #expect(push["id"]?.text == answer.apnsID)
      #expect(push["topic"]?.text == RecordingGateway.topic)
      #expect(push["priority"] == 10)
      #expect(push["expiration"] == 0)
      #expect(push["presented"] == ["badge", "alert"])
      #expect(push["states"] == ["accepted", "presented"])
      #expect(push["sender"]?["key_id"] == "ABC1234567")
      #expect(push["sender"]?["team_id"] == "TEAM000001")
      #expect(push["status"] == 200)
      #expect(push.value(at: "/payload/aps/alert/title") == "Train in 5 Minutes")
    }
  }

  @Test func `a stored push is acknowledged, and its rows are events in order`() async throws {
    try await RecordingGateway.run { gateway in
      let client = try await gateway.client()
      #expect(try await gateway.push(client).status == 200)
      let found = try await gateway.expect(#"{"state":"presented"}"#)
      let number = try #require(found.pushes.first?["number"])
      #expect(number == 1)
      try await eventually {
        let push = try await gateway.call("GET", "/pushes/1").body
        guard case .array(let events)? = push["events"] else { return false }
        return events.compactMap { $0["event"]?.text }
          == ["accepted", "stored", "transmitted", "presented", "acknowledged"]
      }
    }
  }

  struct Refusal: Sendable {
    var reason: String
    var token = RecordingGateway.token
    var topic: String? = RecordingGateway.topic
    var payload = RecordingGateway.payload
  }

  @Test(arguments: [
    Refusal(reason: "BadDeviceToken", token: "abcd"), Refusal(reason: "MissingTopic", topic: nil),
    Refusal(reason: "BadTopic", topic: "no topic"), Refusal(reason: "PayloadEmpty", payload: "no JSON"),
    Refusal(reason: "PayloadTooLarge", payload: #"{"aps":{},"x":""# + String(repeating: "x", count: 4096) + #""}"#),
  ])
  func `a refused push is recorded with its reason`(_ refusal: Refusal) async throws {
    try await RecordingGateway.run { gateway in
      let client = try await gateway.client()
      var fields = [try gateway.authorization()]
      if let topic = refusal.topic { fields.append((.apnsTopic, topic)) }
      let answer = try await client.request(
        "POST", "/3/device/" + refusal.token, fields, body: Array(refusal.payload.utf8))
      #expect(answer.status >= 400)
      let found = try await gateway.expect(
        #"{"token":"\#(refusal.token)","match":{"reason":"\#(refusal.reason)"},"state":"refused"}"#)
      #expect(found.status == 200)
      #expect(found.pushes.first?["status"] == .integer(answer.status))
      #expect(found.pushes.first?["outcome"] == "refused")
    }
  }

  @Test func `a repeated id is a duplicate`() async throws {
    try await RecordingGateway.run { gateway in
      let client = try await gateway.client()
      let id = "0f8fad5b-d9cb-469f-a165-70867728950e"
      for _ in 0..<2 { #expect(try await gateway.push(client, [(.apnsID, id)]).status == 200) }
      let found = try await gateway.expect(#"{"count":2,"match":{"id*":"0f8fad5b"}}"#)
      #expect(found.pushes.compactMap { $0["outcome"]?.text } == ["accepted", "duplicate"])
    }
  }

  @Test func `a sender that changes its provider token too often is refused, as in production`() async throws {
    try await RecordingGateway.run { gateway in
      let client = try await gateway.client()
      #expect(try await gateway.push(client).status == 200)
      let other = try gateway.authorization(issued: WallClock.system.seconds - 60)
      let answer = try await gateway.push(client, authorization: other)
      #expect(answer.status == 429)
      let found = try await gateway.expect(#"{"match":{"reason":"TooManyProviderTokenUpdates"},"state":"refused"}"#)
      #expect(found.status == 200)
    }
  }

  @Test func `a strict gateway knows nobody`() async throws {
    var options = TestOptions()
    options.isStrict = true
    try await RecordingGateway.run(options) { gateway in
      let client = try await gateway.client()
      #expect(try await gateway.push(client).status == 403)
      let found = try await gateway.expect(#"{"match":{"reason":"InvalidProviderToken"},"state":"refused"}"#)
      #expect(found.pushes.count == 1)
    }
  }

  @Test func `the oldest pushes leave a full record, and are counted`() async throws {
    var options = TestOptions()
    options.keep = 2
    try await RecordingGateway.run(options) { gateway in
      let client = try await gateway.client()
      for _ in 0..<3 { _ = try await gateway.push(client) }
      let list = try await gateway.call("GET", "/pushes").body
      #expect(list.value(at: "/pushes/0/number") == 2)
      #expect(list.value(at: "/pushes/1/number") == 3)
      #expect(list["dropped"] == 1)
      // Each answer about pushes has the number, also of an expectation that may have failed for this reason.
      let failed = try await gateway.expect(#"{"match":{"title":"Bus"},"within":"1ms"}"#)
      #expect(failed.body["dropped"] == 1 && failed.body["recorded"] == 2)
      let found = try await gateway.expect(#"{"within":"1ms"}"#)
      #expect(found.body["dropped"] == 1, "\(found.body)")
      for path in ["/report", ""] {
        let answer = try await gateway.call("GET", path)
        #expect(answer.body["dropped"] == 1)
      }
      #expect(try await gateway.call("DELETE", "/pushes").body == ["removed": 2])
      #expect(try await gateway.call("GET", "/pushes").body["pushes"] == [])
    }
  }

  @Test func `two hundred expectations wait at once, and each gets its own push`() async {
    let recorder = PushRecorder(keep: 1000)
    let tokens = (0..<200).map { "token-\($0)" }
    await withTaskGroup(of: (String, [String?]).self) { group in
      for token in tokens {
        group.addTask {
          var expectation = PushExpectation(token: token)
          expectation.within = .seconds(60)
          let result = await recorder.result(of: expectation)
          return (token, result.matched.map(\.token))
        }
      }
      await eventually { recorder.waitCount == tokens.count }
      for (number, token) in tokens.enumerated().reversed() {
        var push = RecordedPush.sample(number)
        push.token = token
        recorder.add(push, at: .init(connection: 1, stream: Int32(number)))
      }
      for await (token, found) in group { #expect(found == [token]) }
    }
    #expect(recorder.waitCount == 0)
  }

  @Test func `a recording has each push as a line`() async throws {
    let folder = try TemporaryFolder()
    var options = TestOptions()
    options.keep = 1
    options.recording = folder.file("pushes")
    try await RecordingGateway.run(options) { gateway in
      let client = try await gateway.client()
      for _ in 0..<2 { _ = try await gateway.push(client) }
    }
    let lines = try folder.read("pushes").split(separator: UInt8(ascii: "\n"))
    let numbers = lines.compactMap { JSONValue(parsing: Array($0), by: JSONParser())?["number"] }
    #expect(numbers == [1, 2])
  }

  @Test func `a recording that can't be written is named as incomplete`() throws {
    let folder = try TemporaryFolder()
    let recording = try PushRecording(path: folder.file("pushes"))
    recording.write([.sample(1)])
    #expect(recording.problem == nil)
    // Each write to this device fails as on a full disk.
    let full = PushRecording(try #require(FileHandle(forWritingAtPath: "/dev/full")), path: "pushes")
    full.write([.sample(1)])
    #expect(full.problem?.hasPrefix("the recording pushes is incomplete") == true)
  }
}
