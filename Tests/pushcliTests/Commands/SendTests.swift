import ArgumentParser
import Foundation
import GatewayClient
import PushPolicy
import Testing

@testable import pushcli

/// The requests and results of the command `send`, without a gateway.
@Suite struct SendTests {
  private static let now = Date(timeIntervalSince1970: 1_800_000_000)
  private static let token = String(repeating: "ab", count: 32)

  private func send(_ options: String...) throws -> Send { try Send.parse(options) }

  /// Returns the fields of a push as `name: value`.
  private func head(_ send: Send, topic: String = "com.example.news") throws -> (path: String, fields: [String]) {
    let head = try send.push.head(token: Self.token, topic: topic, id: "NEW", now: Self.now)
    return (head.path, head.fields.map { "\($0): \($1)" })
  }

  @Test func `a push goes to its token, with an id of its own`() throws {
    let head = try head(try send("--token", Self.token, "--topic", "com.example.news", "--title", "T"))
    #expect(head.path == "/3/device/" + Self.token)
    #expect(
      head.fields == [
        "apnsPushType: alert", "contentType: application/json", "apnsTopic: com.example.news", "apnsID: NEW",
      ])
  }

  @Test func `what an option says is sent`() throws {
    let all = try send(
      "--token", Self.token, "--topic", "t", "--id", "I", "--priority", "5", "--collapse-id", "c", "--expires", "10m",
      "--push-type", "background")
    #expect(
      try head(all).fields == [
        "apnsPushType: background", "contentType: application/json", "apnsTopic: com.example.news", "apnsID: I",
        "apnsPriority: 5", "apnsCollapseID: c", "apnsExpiration: 1800000600",
      ])
    #expect(try head(all, topic: "com.example.news.voip").fields.first == "apnsPushType: background")
    let voip = try send("--token", Self.token, "--topic", "t")
    #expect(try head(voip, topic: "com.example.news.voip").fields.first == "apnsPushType: voip")
  }

  @Test(
    arguments: [
      ("0", "0"), ("1800000007", "1800000007"), ("30s", "1800000030"), ("2h", "1800007200"), ("7d", "1800604800"),
    ])
  func `an expiration is a time, or a span from now`(_ text: String, _ value: String) throws {
    let fields = try head(try send("--token", Self.token, "--topic", "t", "--expires", text)).fields
    #expect(fields.last == "apnsExpiration: " + value)
  }

  @Test(arguments: ["soon", "5 parsecs", "1x", ""])
  func `any other expiration is refused before anything is sent`(_ text: String) throws {
    let send = try send("--token", Self.token, "--topic", "t", "--expires", text)
    #expect(throws: (any Error).self) { try head(send) }
  }

  @Test func `a broadcast goes to its channel, for now unless it says until when`() throws {
    let now = try head(try send("--channel", "CHANNEL==", "--topic", "t"))
    #expect(now.path == "/4/broadcasts/apps/com.example.news")
    #expect(
      now.fields == [
        "apnsPushType: liveactivity", "contentType: application/json", "apnsChannelID: CHANNEL==", "apnsRequestID: NEW",
        "apnsExpiration: 0",
      ])
    let stored = try head(try send("--channel", "CHANNEL==", "--topic", "t", "--expires", "1h"))
    #expect(stored.fields.filter { $0.hasPrefix("apnsExpiration") } == ["apnsExpiration: 1800003600"])
  }

  @Test(
    arguments: [
      [], ["--to", "a/b", "--token", "c"], ["--channel", "c", "--to", "a/b"],
      ["--to", "a/b", "--environment", "staging"], ["--to", "a/b", "--badge=-1"],
      ["--to", "a/b", "--relevance", "1.5"],
      ["--to", "a/b", "--level", "loud"], ["--to", "a/b", "--link", "ftp://x"], ["--to", "a/b", "--image", "x.png"],
      ["--to", "a/b", "--data", "aps=1"], ["--to", "a/b", "--data", "=1"], ["--to", "a/b", "--data", "text"],
      ["--to", "a/b", "--data", "a=1", "--data", "a=2"], ["--to", "a/b", "--data", "url=1", "--link", "https://x"],
    ])
  func `options that do not go together are refused`(_ options: [String]) {
    #expect(throws: (any Error).self) { try Send.parse(options) }
  }

  @Test func `a payload is made of the options, and only of those that are there`() throws {
    func payload(_ options: String...) throws -> String {
      let send = try Send.parse(["--to", "a/b"] + options)
      let source = try send.source(reading: .none)
      return String(decoding: try Payload(source, send.push.content).bytes, as: UTF8.self)
    }
    #expect(try payload("--badge", "0") == #"{"aps":{"badge":0}}"#)
    #expect(try payload("--title", "a/b") == #"{"aps":{"alert":{"title":"a/b"}}}"#)
    #expect(try payload("--title", "a", "--body", "") == #"{"aps":{"alert":{"title":"a"}}}"#)
    #expect(try payload("Hello", "there") == #"{"aps":{"alert":{"body":"Hello there"}}}"#)
    #expect(
      try payload("--link", "https://x.example", "--data", "order=4711", "--data", "empty=", "Hello")
        == #"{"aps":{"alert":{"body":"Hello"}},"empty":"","order":"4711","url":"https://x.example"}"#)
    #expect(
      try payload("--thread", "t", "--level", "time-sensitive", "--relevance", "0.5", "Hello")
        == #"{"aps":{"alert":{"body":"Hello"},"interruption-level":"time-sensitive","relevance-score":0.5,"thread-id":"t"}}"#
    )
    #expect(
      try payload("--image", "https://x/p.png", "Hello")
        == #"{"aps":{"alert":{"body":"Hello"},"mutable-content":1},"image":"https://x/p.png"}"#)
    let all = try payload(
      "--title", "T", "--subtitle", "S", "--body", "B", "--badge", "3", "--sound", "default", "--category", "C")
    let object = try #require(try JSONSerialization.jsonObject(with: Data(all.utf8)) as? [String: [String: Any]])
    #expect(object["aps"]?["alert"] as? [String: String] == ["title": "T", "subtitle": "S", "body": "B"])
    #expect(object["aps"]?["badge"] as? Int == 3)
    #expect(object["aps"]?["sound"] as? String == "default" && object["aps"]?["category"] as? String == "C")
  }

  @Test(arguments: [[], ["--title", ""], ["--title", "", ""], ["--category", "C"], ["--level", "passive"]])
  func `a push of nothing is wrong usage`(_ options: [String]) throws {
    let send = try Send.parse(["--to", "a/b"] + options)
    let source = try send.source(reading: .none)
    let failure = #expect(throws: CommandFailure.self) { try Payload(source, send.push.content) }
    #expect(failure?.exit == .usage)
  }

  @Test func `a simulator's file names its app, which is not sent`() throws {
    var payload = Payload(bytes: Array(#"{"Simulator Target Bundle":"com.example.news","aps":{"badge":1}}"#.utf8))
    #expect(payload.takeTarget() == "com.example.news")
    #expect(String(decoding: payload.bytes, as: UTF8.self) == #"{"aps":{"badge":1}}"#)
    #expect(payload.takeTarget() == nil)
    var broken = Payload(bytes: Array("{".utf8))
    #expect(broken.takeTarget() == nil && broken.bytes == Array("{".utf8))
  }

  @Test(
    arguments: [
      (400, "BadDeviceToken", .refused), (403, "Forbidden", .refused), (403, "ExpiredProviderToken", .notAuthorized),
      (410, "Unregistered", .refused), (413, "PayloadTooLarge", .refused), (429, "TooManyRequests", .unreachable),
      (500, "InternalServerError", .unreachable), (503, "ServiceUnavailable", .unreachable),
    ] as [(Int, String, Exit)])
  func `a refusal has its exit code`(_ status: Int, _ reason: String, _ exit: Exit) {
    #expect(ProviderRefusal.exit(status, reason) == exit)
  }

  /// Returns the result of the command after these events, or nil while the push is not complete.
  private func outcome(_ awaited: Send.Awaited, _ events: [String]) -> String? {
    var progress = DeliveryProgress(awaited: awaited)
    do {
      for event in events where try progress.take(event) { return "arrived at \(event)" }
      return nil
    } catch {
      return error.exit.map { "\($0)" }
    }
  }

  @Test(
    arguments: [
      (.acknowledged, ["accepted", "stored", "transmitted"], nil),
      (.acknowledged, ["accepted", "acknowledged"], "arrived at acknowledged"),
      (.viewed, ["acknowledged", "presented"], nil), (.viewed, ["presented", "viewed"], "arrived at viewed"),
      (.viewed, ["presented", "closed"], "arrived at closed"), (.closed, ["action"], "arrived at action"),
      (.acknowledged, ["suppressed", "acknowledged"], "suppressed"),
      (.viewed, ["suppressed", "presented", "viewed"], "arrived at viewed"),
      (.viewed, ["stored", "dropped"], "suppressed"), (.acknowledged, ["expired"], "suppressed"),
    ] as [(Send.Awaited, [String], String?)])
  func `a push is followed until it is there, or never will be`(
    _ awaited: Send.Awaited, _ events: [String], _ expected: String?
  ) {
    #expect(outcome(awaited, events) == expected)
  }

  private static func removal(_ part: Part, _ rule: Rule) -> Decision.Removal {
    Decision.Removal(part: part, rule: rule, setting: "a setting")
  }

  @Test(
    arguments: [
      ([.sound, .alert], [removal(.sound, .n4), removal(.alert, .n4)], true),
      ([.badge, .alert], [removal(.badge, .n5), removal(.alert, .a9)], true),
      // The sound is removed too, but the result depends on the alert, which is not shown.
      ([.sound, .alert], [removal(.sound, .n7), removal(.alert, .n5)], true),
      ([.sound, .alert], [removal(.sound, .n7), removal(.alert, .n7)], false),
      ([.sound, .alert], [removal(.sound, .n6), removal(.alert, .a8)], false),
      ([.badge, .alert], [removal(.alert, .n5)], false), ([.sound], [removal(.sound, .s4)], false),
      ([.sound], [removal(.sound, .n6)], true),
    ] as [([Part], [Decision.Removal], Bool)])
  func `waiting ends at once when nothing of the push can ever be shown`(
    _ asked: [Part], _ removed: [Decision.Removal], _ isOver: Bool
  ) throws {
    var push = PushNotification()
    if asked.contains(.badge) { push.badge = 1 }
    if asked.contains(.sound) { push.sound = .init(name: "default") }
    if asked.contains(.alert) { push.alert = .init() }
    var progress = DeliveryProgress(awaited: .viewed)
    _ = try progress.take("transmitted", .asked(RequestedPresentation(push, on: .init())))
    guard isOver else {
      #expect(try !progress.take("suppressed", .removed(removed)))
      // A suppressed alert can be found in the notification center.
      #expect(try progress.take("viewed"))
      return
    }
    let failure = #expect(throws: CommandFailure.self) { try progress.take("suppressed", .removed(removed)) }
    #expect(failure?.exit == .suppressed)
    #expect(failure?.description.contains("rule ") == true)
  }
}
