import Foundation
import PushPolicy
import Testing

@testable import PushCore
@testable import PushGateway

/// The formats of webhooks, on recorded bodies of each service (`Tests/Webhooks`).
@Suite struct WebhookFormatTests {
  private static let folder = URL(filePath: #filePath).appending(path: "../../../Webhooks").standardized

  /// Returns a recorded body.
  static func body(_ name: String) throws -> [UInt8] {
    Array(try Data(contentsOf: folder.appending(path: name + ".json")))
  }

  struct Case: Sendable, CustomTestStringConvertible {
    var name: String
    var hook: Hook
    var expected: HookReading

    init(_ name: String, _ kind: HookKind, _ expected: HookReading, fields: [String: String]? = nil) {
      (self.name, hook, self.expected) = (name, Hook(kind, fields: fields), expected)
    }

    var testDescription: String { name }
  }

  private static let group = #"{}:{alertname="HighRequestLatency"}"#

  static let cases: [Case] = [
    Case(
      "alertmanager-firing", .alertmanager,
      .message(
        HookMessage(
          subject: group,
          [
            .title: "HighRequestLatency (2)", .body: "Requests on api-1 are slow\nRequests on api-2 are slow",
            .link: "http://prometheus.example:9090/graph?g0.expr=latency%3E2&g0.tab=1", .level: "time-sensitive",
            .sound: "default", .thread: "HighRequestLatency",
          ]))),
    Case(
      "alertmanager-resolved", .alertmanager, .message(HookMessage(subject: group, isResolved: true, [:]))),
    Case(
      "grafana-firing", .grafana,
      .message(
        HookMessage(
          subject: #"{}/{}:{alertname="High memory usage"}"#,
          [
            .title: "[FIRING:1] High memory usage (Servers blue)", .body: "db1 uses 92 % of its memory",
            .link: "https://grafana.example/d/abc?orgId=1&viewPanel=2", .sound: "default",
            .thread: "High memory usage",
          ]))),
    Case("github-ping", .github, .ignored("ping")),
    Case(
      "github-workflow-failed", .github,
      .message(
        HookMessage(
          subject: "octo-org/shop 159038 main",
          [
            .title: "octo-org/shop: Build failed", .body: "main\nCharge the card once",
            .link: "https://github.com/octo-org/shop/actions/runs/30433642", .thread: "octo-org/shop",
          ]))),
    Case(
      "github-workflow-succeeded", .github,
      .message(HookMessage(subject: "octo-org/shop 159038 main", isResolved: true, [:]))),
    Case(
      "github-pull-request", .github,
      .message(
        HookMessage([
          .title: "octo-org/shop: #347 opened", .subtitle: "by octocat", .body: "Charge the card once",
          .link: "https://github.com/octo-org/shop/pull/347", .thread: "octo-org/shop",
        ]))),
    Case(
      "github-push", .github,
      .message(
        HookMessage([
          .title: "octo-org/shop: 2 commits to main", .subtitle: "by octocat",
          .body: "Charge the card once\nName the shop in mails",
          .link: "https://github.com/octo-org/shop/compare/6113728f27ae...acb5820ced94", .thread: "octo-org/shop",
        ]))),
    Case(
      "gitlab-pipeline-failed", .gitlab,
      .message(
        HookMessage(
          subject: "shop/web pipeline main",
          [
            .title: "shop/web: pipeline failed", .body: "main\nCharge the card once",
            .link: "https://gitlab.example/shop/web/-/pipelines/31", .thread: "shop/web",
          ]))),
    Case(
      "gitlab-pipeline-succeeded", .gitlab,
      .message(HookMessage(subject: "shop/web pipeline main", isResolved: true, [:]))),
    Case(
      "gitlab-merge-request", .gitlab,
      .message(
        HookMessage([
          .title: "shop/web: #12 opened", .subtitle: "by ada", .body: "Charge the card once",
          .link: "https://gitlab.example/shop/web/-/merge_requests/12", .thread: "shop/web",
        ]))),
    Case(
      "healthchecks-down", .healthchecks,
      .message(
        HookMessage(
          subject: "803f680d-e89b-492b-82ef-2be7b774a92d",
          [
            .title: "Nightly backup is down",
            .body: "pg_dump of db1\nThe last ping came at 2026-11-21T03:30:12+00:00.", .sound: "default",
            .thread: "803f680d-e89b-492b-82ef-2be7b774a92d",
          ]))),
    Case(
      "healthchecks-up", .healthchecks,
      .message(HookMessage(subject: "803f680d-e89b-492b-82ef-2be7b774a92d", isResolved: true, [:]))),
    Case(
      "json-down", .json,
      .message(
        HookMessage(
          subject: "7",
          [
            .title: "shop.example", .body: "Connection refused", .link: "https://status.example/monitors/7",
            .badge: "3", .category: "true",
          ])),
      fields: [
        "title": "/monitor/name", "body": "/message", "link": "/monitor/url", "badge": "/heartbeat/attempts/1",
        "category": "/critical", "sound": "/monitor", "thread": "/none", "subject": "/monitor/id",
        "resolved": "/heartbeat/status",
      ]),
  ]

  @Test(arguments: cases) func `a recorded body becomes a message`(_ one: Case) throws {
    let reading = try WebhookFormat.read(try WebhookFormatTests.body(one.name), one.hook)
    #expect(reading == one.expected)
    guard case .message(let message) = reading, !message.isResolved else { return }
    let payload = try SentMessage(message.fields, now: 0).payload
    let parsed = try JSONParser().payload(payload.span)
    #expect(parsed.violations.isEmpty && parsed.faults.isEmpty)
  }

  /// Returns the message of a body that makes one.
  private func message(_ body: String, _ hook: Hook) throws -> HookMessage {
    let reading = try WebhookFormat.read(Array(body.utf8), hook)
    guard case .message(let message) = reading else { throw MessageRefusal.badMessage("\(reading)") }
    return message
  }

  @Test(
    arguments: [
      ("true", true), (#""up""#, true), (#""Resolved""#, true), ("1", true), ("false", false), (#""down""#, false),
      ("null", false), ("[true]", false),
    ])
  func `a value of any JSON ends a subject`(_ value: String, _ isResolved: Bool) throws {
    let hook = Hook(.json, fields: ["body": "/m", "subject": "/s", "resolved": "/r"])
    let message = try message(#"{"m":"x","s":"a","r":\#(value)}"#, hook)
    #expect(message.isResolved == isResolved && message.subject == "a")
    let without = try WebhookFormat.read(Array(#"{"m":"x","r":true}"#.utf8), hook)
    #expect(without == .ignored("a resolved event without a subject"))
  }

  @Test(
    arguments: [
      ("critical", "time-sensitive", "default"), ("warning", nil, "default"), ("info", "passive", nil),
      ("", nil, "default"),
    ] as [(String, String?, String?)])
  func `the severity of an alert is its level`(_ severity: String, _ level: String?, _ sound: String?) throws {
    let body = #"{"status":"firing","groupKey":"k","alerts":[{"labels":{"severity":"\#(severity)","alertname":"A"}}]}"#
    let message = try message(body, Hook(.alertmanager))
    #expect(message.fields[.level] == level && message.fields[.sound] == sound && message.fields[.title] == "A")
  }

  @Test func `a large group has a bounded message, and firing alerts keep it open`() throws {
    let alerts = (1...200).map { #"{"status":"firing","annotations":{"summary":"disk \#($0)"}}"# }
    let resolved = #"{"status":"resolved","annotations":{"summary":"gone"}}"#
    let body = #"""
      {"status":"firing","groupKey":"k","truncatedAlerts":9223372036854775807,
       "alerts":[\#((alerts + [resolved]).joined(separator: ","))]}
      """#
    let message = try message(body, Hook(.alertmanager))
    let lines = try #require(message.fields[.body]).split(separator: "\n")
    #expect(lines.count == Limits.maximumHookLines + 1 && lines.first == "disk 1")
    #expect(lines.last == "and 1000190 more" && !message.isResolved)
    #expect(message.fields[.title] == "Alert (1000200)")
  }

  @Test func `texts are cut at a character, and a link that does not fit is left out`() throws {
    let long = String(repeating: "ä\u{301}\u{7}\"", count: 5_000)
    let message = HookMessage([
      .title: long, .body: long, .thread: long, .link: "https://a.example/" + String(repeating: "x", count: 1_000),
    ])
    #expect(message.fields.values.allSatisfy { $0.utf8.count <= 1_000 && $0.hasSuffix("…") })
    #expect(message.fields[.link] == nil && message.fields.count == 3)
    #expect(try SentMessage(message.fields, now: 0).payload.count <= Limits.maximumPayloadSize)
    for link in ["javascript:alert(1)", "ftp://a", "https://a b", "https://a\"", "https://ä"] {
      #expect(HookMessage([.link: link]).fields.isEmpty, "\(link)")
    }
  }

  @Test(arguments: HookKind.allCases) func `a body of another service is refused in one line`(_ kind: HookKind) {
    let hook = Hook(kind, fields: ["body": "/text"])
    let deep = String(repeating: "[", count: 65) + String(repeating: "]", count: 65)
    for body in ["", "x", "{", "{\"a\":1e999}", "{\"a\":99999999999999999999999}", deep, "\u{0}"] {
      let refusal = WebhookFormatTests.refusal(Array(body.utf8), hook)
      #expect(refusal?.status == 400 && refusal?.message.contains("\n") == false, "\(body)")
    }
    for body in ["null", "[]", "7", "\"x\"", "{}", "{\"alerts\":[]}", "{\"alerts\":{},\"status\":1}"] {
      guard case .message(let message)? = try? WebhookFormat.read(Array(body.utf8), hook) else { continue }
      // Nothing to show is refused when the payload is made.
      #expect(message.fields.isEmpty && (try? SentMessage(message.fields, now: 0)) == nil, "\(body)")
    }
  }

  private static func refusal(_ body: [UInt8], _ hook: Hook) -> MessageRefusal? {
    do throws(MessageRefusal) {
      _ = try WebhookFormat.read(body, hook)
      return nil
    } catch {
      return error
    }
  }

  @Test(arguments: cases) func `no value of another type ends the process`(_ one: Case) throws {
    let body = try WebhookFormatTests.body(one.name)
    let root = try JSONParser().parse(body.span) { JSONValue($0) }
    let long = JSONValue.string(String(repeating: "\u{1}", count: 2_000))
    let others: [JSONValue] = [.null, true, .integer(.max), .integer(.min), .number(-1e300), "", long, [[]], [:]]
    for changed in root.changed(others) {
      let bytes = Array(try JSONEncoder().encode(changed))
      guard case .message(let message)? = try? WebhookFormat.read(bytes, one.hook) else { continue }
      guard let payload = try? SentMessage(message.fields, now: 0).payload else { continue }
      #expect(payload.count <= Limits.maximumPayloadSize)
      #expect(throws: Never.self) { _ = try JSONParser().payload(payload.span) }
    }
  }

  @Test func `a signature is that of the body with the token`() throws {
    // The example of GitHub's documentation.
    let digits = "757107ea0eb2509fc211221cce984b8a37570b6d7586c22c46f4379c8b043e17"
    let (body, token) = (Array("Hello, World!".utf8), "It's a Secret to Everybody")
    let signature = try #require(HookSignature("sha256=" + digits))
    #expect(signature.isValid(of: body, token: token))
    #expect(HookSignature("sha256=" + digits.uppercased())?.isValid(of: body, token: token) == true)
    #expect(!signature.isValid(of: body + [0], token: token) && !signature.isValid(of: body, token: "other"))
    for wrong in ["sha256=", "sha256=00", "sha256=" + digits + "0", "sha256=é" + digits.dropFirst(2)] {
      #expect(HookSignature(wrong)?.isValid(of: body, token: token) == false, "\(wrong)")
    }
    for other in [nil, "", "sha1=" + digits, "pgs-TOKEN"] { #expect(HookSignature(other) == nil) }
  }
}

extension JSONValue {
  /// Returns the documents in which one value is replaced by one of `others`.
  fileprivate func changed(_ others: [JSONValue]) -> [JSONValue] {
    var all = others
    switch self {
    case .object(let members):
      for (name, value) in members {
        all += value.changed(others).map { changed -> JSONValue in
          var members = members
          members[name] = changed
          return .object(members)
        }
      }
    case .array(let values):
      for (index, value) in values.enumerated() {
        all += value.changed(others).map { changed -> JSONValue in
          var values = values
          values[index] = changed
          return .array(values)
        }
      }
    default: break
    }
    return all
  }
}
