import Foundation
import GatewayProtocol
import PushPolicy
import TerminalUI
import Testing

@testable import pushcli

/// The actions of the user on the phone other than answers: search, undo, compose, retry.
@Suite struct PhoneActionTests {
  private func labels(_ phone: PhoneModel) -> Set<String> { Set(phone.keyBindings.map(\.label)) }

  // MARK: The last row

  @Test func `only what can be done with what is selected is offered`() {
    var phone = Sample.phone(ScreenTests.answered + [.key(.character("2"))])
    // The row of an app.
    #expect(!labels(phone).contains("o") && !labels(phone).contains("y") && labels(phone).contains("d"))
    phone.press(.end)
    #expect(!labels(phone).contains("o") && labels(phone).contains("y") && !labels(phone).contains("m"))
    phone = Sample.phone([.push(ScreenTests.earthquake), .key(.character("v"))])
    #expect(labels(phone).contains("o"), "it has a link")
    phone.press("d")
    #expect(!labels(phone).contains("o") && !labels(phone).contains("d") && !labels(phone).contains("↵"))
    phone = Sample.phone([.key(.character("3"))])
    #expect(!labels(phone).contains("e"), "a switch takes no text")
  }

  @Test func `r tries now while there is no connection, and the sign of it turns`() {
    var phone = Sample.phone()
    #expect(!labels(phone).contains("r"))
    phone.happens(.connection(.disconnected(lastConnected: nil, retryAt: Sample.now + 60)))
    phone.happens(.turned)
    #expect(phone.press("r") == [.retry, .awaitTurn])
    #expect(phone.connection == .connecting)
    let before = phone.view(size: phone.size).text
    #expect(phone.happens(.turned) == [.awaitTurn])
    #expect(phone.view(size: phone.size).text != before)
    phone.happens(.connection(.connected(gateway: "g")))
    #expect(phone.happens(.turned) == [], "it turns no longer")
  }

  // MARK: Undo

  @Test func `what was undone can be done again, and its title is never cut`() {
    let name = "The Quarterly Journal of Extremely Long Application Names"
    let app = DeviceApp(topic: "long", name: name, icon: "")
    for size in ReadingTests.sizes where size.holdsPhone {
      var phone = Sample.phone(
        size: size, [.push(Sample.push(1, app, alert: Sample.done)), .key(.return), .key(.character("2"))])
      phone.press("d")
      func shows(_ text: String) -> Bool {
        let shown = phone.view(size: size).text.split(whereSeparator: \.isWhitespace).joined(separator: " ")
        return shown.contains(text)
      }
      phone.press(.up)
      #expect(shows("u Undo Clear \(name)"))
      phone.press("u")
      #expect(phone.state.entries.count == 1)
      phone.press(.up)
      #expect(shows("U Redo Clear \(name)"))
      phone.press("U")
      #expect(phone.state.entries.isEmpty && phone.redo == nil && phone.undo != nil)
      phone.press("u")
      #expect(phone.state.entries.count == 1)
    }
  }

  // MARK: The search

  @Test func `a search looks in all, in what is unread, in an app, at what its sender calls so`() {
    let urgent = #"{"aps":{"interruption-level":"time-sensitive"}}"#
    var phone = Sample.phone(
      ScreenTests.answered + [
        .push(Sample.push(7, alert: Sample.done, payload: urgent)), .key(.character("o")), .key(.character("2")),
        .key(.home), .key(.character("/")),
      ])
    func found() -> [Int] {
      phone.centerList.rows.compactMap { if case .entry(_, let ordinal) = $0 { ordinal } else { nil } }.sorted()
    }
    #expect(found() == [1, 2, 3, 4, 5])
    #expect(phone.centerScopes.map(phone.title(of:)).prefix(3) == ["All", "Unread", "News"])
    phone.press(.tab)
    #expect(phone.center.scope == .unread && found() == [])
    phone.press(.tab)
    #expect(found() == [1, 3, 4, 5])
    phone.press(.tab)
    phone.press(.tab)
    #expect(phone.center.scope == .level(.timeSensitive) && found() == [5])
    phone.press(.backTab)
    phone.press(.return)
    #expect(phone.center.search != nil && phone.center.scope == .level(.critical))
    phone.press(.escape)
    #expect(phone.center.search == nil && phone.center.scope == .all && found().count == 5)
  }

  @Test func `letters of any script are found in any case`() {
    let entry = PhoneState.Entry(
      ordinal: 1, push: Sample.push(1, alert: AlertPresentation(title: "Grüße aus KÖLN", body: "Zug 12 [ok] @`{")))
    for text in ["köln", "KÖLN", "zug", "ZUG 12", "[OK]", "news", "@`{", ""] {
      #expect(CenterSearch(text: text).finds(entry), "\(text)")
    }
    for text in ["koln", "{ok}", "zug  12", "com.example"] {
      #expect(!CenterSearch(text: text).finds(entry), "\(text)")
    }
  }

  @Test func `arrows jump from app to app, in the center and in the settings`() {
    var phone = Sample.phone(ScreenTests.answered + [.key(.character("2")), .key(.right)])
    #expect(phone.center.selected == .app("com.example.mail"))
    phone.press(.right)
    #expect(phone.center.selected == .app("com.example.mail"))
    phone.press("[")
    #expect(phone.center.selected == .app("com.example.news"))
    phone.press("3")
    phone.press("]")
    let groups = SettingsGroup.groups(phone.state)
    #expect(phone.settings?.selected == groups[0].rows.count)
    phone.press("]")
    #expect(phone.settings?.selected == groups[0].rows.count + groups[1].rows.count)
    phone.press("[")
    #expect(phone.settings?.selected == groups[0].rows.count)
  }

