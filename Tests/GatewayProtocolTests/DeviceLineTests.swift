import PushCore
import PushPolicy
import Testing

@testable import GatewayProtocol

@Suite struct DeviceLineTests {
  private static let id = APNSID("00000000-0000-4000-8000-000000000005")!

  let parser = JSONParser()

  func line(_ text: String) -> DeviceLine? { DeviceLine(Array(text.utf8).span, parser: parser) }

  @Test(
    arguments: [
      (#"{"type":"hello"}"#, .hello(cursor: 0, isSilent: false)),
      (#"{"type":"hello","cursor":7,"silent":true,"focus":"work"}"#, .hello(cursor: 7, isSilent: true, focus: "work")),
      (#"{"type":"hello","version":2,"cursor":7}"#, .hello(version: 2, cursor: 7, isSilent: false)),
      (#"{"type":"hello","version":9007,"later":[{}]}"#, .hello(version: 9007, cursor: 0, isSilent: false)),
      (#"{"type":"hello","version":0}"#, .hello(cursor: 0, isSilent: false)),
      (#"{"type":"hello","version":"2"}"#, .hello(cursor: 0, isSilent: false)),
      (#"{"type":"hello","cursor":-7,"silent":"yes"}"#, .hello(cursor: 0, isSilent: false)),
      (
        #"{"type":"hello","cursor":7,"epoch":"cell-1"}"#,
        .hello(cursor: 7, epoch: NumberingEpoch("cell-1"), isSilent: false)
      ),
      (#"{"type":"hello","cursor":7,"epoch":"a b"}"#, .hello(cursor: 7, isSilent: false)),
      (#"{"type":"hello","cursor":7,"epoch":5}"#, .hello(cursor: 7, isSilent: false)),
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
        .answer(id: Self.id, action: "view")
      ),
      (
        #"{"type":"presented","id":"00000000-0000-4000-8000-000000000005","parts":["alert","badge",3,"x","alert"]}"#,
        .presented(id: Self.id, parts: [.badge, .alert])
      ),
      (#"{"type":"presented","id":"00000000-0000-4000-8000-000000000005"}"#, .presented(id: Self.id, parts: [])),
    ] as [(String, DeviceLine)])
  func `a device's line is read`(_ text: String, _ expected: DeviceLine) {
    #expect(line(text) == expected)
  }

  @Test(arguments: [
    "", "words", "[]", "null", "{}", #"{"type":5}"#, #"{"type":"HELLO"}"#, #"{"type":"ack"}"#,
    #"{"type":"ack","seq":"9"}"#, #"{"type":"ack","channel":"a","number":3}"#,
    #"{"type":"ack","channel":"AAAAAAAAAAAAAAAAAAAAAA=="}"#, #"{"type":"ack","seq":1.5}"#,
    #"{"type":"answer","id":"5","action":"view"}"#,
    #"{"type":"answer","id":"00000000-0000-4000-8000-000000000005","action":""}"#,
    #"{"type":"answer","id":"00000000-0000-4000-8000-000000000005","action":"a b"}"#,
    #"{"type":"answer","id":"00000000-0000-4000-8000-000000000005","action":"a\nb"}"#,
    #"{"type":"answer","id":"00000000-0000-4000-8000-000000000005","action":"éé"}"#,
    #"{"type":"answer","id":"00000000-0000-4000-8000-000000000005","action":"aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa"}"#,
    #"{"type":"answer","id":"00000000-0000-4000-8000-000000000005"}"#, #"{"type":"presented","parts":[]}"#,
    #"{"type":"hello"}{"type":"hello"}"#, "{\"type\":\"hello\"",
  ])
  func `any other line is none`(_ text: String) {
    #expect(line(text) == nil)
  }

  private static let written: [(DeviceLine, String)] = [
    (
      .hello(version: DeviceProtocol.version, cursor: 7, isSilent: true, focus: "w\"k"),
      #"{"type":"hello","version":3,"cursor":7,"silent":true,"focus":"w\"k"}"#
    ),
    (
      .hello(version: DeviceProtocol.version, cursor: Limits.maximumCursor, isSilent: false),
      #"{"type":"hello","version":3,"cursor":9007199254740992,"silent":false}"#
    ),
    (
      .hello(version: DeviceProtocol.version, cursor: 7, epoch: NumberingEpoch("cell-1"), isSilent: false),
      #"{"type":"hello","version":3,"cursor":7,"epoch":"cell-1","silent":false}"#
    ),
    (.acknowledge(seq: 7), #"{"type":"ack","seq":7}"#),
    (
      .acknowledgeBroadcast(ChannelID(bytes: [UInt8](repeating: 0, count: 16))!, number: 3),
      #"{"type":"ack","channel":"AAAAAAAAAAAAAAAAAAAAAA==","number":3}"#
    ),
    (.undeliverable(seq: 9), #"{"type":"undeliverable","seq":9}"#),
    (
      .presented(id: id, parts: [.badge, .alert]),
      #"{"type":"presented","id":"00000000-0000-4000-8000-000000000005","parts":["badge","alert"]}"#
    ),
    (
      .answer(id: id, action: "a\"b"),
      #"{"type":"answer","id":"00000000-0000-4000-8000-000000000005","action":"a\"b"}"#
    ),
    (.state(isSilent: true, focus: .on("work")), #"{"type":"state","silent":true,"focus":"work"}"#),
    (.state(isSilent: nil, focus: .off), #"{"type":"state","focus":""}"#),
    (.state(isSilent: false), #"{"type":"state","silent":false}"#),
  ]

  @Test(arguments: written) func `a device's line is written, and read again`(_ line: DeviceLine, _ text: String) {
    #expect(line.text == text)
    #expect(self.line(text) == line)
  }
}
