import Foundation
import PushPolicy
import Testing

@testable import GatewayProtocol

@Suite struct DevicePushTests {
  private let parser = JSONParser(maximumDepth: JSONParser.maximumLineDepth)

  @Test(arguments: ["centre", "center"])
  func `what may not interrupt is read for the lists, in both spellings`(_ key: String) throws {
    let line = #"""
      {"type":"push","seq":7,"id":"i","topic":"t","presentation":{"\#(key)":{"title":"a","subtitle":"","body":"b",\#
      "buttons":["OK"]},"held":{"by":"summary","until":1800000000,"relevance":0.5}},"payload":{"aps":{"alert":"a"}}}
      """#
    let push = try #require(DevicePush(line: Array(line.utf8), parser: parser))
    #expect(push.presentation.alert == nil && push.presentation.badge == nil && push.presentation.sound == nil)
    #expect(push.presentation.held?.by == .summary)
    #expect(push.presentation.center == AlertPresentation(title: "a", body: "b", buttons: ["OK"]))
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
    #expect(push.presentation.badge == 2 && push.presentation.sound == "s")
    #expect(push.presentation.alert == AlertPresentation(title: "a", body: "b\n", buttons: ["OK"]))
    #expect(push.asked == [.sound, .alert])
    #expect(push.payload.hasPrefix(#"{"aps":{"alert":"a""#) && push.payload.hasSuffix(#""link":"https://x.org/a"}"#))
    #expect(push.link == "https://x.org/a")
  }

  @Test(arguments: ["javascript:alert(1)", "https://x.org/\u{1B}[2J", "https://x.org/a b", "file:///etc/passwd"])
  func `what is no link to a page, or could command a terminal, is none`(_ text: String) throws {
    var line = Array(#"{"type":"push","seq":1,"id":"i","topic":"t","payload":{"url":"#.utf8)
    appendJSONString(text, to: &line)
    line += "}}".utf8
    let push = try #require(DevicePush(line: line, parser: parser))
    #expect(push.payload.contains("url") && push.link == nil)
  }
}