  @Test func `keys and frames make no rows of the center anew while nothing changes`() {
    var state = PhoneState()
    for seq in 1...300 { state.apply(.received(Sample.push(UInt64(seq), alert: Sample.done))) }
    state.alerts = []
    var phone = PhoneModel(device: "studio", state: state)
    for message in [.resized(Size(columns: 80, rows: 24)), .key(.character("2"))] as [PhoneMessage] {
      phone.happens(message)
    }
    _ = phone.view(size: phone.size)
    let memo = phone.centerMemo
    let made = memo.madeCount
    for _ in 0..<50 {
      for key in [Key.down, .pageDown, .up, .right, .end, .home] { phone.press(key) }
      _ = phone.view(size: phone.size)
    }
    #expect(memo.madeCount == made)
    phone.press("d")
    _ = phone.view(size: phone.size)
    #expect(memo.madeCount == made + 1)
  }

  // MARK: Composing

  private var writing: PhoneModel {
    var phone = Sample.phone()
    phone.canCompose = true
    phone.press("w")
    return phone
  }

  @Test func `a push is written and sent where a key is at hand, and nowhere else (M1)`() {
    var phone = Sample.phone()
    #expect(phone.press("w") == [] && phone.draft == nil)
    phone = writing
    for key in "Hi?qv1" { phone.press(key) }
    phone.press(.return)
    for key in "There" { phone.press(key) }
    phone.press(.backspace)
    var draft = PushDraft(topic: "com.example.news", device: "studio")
    (draft.title, draft.body, draft.field) = ("Hi?qv1", "Ther", .body)
    #expect(phone.draft == draft)
    #expect(phone.view(size: phone.size).text.contains("New Push"))
    phone.press(.tab)
    #expect(phone.draft?.field == .send)
    draft.field = .send
    #expect(phone.press(.return).first == .send(draft))
    #expect(phone.press(.return) == [], "once")
    phone.happens(.finished(.sending, succeeded: false, notice: "refused with 400"))
    #expect(phone.draft != nil && phone.notice == "refused with 400")
    phone.press(.return)
    phone.happens(.finished(.sending, succeeded: true, notice: "Sent to studio"))
    #expect(phone.draft == nil && phone.notice == "Sent to studio")
  }

  @Test func `Cancel abandons an empty one at once, and asks before it throws words away (M5)`() {
    var phone = writing
    phone.press(.escape)
    #expect(phone.draft == nil)
    phone = writing
    phone.press("x")
    phone.press(.escape)
    #expect(phone.sheet?.titles == ["Discard Push", "Keep Editing"])
    phone.press(.escape)
    #expect(phone.draft?.title == "x")
    phone.press(.escape)
    phone.press("1")
    #expect(phone.draft == nil)
  }

  @Test func `nothing is sent to nobody, and no field grows without end`() {
    var phone = writing
    #expect(phone.press(.control("s")) == [])
    #expect(phone.notice == "Write a title or a message first")
    for _ in 0..<2_100 { phone.press("x") }
    #expect(phone.draft?.title.count == 2_000)
    phone.press(.up)
    for _ in 0..<9 { phone.press(.backspace) }
    #expect(phone.press(.control("s")) == [])
    #expect(phone.notice == "Name the device that it goes to")
    phone.press(.up)
    phone.press(.right)
    #expect(phone.draft?.topic == "com.example.mail")
  }

  @Test func `an alert that comes while one is written takes no key of it`() {
    var phone = writing
    phone.happens(.push(Sample.push(1, alert: Sample.dinner)))
    for key in "cv" { phone.press(key) }
    #expect(phone.draft?.title == "cv" && phone.alerts.count == 1)
    phone.press(.escape)
    #expect(phone.press("c") == [.answer(id: "push-1", action: "close")])
    #expect(phone.draft?.title == "cv")
  }

  // MARK: Drawing

  @Test func `a terminal of few signs gets an ASCII drawing with initials, at every size`() {
    for (encodesUTF8, colors) in [(true, 8), (false, 256)] {
      for scene in ScreenTests.scenes where scene.name != "alert-foreign" || !encodesUTF8 {
        for size in ReadingTests.sizes {
          var phone = Sample.phone(size: size, scene.messages)
          phone.form = TerminalCapabilities(drawing: .ascii, encodesUTF8: encodesUTF8, colors: colors, reason: "")
          let text = phone.view(size: size).text
          #expect(text.utf8.allSatisfy { $0 < 0x80 }, "\(scene.name)\n\(text)")
        }
      }
    }
    var phone = Sample.phone()
    phone.form = TerminalCapabilities(drawing: .ascii, encodesUTF8: true, colors: 8, reason: "")
    #expect(phone.view(size: phone.size).text.contains("FA"), "Family Album")
    #expect(phone.view(size: phone.size).text.contains("Enter open"))
  }

  @Test func `a sheet on a small screen leaves its question in sight`() {
    for size in ReadingTests.sizes where size.rows > 5 {
      let phone = Sample.phone(size: size, [.push(Sample.push(1, alert: Sample.deploy)), .key(.character("v"))])
      #expect(phone.view(size: size).text.contains("Deploy to Production?"), "\(size)")
    }
  }
}
