import GatewayProtocol
import PushPolicy
import TerminalUI
import Testing

@testable import pushcli

@Suite struct CenterTests {
  /// A phone with two alerts of a thread and a single one in News, and one in Mail. All are answered, and the newest is
  /// not from Mail.
  private var center: PhoneModel {
    Sample.phone(ScreenTests.answered + [.key(.character("2"))])
  }

  private func ids(_ phone: PhoneModel) -> [String] { phone.state.entries.map(\.push.id) }

  @Test func `rows stand by app and thread, newest first`() {
    let state = center.state
    let rows = CenterList(state, CenterSearch()).rows
    #expect(
      rows.map(\.key) == [
        .app("com.example.news"), .thread(topic: "com.example.news", id: "quakes"), .entry(4), .entry(1), .entry(3),
        .app("com.example.mail"), .entry(2),
      ])
    #expect(CenterList(state, CenterSearch(text: "CHILE")).rows.count == 4)
    #expect(CenterList(state, CenterSearch(text: "nothing of the kind")).rows.isEmpty)
  }

  @Test func `an app is cleared, and undo says and brings back what was there (L5)`() {
    var phone = center
    let before = phone.state.entries
    phone.press("d")
    #expect(ids(phone) == ["push-4"])
    #expect(phone.keyBindings.contains { $0.help == "Undo Clear News" })
    phone.press("u")
    #expect(phone.state.entries == before)
    #expect(phone.notice == "Undid Clear News · U does it again")
    #expect(phone.undo == nil)
  }

  @Test func `a thread, one and several are cleared`() {
    var phone = center
    phone.press(.down)
    phone.press("d")
    #expect(ids(phone) == ["push-4", "push-5"])
    phone = center
    phone.press(.end)
    phone.press(.delete)
    #expect(ids(phone) == ["push-3", "push-5", "push-6"])
    phone = center
    for key in [Key.down, .down, .character(" "), .down, .character(" "), .home] { phone.press(key) }
    #expect(phone.center.marked == [4, 3])
    phone.press("d")
    #expect(ids(phone) == ["push-3", "push-4"])
    #expect(phone.undo?.title == "Clear 2 Notifications")
    #expect(phone.center.marked.isEmpty)
  }

  @Test func `everything is cleared only after the sheet was asked (X1)`() {
    var phone = center
    phone.press("D")
    #expect(phone.sheet?.titles == ["Clear All Notifications", "Cancel"])
    phone.press(.return)
    #expect(phone.sheet == nil && phone.state.entries.count == 4)
    phone.press("D")
    phone.press("1")
    #expect(phone.sheet == nil && phone.state.entries.isEmpty)
    phone.press("u")
    #expect(phone.state.entries.count == 4)
  }

  @Test func `marking read tells nobody and keeps the rest`() {
    var phone = center
    phone.happens(.push(Sample.push(9, alert: Sample.done)))
    phone.happens(.retract(id: "none"))
    #expect(phone.state.unreadCount == 1)
    phone.press("o")
    phone.happens(.push(Sample.push(10, badge: 1)))
    #expect(phone.state.unreadCount == 0)
    #expect(phone.press("m").isEmpty)
  }

  @Test func `the search takes every letter, and escape shows everything again`() {
    var phone = center
    for key in "/qd?s" { phone.press(key) }
    #expect(phone.center.search == "qd?s" && phone.center.isTyping)
    phone.press(.backspace)
    phone.press(.return)
    #expect(phone.center.search == "qd?" && !phone.center.isTyping)
    phone.press(.escape)
    #expect(phone.center.search == nil && phone.screen == .center)
    phone.press(.escape)
    #expect(phone.screen == .home)
  }

  @Test func `an entry opens its app with it selected, and is read`() {
    var phone = center
    phone.press(.end)
    phone.press(.return)
    #expect(phone.screen == .app(topic: "com.example.mail", selected: 2))
    #expect(phone.press("y") == [.copy("Dinner at Eight?")])
    let dinner = phone.state.entries(of: "com.example.mail")[0].push
    #expect(phone.press("a") == [.reportAd(dinner)] && dinner.text == "Dinner at Eight?")
  }

  @Test func `the selection stays with its row when others come, and near when it goes`() {
    var phone = center
    phone.press(.down)
    phone.press(.down)
    #expect(phone.center.selected == .entry(4))
    phone.happens(.push(Sample.push(20, Sample.album, alert: Sample.done)))
    phone.press("o")
    let list = CenterList(phone.state, CenterSearch())
    #expect(list.rows[list.selectedIndex(phone.center)].key == .entry(4))
    phone.press("d")
    #expect(CenterList(phone.state, CenterSearch()).selectedIndex(phone.center) == 2)
  }

  @Test func `an alert that may not interrupt is in the center and nowhere else`() throws {
    let line = """
      {"type":"push","seq":7,"id":"push-7","topic":"com.example.news","app":{"name":"News","icon":"📰"},\
      "received":"2025-11-14T14:03:00.000Z","presentation":{"badge":2,\
      "centre":{"title":"Earthquake in Chile","body":"Off the coast","buttons":["Close","View"]},\
      "held":{"by":"summary","until":1763143200,"relevance":0.5}},"payload":{"aps":{}}}
      """
    let push = try #require(DevicePush(line: Array(line.utf8), parser: JSONParser()))
    #expect(push.presentation.held == Deferral(by: .summary, until: 1_763_143_200, relevance: 0.5))
    var phone = Sample.phone()
    #expect(phone.effects(.push(push)) == [.presented(id: "push-7", parts: [.badge])])
    #expect(phone.alerts.isEmpty && phone.state.unreadCount == 1)
    phone.press("2")
    #expect(phone.view(size: phone.size).text.contains("Earthquake in Chile"))
  }

  @Test func `a digest is an alert, and no app of the home screen`() {
    let digest = DeviceApp(topic: "summary", name: "Summary", icon: "")
    var phone = Sample.phone([.push(Sample.push(1, digest, alert: Sample.done))])
    #expect(phone.apps.count == 3 && phone.alerts.count == 1)
    phone.press("o")
    phone.press("2")
    #expect(phone.view(size: phone.size).text.contains("Summary"))
    phone.press(.end)
    phone.press(.return)
    #expect(phone.view(size: phone.size).text.contains("Backup Finished"), "and it is read")
    phone.press(.escape)
    #expect(phone.screen == .center)
  }
}
