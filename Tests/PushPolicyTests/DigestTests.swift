import PushPolicy
import Testing

@Suite struct AlertHistoryTests {
  @Test func `alerts count for an hour`() {
    var history = AlertHistory<Int>()
    history.note(1, at: 100)
    history.note(2, at: 200)
    #expect(history.count(at: 3699, without: 9) == 2)
    #expect(history.count(at: 3700, without: 9) == 1)
    #expect(history.count(at: 3800, without: 9) == 0)
    #expect(history.isOver(at: 3800))
  }

  @Test func `after the clock was set back, alerts count for an hour at most`() {
    var history = AlertHistory<Int>()
    for (id, time) in [(1, 20_000), (2, 20_100)] { history.note(id, at: Int64(time)) }
    #expect(history.count(at: 10_000, without: 9) == 2)
    history.note(3, at: 11_000)
    #expect(history.count(at: 13_599, without: 9) == 3)
    #expect(history.count(at: 13_600, without: 9) == 1)
  }

  @Test func `an alert that is told late has its place`() {
    var history = AlertHistory<Int>()
    for (id, time) in [(1, 100), (3, 300), (2, 200), (0, 50)] { history.note(id, at: Int64(time)) }
    #expect(history.recent(at: 400).map(\.id) == [0, 1, 2, 3])
    #expect(history.recent(at: 3750).map(\.id) == [2, 3] && history.count(at: 3750, without: 9) == 2)
    #expect(history.isOver(at: 3900) && !history.isOver(at: 3899))
  }

  @Test func `a push that is decided again does not count itself and what came after it`() {
    var history = AlertHistory<Int>()
    for id in 1...3 { history.note(id, at: 100) }
    history.note(2, at: 101)
    #expect((1...4).map { history.count(at: 100, without: $0) } == [0, 1, 2, 3])
  }
}

extension AlertHistoryTests {
  @Test func `no more alerts are in memory than the largest budget has`() {
    var history = AlertHistory<Int>()
    let count = AlertHistory<Int>.maximumCount
    for id in 0..<count + 5 { history.note(id, at: Int64(id)) }
    #expect(history.recent(at: 1).map(\.id) == Array(5..<count + 5))
    #expect(history.count(at: 1, without: -1) == count)
  }
}

@Suite struct PushSummaryTests {
  func entry(
    _ id: String, _ topic: String = "a", relevance: Double = 0, badge: Int? = nil, at received: Int64,
    collapse: String = ""
  ) -> SummaryEntry {
    SummaryEntry(
      id: id, topic: topic, app: topic.uppercased(), title: "t\(id)", relevance: relevance, badge: badge,
      received: received, collapseID: collapse)
  }

  @Test func `the most relevant comes first, the newest among equals`() {
    let digest = PushSummary([
      entry("1", at: 1), entry("2", relevance: 0.5, at: 2), entry("3", at: 3), entry("4", relevance: 1, at: 0),
    ])
    #expect(digest.entries.map(\.id) == ["4", "2", "3", "1"])
  }

  @Test func `what comes twice is told once, and what was replaced is not`() {
    let digest = PushSummary([
      entry("1", at: 1, collapse: "c"), entry("2", at: 2, collapse: "c"), entry("3", "b", at: 1, collapse: "c"),
      entry("2", at: 2, collapse: "c"), entry("4", at: 0), entry("5", at: 0),
    ])
    #expect(digest.entries.map(\.id).sorted() == ["2", "3", "4", "5"])
  }

  @Test func `of each app the newest badge is told`() {
    let digest = PushSummary([
      entry("1", badge: 9, at: 1), entry("2", relevance: 1, badge: 2, at: 5), entry("3", at: 6),
      entry("4", "b", badge: 0, at: 1),
    ])
    #expect(digest.badges.map(\.topic) == ["a", "b"])
    #expect(digest.badges.map(\.badge) == [2, 0])
  }

  @Test func `a digest is a payload like any other`() throws {
    let digest = PushSummary((1...7).map { entry("\($0)", relevance: Double(-$0), at: 0) })
    let text = String(decoding: digest.payload, as: UTF8.self)
    let parsed = try payload(text)
    #expect(parsed.violations.isEmpty && parsed.faults.isEmpty)
    let alert = try #require(parsed.notification.alert)
    #expect(alert.title == "7 Notifications")
    #expect(alert.body == "A: t1\nA: t2\nA: t3\nA: t4\nA: t5\nand 2 more")
    #expect(alert.action == .null)
    #expect(text.contains(#""digest":{"entries":[{"id":"1","topic":"a","title":"t1","relevance":-1.0},"#))
    #expect(text.hasSuffix(#"],"badges":{}}}"#))
  }

  @Test(arguments: [
    (AlertPresentation(title: "T", body: "B"), "T"), (AlertPresentation(body: "one\ntwo"), "one two"),
    (AlertPresentation(body: String(repeating: "é", count: 80)), String(repeating: "é", count: 80)),
    (AlertPresentation(body: String(repeating: "é", count: 81)), String(repeating: "é", count: 80) + "…"),
  ])
  func `an alert is one line`(_ alert: AlertPresentation, _ line: String) { #expect(SummaryEntry.line(alert) == line) }
}
