import Foundation
import Logging
import PushCore
import Testing

@testable import pushcli

@Suite struct LogTextTests {
  let entry = LogEntry(
    at: 1_795_400_691_123, .warning, event: "limit-met", "a limit was met",
    fields: [.init(name: "limit", value: "resets"), .init(name: "peer", value: "-")])

  @Test func `logfmt is pairs on a line`() {
    #expect(
      entry.logfmt
        == #"ts=2026-11-23T02:24:51.123Z level=warning event=limit-met msg="a limit was met" limit=resets peer=-"#)
  }

  @Test func `JSON is an object on a line`() throws {
    let object = try JSONSerialization.jsonObject(with: Data(entry.json)) as? [String: String]
    #expect(
      object == [
        "ts": "2026-11-23T02:24:51.123Z", "level": "warning", "event": "limit-met", "msg": "a limit was met",
        "limit": "resets", "peer": "-",
      ])
    #expect(entry.json.filter { $0 == UInt8(ascii: "\n") }.count == 1 && entry.json.last == UInt8(ascii: "\n"))
  }

  static let hostile = [
    "a\nlevel=critical msg=forged", "\u{1b}]0;owned\u{7}", "\u{9b}2J", "\u{202e}x", "a\"b\\c", "", "=", " ", "é👋", "\0",
  ]

  @Test(arguments: hostile)
  func `no text of others ends a line, or works on a terminal`(_ text: String) throws {
    var entry = LogEntry(at: 0, .info, event: nil, text, fields: [.init(name: "k", value: text)])
    let logfmt = SanitizedText(event: entry.logfmt).bytes
    let json = SanitizedText(json: entry.json, isForTerminal: true).bytes
    for bytes in [logfmt, json, entry.journal] {
      let words = String(decoding: bytes, as: UTF8.self).unicodeScalars
      #expect(words.allSatisfy { $0 == "\n" || !($0.value < 0x20 || (0x7f..<0xa0).contains($0.value)) })
      #expect(!words.contains("\u{202e}"))
    }
    #expect(logfmt.filter { $0 == 10 }.count == 1 && json.filter { $0 == 10 }.count == 1)
    let object = try #require(JSONSerialization.jsonObject(with: Data(json)) as? [String: String])
    #expect(object["msg"] == text && object["k"] == text)
    // The name of a field may contain text from outside.
    entry.fields = [.init(name: "a b=\"\n", value: "x")]
    #expect(entry.logfmt.hasSuffix(" a_b___=x"))
  }

  @Test func `a field cannot take the place of what every entry has`() throws {
    let entry = LogEntry(at: 0, .info, event: "push", "m", fields: [.init(name: "level", value: "critical")])
    let object = try JSONSerialization.jsonObject(with: Data(entry.json)) as? [String: String]
    #expect(object?["level"] == "info")
  }

  @Test func `the journal gets fields of its own`() {
    var entry = entry
    (entry.file, entry.function, entry.line) = ("PushGateway/LimitLog.swift", "note()", 7)
    entry.fields.append(.init(name: "apns-id", value: "x"))
    #expect(
      String(decoding: entry.journal, as: UTF8.self) == """
        MESSAGE=a limit was met
        PRIORITY=4
        SYSLOG_IDENTIFIER=pushgateway
        CODE_FILE=PushGateway/LimitLog.swift
        CODE_LINE=7
        CODE_FUNC=note()
        PUSHGATEWAY_EVENT=limit-met
        PUSHGATEWAY_LIMIT=resets
        PUSHGATEWAY_PEER=-
        PUSHGATEWAY_APNS_ID=x

        """)
  }

  @Test func `a value of several lines comes behind its size`() {
    var entry = entry
    entry.function = "a\nb"
    entry.file = "f"
    #expect(entry.journal.holds(Array("CODE_FUNC\n\u{3}\0\0\0\0\0\0\0a\nb\n".utf8)))
  }

  @Test func `what is too long is cut`() {
    let long = String(repeating: "é", count: 20_000)
    let metadata: Logger.Metadata = Dictionary(
      uniqueKeysWithValues: (0..<100).map { ("key\($0)", .string(long)) } + [("event", "push")])
    let event = Logging.LogEvent(
      level: .info, message: "\(long)", metadata: metadata, source: nil, file: "", function: "", line: 0)
    let entry = LogEntry(at: 0, event, metadata)
    #expect(entry.event == "push")
    #expect(entry.message.hasSuffix("…") && entry.message.utf8.count <= LogEntry.maximumMessageSize + 8)
    #expect(entry.fields.count == LogEntry.maximumFields)
    #expect(entry.fields.allSatisfy { $0.value.utf8.count <= LogEntry.maximumValueSize + 8 })
  }
}

extension [UInt8] {
  fileprivate func holds(_ part: [UInt8]) -> Bool {
    indices.contains { self[$0...].starts(with: part) }
  }
}
