import GatewayProtocol
import PushPolicy
import Testing

@testable import pushcli

@Suite struct ExecCommandsTests {
  let commands = ExecCommands(
    everything: "all",
    pairs: ["com.example.news=news", "critical=loud=er", "answered=tell", "retracted=forget", "=none", "nothing="])

  func push(_ topic: String, level: String = "active", _ aps: String = "", _ rest: String = "") throws -> DevicePush {
    let line = """
      {"type":"push","seq":7,"id":"an-id","topic":"\(topic)","app":{"name":"News\\u001b[31m"},\
      "received":"2026-11-21T14:03:09.123Z","presentation":{"alert":{"title":"Hi","buttons":["Close","View"]}},\
      "payload":{"aps":{"interruption-level":"\(level)"\(aps)}\(rest)}}
      """
    return try #require(DevicePush(line: Array(line.utf8), parser: JSONParser()))
  }

  @Test func `an app's command comes before a level's, and that before all's`() throws {
    #expect(commands.command(for: try push("com.example.news", level: "critical")) == "news")
    #expect(commands.command(for: try push("com.example.other", level: "critical")) == "loud=er")
    #expect(commands.command(for: try push("com.example.other")) == "all")
    #expect(commands.answered == "tell")
    #expect(commands.retracted == "forget")
    #expect(!ExecCommands(everything: nil, pairs: ["retracted=x"]).isEmpty)
    #expect(ExecCommands(everything: nil, pairs: ["critical=x"]).command(for: try push("com.example.news")) == nil)
    #expect(ExecCommands(everything: nil, pairs: []).isEmpty)
  }

  @Test func `a command for a retraction gets the id of the push`() {
    let command = PushCommand(retracted: "an-id", topic: "com.example.news", "forget")
    #expect(
      command.environment == ["PUSH_EVENT": "retracted", "PUSH_ID": "an-id", "PUSH_TOPIC": "com.example.news"])
    #expect(command.seq == 0)
  }

  @Test func `a command gets all fields, and nothing that a terminal obeys`() throws {
    let push = try push(
      "com.example.news", level: "time-sensitive", #","thread-id":"t""#, #","url":"https://example.com/a""#)
    let environment = PushCommand(push, "all").environment
    let expected = [
      "PUSH_EVENT": "push", "PUSH_ID": "an-id", "PUSH_SEQ": "7", "PUSH_TOPIC": "com.example.news", "PUSH_TITLE": "Hi",
      "PUSH_LEVEL": "time-sensitive", "PUSH_THREAD": "t", "PUSH_LINK": "https://example.com/a",
      "PUSH_RECEIVED": "2026-11-21T14:03:09Z", "PUSH_PRESENTED": "alert", "PUSH_ANSWERS": "close view",
      "PUSH_APP": "News",
    ]
    for (name, value) in expected { #expect(environment[name] == value) }
    let answer = PushCommand(push, answer: "view", "all").environment
    #expect((answer["PUSH_EVENT"], answer["PUSH_ANSWER"]) == ("answered", "view"))
  }

  @Test(arguments: [("0.25", 0.25), ("7", 1), ("-1", 0), (#""1""#, 1)])
  func `a sender's volume is a share`(written: String, volume: Double) throws {
    let push = try push("com.example.news", #","sound":{"name":"ding","volume":\#(written)}"#)
    #expect(push.soundVolume == volume)
  }
}
