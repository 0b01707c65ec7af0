import Foundation
import PushPolicy
import Testing

@testable import pushcli

@Suite struct GatewayLineTests {
  private let parser = JSONParser(maximumDepth: JSONParser.maximumLineDepth)

  private func events(_ lines: [String], after cursor: UInt64 = 0) -> [DeviceEvent] {
    GatewayLine.events(in: Array(lines.map { $0 + "\n" }.joined().utf8), after: cursor, parser: parser)
  }

  private func push(_ seq: Int) -> String { #"{"type":"push","seq":\#(seq),"id":"x","topic":"t","payload":{}}"# }

  @Test func `pushes in a row are one event, as they came, without those that are known`() throws {
    let events = events([push(3), push(4), #"{"type":"retract","id":"x"}"#, push(4), push(0), push(5)], after: 3)
    try #require(events.count == 3)
    guard case .pushes(let first) = events[0], case .retract("x") = events[1], case .pushes(let second) = events[2]
    else {
      Issue.record("other events: \(events)")
      return
    }
    #expect(String(decoding: first.bytes, as: UTF8.self) == push(4) + "\n")
    #expect(second.lines.map(\.seq) == [0, 5])
  }

  @Test(arguments: ["", "words", "{}", #"{"type":"new"}"#, #"{"type":"new","seq":3"#, #"{"type":"gap"}"#])
  func `any other line is none`(_ line: String) {
    #expect(events([line]).isEmpty)
  }

  @Test(
    arguments: [
      (#"{"type":"push","seq":"7"}"#, 0), (#"{"type":"push","seq":7}"#, 7), (#"{"type":"push","id":"x"}"#, 0),
      (#"{"type":"push","seq":7,"id":5,"topic":"t"}"#, 7), (#"{"type":"push","seq":7,"id":"x","topic":"t""#, 7),
      (#"{"type":"push","seq":-7,"id":"#, 0), (#"{"type":"push","#, 0),
      (#"{"type":"push","seq":99999999999999999999,"id":"x","topic":"t"}"#, 0),
      (#"{"type":"push","seq":9007199254740993,"id":"x","topic":"t"}"#, 0),
      (#"{"type":"push","seq":7,"id":"x","topic":"t","payload":\#(String(repeating: "[", count: 1000))"#, 7),
    ] as [(String, UInt64)])
  func `a push that can't be read is told, once, with its number`(_ line: String, _ seq: UInt64) throws {
    let events = events([push(3), line, line, push(4)], after: 3)
    let unreadable = events.compactMap { if case .unreadable(let seq) = $0 { seq } else { nil } }
    #expect(unreadable == (seq == 0 ? [0, 0] : [seq]))
    #expect(events.allSatisfy { if case .unreadable = $0 { $0.wordsOfLoss != nil } else { $0.wordsOfLoss == nil } })
  }

  @Test func `the choices come with the welcome and when they change`() throws {
    let welcome = events([#"{"type":"welcome","gateway":"g","apps":[{"topic":"t"}],"preferences":{"badge":false}}"#])
    guard case .connected("g") = welcome[0], case .apps(let apps) = welcome[1],
      case .preferences(let first) = welcome[2]
    else {
      Issue.record("other events: \(welcome)")
      return
    }
    #expect(apps == [DeviceApp(topic: "t", name: "t", icon: "")])
    #expect(!first.parts.badge && first.parts.alert)
    let change = events([#"{"type":"preferences","preferences":{"notifications":false}}"#])
    guard case .preferences(let second) = change[0] else {
      Issue.record("other events: \(change)")
      return
    }
    #expect(!second.notifications)
  }

  @Test(arguments: ["centre", "center"])
  func `what may not interrupt is read for the lists, in both spellings`(_ key: String) throws {
    let line = #"""
      {"type":"push","seq":7,"id":"i","topic":"t","presentation":{"\#(key)":{"title":"a","subtitle":"","body":"b",\#
      "buttons":["OK"]},"held":{"by":"summary","until":1800000000,"relevance":0.5}},"payload":{"aps":{"alert":"a"}}}
      """#
    let push = try #require(DevicePush(line: Array(line.utf8), parser: parser))
    #expect(push.presentation.alert == nil && push.presentation.parts.isEmpty)
    #expect(push.presentation.held?.by == .summary)
    #expect(push.summary.headline == "a" && push.summary.detail == "b")
  }

  @Test func `a push is read whole`() throws {
    let line = #"""
      {"type":"push","seq":7,"id":"i","topic":"t","app":{"name":"News","icon":"N"},"received":"2026-02-28T23:59:59.500Z",\#
      "collapse":"c","presentation":{"badge":2,"sound":"s","alert":{"title":"a","subtitle":"","body":"b\n","buttons":["OK"]}},\#
      "payload":{"aps":{"alert":"a","badge":null,"sound":"s","thread-id":"th"},"n":{"link":"no"},"link":"https://x.org/a"}}
      """#
    let push = try #require(DevicePush(line: Array(line.utf8), parser: parser))
    #expect((push.seq, push.id, push.topic, push.collapseID, push.threadID) == (7, "i", "t", "c", "th"))
    #expect(push.received.timeIntervalSince1970 == 1_772_323_199.5)
    #expect(push.presentation.badge == 2 && push.presentation.sound?.name == "s")
    #expect(push.presentation.alert == AlertPresentation(title: "a", body: "b\n", buttons: ["OK"]))
    #expect(push.asked == [.sound, .alert])
    #expect(push.payload.hasPrefix(#"{"aps":{"alert":"a""#) && push.payload.hasSuffix(#""link":"https://x.org/a"}"#))
    #expect(push.link == "https://x.org/a")
  }

  @Test(arguments: ["2000-02-29T00:00:00.000Z", "1999-12-31T23:59:59.999Z", "2026-03-01T12:00:00.001Z"])
  func `a time is read as Foundation reads it`(_ text: String) throws {
    let expected = try Date(text, strategy: Date.ISO8601FormatStyle(includingFractionalSeconds: true))
    let date = try #require(Timestamp.date(text.utf8))
    #expect(abs(date.timeIntervalSince(expected)) < 0.000_5)
    #expect(Timestamp.date(text.dropLast().utf8) == nil)
  }

  @Test(arguments: ["javascript:alert(1)", "https://x.org/\u{1B}[2J", "https://x.org/a b", "file:///etc/passwd"])
  func `what is no link to a page, or could command a terminal, is none`(_ text: String) throws {
    var json: [UInt8] = []
    appendJSONString(text, to: &json)
    let payload = "{\"url\":\(String(decoding: json, as: UTF8.self))}"
    #expect(Sample.push(1, payload: payload).link == nil)
  }
}
