import Foundation
import GatewayProtocol
import PushPolicy
import TerminalUI
import Testing

@testable import pushcli

/// All received text can be read, even on the smallest screen.
@Suite struct ReadingTests {
  /// Texts of the maximum length in a payload of 4 KB. Each ends in a unique word.
  static let longest = [
    String(repeating: "界", count: 1_300) + "終了", String(repeating: "x", count: 3_900) + "LASTWORD",
    String(repeating: "\n", count: 1_900) + "LASTWORD", String(repeating: "ab\n", count: 1_200) + "LASTWORD",
  ]
  static let sizes = [(80, 24), (40, 12), (30, 10), (20, 5), (200, 60)].map { Size(columns: $0.0, rows: $0.1) }

  private func last(_ text: String) -> String { text.hasPrefix("界") ? "終了" : "LASTWORD" }

  /// Returns the text of the screen without line breaks.
  private func joined(_ phone: PhoneModel) -> String {
    phone.view(size: phone.size).text.filter { !" \n│".contains($0) }
  }

  @Test(arguments: longest) func `an alert is scrolled to its last word, at every size`(_ text: String) {
    for size in Self.sizes {
      var phone = Sample.phone(size: size, [.push(Sample.push(1, alert: AlertPresentation(title: "Long", body: text)))])
      let isLong = AlertView(phone.group!, phone, size: size).viewport.below > 0
      if isLong { #expect(phone.view(size: size).text.contains("↓")) }
      #expect(phone.view(size: size).text.contains("View"))
      phone.press(.end)
      #expect(joined(phone).contains(last(text)))
      #expect(phone.view(size: size).text.contains("View"))
      if isLong {
        #expect(phone.view(size: size).text.contains("↑"))
        phone.press(.pageUp)
        #expect(!joined(phone).contains(last(text)))
        phone.press(.end)
        // The end stays visible when the size changes.
        for other in Self.sizes.reversed() {
          phone.happens(.resized(other))
          #expect(joined(phone).contains(last(text)), "\(other)")
        }
        phone.happens(.resized(size))
        for _ in 0..<3 { phone.press(.pageDown) }
        phone.press(.down)
        #expect(joined(phone).contains(last(text)))
        phone.press(.home)
        #expect(phone.alertOffset == 0)
      }
      #expect(phone.press("c") == [.answer(id: "push-1", action: "close")])
    }
  }

  @Test(arguments: longest) func `a message is read to its last word, and then its payload`(_ text: String) {
    for size in Self.sizes where size.holdsPhone {
      let payload = #"{"aps":{},"url":"https://example.com/a","x":"ENDOFPAYLOAD"}"#
      var phone = Sample.phone(
        size: size,
        [
          .push(Sample.push(1, alert: AlertPresentation(title: "Long", body: text), payload: payload)),
          .key(.character("v")), .key(.return),
        ])
      #expect(phone.reading.isOpen)
      phone.press(.end)
      #expect(joined(phone).contains("payload"))
      var seen = joined(phone)
      for _ in 0..<9 where !seen.contains(last(text)) {
        phone.press(.pageUp)
        seen += joined(phone)
      }
      #expect(seen.contains(last(text)))
      phone.press(.end)
      #expect(!joined(phone).contains("ENDOFPAYLOAD"), "it is folded away")
      phone.press("p")
      phone.press(.end)
      #expect(joined(phone).contains("ENDOFPAYLOAD"))
      phone.press(.escape)
      #expect(!phone.reading.isOpen && phone.screen == .app(topic: "com.example.news", selected: nil))
    }
  }

  @Test func `the center leads to the message itself, and the way back to the center`() {
    var phone = Sample.phone(ScreenTests.answered + [.key(.character("2")), .key(.end), .key(.return)])
    #expect(phone.screen == .app(topic: "com.example.mail", selected: 2) && phone.reading.isOpen)
    phone.press(.escape)
    #expect(phone.screen == .center)
    phone.press(.home)
    phone.press(.return)
    #expect(!phone.reading.isOpen && phone.screen == .app(topic: "com.example.news", selected: nil))
    phone.press(.escape)
    #expect(phone.screen == .center)
    phone.press(.escape)
    #expect(phone.screen == .home)
  }

  @Test func `arrows lead to the other messages while one is read`() {
    var phone = Sample.phone(ScreenTests.answered + [.key(.character("2")), .key(.home), .key(.return), .key(.return)])
    #expect(phone.reading.isOpen && phone.selectedEntry?.ordinal == 4)
    phone.press(.right)
    #expect(phone.reading.isOpen && phone.selectedEntry?.ordinal == 3)
    phone.press(.left)
    phone.press(.left)
    #expect(phone.selectedEntry?.ordinal == 4)
  }

  @Test func `a viewport stays within its lines and says what is left`() {
    let table: [(count: Int, rows: Int, offset: Int, first: Int, mark: String)] = [
      (3, 5, 9, 0, ""), (5, 2, 0, 0, "3 more lines ↓"), (5, 2, 1, 1, "↑ 2 more lines ↓"),
      (5, 2, 2, 2, "↑ 1 more line ↓"),
      (5, 2, 3, 3, "↑ 3 lines above"), (5, 2, 99, 3, "↑ 3 lines above"), (5, 2, -4, 0, "3 more lines ↓"),
      (0, 0, 0, 0, ""), (5, 0, 0, 0, ""),
    ]
    for (count, rows, offset, first, mark) in table {
      let viewport = Viewport(count: count, rows: rows, offset: offset)
      #expect(viewport.first == first || rows == 0)
      #expect(viewport.mark(columns: 40) == mark)
    }
    #expect(Viewport(count: 500, rows: 2, offset: 0).mark(columns: 5) == "↓498")
    #expect(Viewport(count: 500, rows: 2, offset: 498).mark(columns: 5) == "↑498")
    #expect(Viewport(count: 500, rows: 2, offset: 0).mark(columns: 3) == "")
  }

  @Test func `the help is scrolled where it does not fit, and any other key closes it`() {
    var phone = Sample.phone(
      size: Size(columns: 30, rows: 10), ScreenTests.answered + "2?".map { .key(.character($0)) })
    let first = phone.view(size: phone.size).text
    #expect(first.contains("more lines ↓"))
    phone.press(.end)
    #expect(phone.isHelpShown && phone.view(size: phone.size).text != first)
    let labels = phone.keyBindings.map(\.label)
    #expect(phone.view(size: phone.size).text.contains(labels[labels.count - 1]))
    phone.press("d")
    #expect(!phone.isHelpShown && phone.state.entries.count == 4)
  }

  @Test func `a push that was kept back says so, in a line when it comes and where it is read`() throws {
    let line = """
      {"type":"push","seq":7,"id":"push-7","topic":"com.example.news","app":{"name":"News","icon":"📰"},\
      "received":"2025-11-14T14:03:00.000Z","presentation":{"centre":{"title":"Twenty-First","buttons":["OK"]},\
      "held":{"by":"budget","relevance":0}},"payload":{"aps":{}}}
      """
    let push = try #require(DevicePush(line: Array(line.utf8), parser: JSONParser()))
    var phone = Sample.phone([.push(push)])
    #expect(phone.alerts.isEmpty && phone.state.unreadCount == 1)
    #expect(
      phone.view(size: phone.size).text.contains("News has used up its alerts: more of them are kept in the center"))
    for key in [Key.character("2"), .end, .return] { phone.press(key) }
    #expect(phone.view(size: phone.size).text.contains("Kept in the center: the app had used up its alerts"))
  }

  @Test func `the center has exactly the newest 10,000 pushes`() {
    var state = PhoneState()
    for seq in 1...UInt64(PhoneState.maximumEntries) + 218 {
      state.apply(.received(Sample.push(seq, alert: Sample.done)))
    }
    #expect(state.entries.count == 10_000 && PhoneState.maximumEntries == 10_000)
    #expect(state.entries.last?.push.id == "push-10218" && state.entries.first?.push.id == "push-219")
  }
}
