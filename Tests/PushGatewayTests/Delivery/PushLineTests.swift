import PushPolicy
import Testing

@testable import GatewayProtocol
@testable import PushCore
@testable import PushGateway
@testable import PushStorage

@Suite struct PushLineTests {
  let parser = JSONParser()

  func line(_ text: String) -> DeviceLine? { DeviceLine(Array(text.utf8).span, parser: parser) }

  func text(_ line: [UInt8]) -> String { String(decoding: line, as: UTF8.self) }

  @Test(
    arguments: [
      (#"{"type":"hello"}"#, .hello(cursor: 0, isSilent: false)),
      (#"{"type":"hello","cursor":7,"silent":true,"focus":"work"}"#, .hello(cursor: 7, isSilent: true, focus: "work")),
      (#"{"type":"hello","cursor":-7,"silent":"yes"}"#, .hello(cursor: 0, isSilent: false)),
      (#" { "seq" : 9, "type" : "ack", "more" : [] } "#, .acknowledge(seq: 9)),
      (#"{"type":"ack","seq":123456789012345678}"#, .acknowledge(seq: 123_456_789_012_345_678)),
      (#"{"type":"ack","seq":1234567890123456789}"#, .acknowledge(seq: 1_234_567_890_123_456_789)),
      (#"{"type":"ack","seq":7}"#, .acknowledge(seq: 7)), (#"{"type":"ack","seq":0}"#, .acknowledge(seq: 0)),
      (#"{"type":"ack","seq":-1}"#, .acknowledge(seq: 0)), (#"{"type":"state","silent":true}"#, .state(isSilent: true)),
      (#"{"type":"state"}"#, .state(isSilent: nil)),
      (#"{"type":"state","focus":"work","silent":false}"#, .state(isSilent: false, focus: .on("work"))),
      (#"{"type":"state","focus":null}"#, .state(isSilent: nil, focus: .off)),
      (#"{"type":"state","focus":""}"#, .state(isSilent: nil, focus: .off)),
      (#"{"type":"state","focus":7}"#, .state(isSilent: nil)),
      (
        #"{"type":"ack","channel":"AAAAAAAAAAAAAAAAAAAAAA==","number":3}"#,
        .acknowledgeBroadcast(ChannelID(bytes: [UInt8](repeating: 0, count: 16))!, number: 3)
      ),
      (#"{"type":"undeliverable","seq":9}"#, .undeliverable(seq: 9)),
      (
        #"{"type":"answer","id":"00000000-0000-4000-8000-000000000005","action":"view"}"#,
        .answer(id: .number(5), action: "view")
      ),
      (
        #"{"type":"presented","id":"00000000-0000-4000-8000-000000000005","parts":["badge",3,"alert"]}"#,
        .presented(id: .number(5), parts: "badge alert")
      ),
      (#"{"type":"presented","id":"00000000-0000-4000-8000-000000000005"}"#, .presented(id: .number(5), parts: "")),
    ] as [(String, DeviceLine)])
  func `a device's line is read`(_ text: String, _ expected: DeviceLine) {
    #expect(line(text) == expected)
  }

  @Test(arguments: [
    "", "words", "[]", "null", "{}", #"{"type":5}"#, #"{"type":"HELLO"}"#, #"{"type":"ack"}"#,
    #"{"type":"ack","seq":"9"}"#, #"{"type":"ack","channel":"a","number":3}"#,
    #"{"type":"ack","channel":"AAAAAAAAAAAAAAAAAAAAAA=="}"#, #"{"type":"ack","seq":1.5}"#,
    #"{"type":"answer","id":"5","action":"view"}"#,
    #"{"type":"answer","id":"00000000-0000-4000-8000-000000000005"}"#, #"{"type":"presented","parts":[]}"#,
    #"{"type":"hello"}{"type":"hello"}"#, "{\"type\":\"hello\"",
  ])
  func `any other line is none`(_ text: String) {
    #expect(line(text) == nil)
  }

  @Test func `lines of the gateway are one line of JSON each`() {
    #expect(text(PushLine.caughtUp(7)) == #"{"type":"caught-up","seq":7}"#)
    #expect(text(PushLine.gap(.init(from: 1, to: 3, dropped: 2))) == #"{"type":"gap","from":1,"to":3,"dropped":2}"#)
    #expect(text(PushLine.bye("shutdown")) == #"{"type":"bye","reason":"shutdown"}"#)
    #expect(
      text(PushLine.retract(.number(10))) == #"{"type":"retract","id":"00000000-0000-4000-8000-00000000000a"}"#)
    #expect(
      text(PushLine.preferences(Array("{}".utf8))) == #"{"type":"preferences","preferences":{}}"#)
  }

  @Test func `names are escaped`() {
    let device = Device(id: 1, uuid: "u", name: "a\"b", person: PersonID(row: 1))
    let app = App(id: 1, topic: "t", name: "\n", icon: "\\", policyMode: .enforce)
    #expect(
      text(PushLine.welcome(device: device, apps: [app, app], preferences: Array("{}".utf8)))
        == #"{"type":"welcome","gateway":"pushgateway","device":"a\"b","apps":["#
        + #"{"topic":"t","name":"\n","icon":"\\"},{"topic":"t","name":"\n","icon":"\\"}],"preferences":{}}"#
    )
  }
}
