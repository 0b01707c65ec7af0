import Foundation
import GatewayProtocol
import PushPolicy
import TerminalUI
import Testing

@testable import pushcli

/// The mouse has the functions of keys, and is never required.
@Suite struct PointingTests {
  /// Returns the position of `text` on the screen.
  private func place(_ text: String, _ phone: PhoneModel) throws -> (column: Int, row: Int) {
    let frame = phone.view(size: phone.size)
    for row in 0..<phone.size.rows {
      let cells = (0..<phone.size.columns).map { frame[$0, row].character ?? " " }
      for column in 0..<phone.size.columns where cells[column...].starts(with: text) { return (column, row) }
    }
    Issue.record("no \(text) in\n\(frame.text)")
    throw CancellationError()
  }

  private func click(_ text: String, _ phone: inout PhoneModel) throws -> [PhoneEffect] {
    let (column, row) = try place(text, phone)
    return phone.effects(.input(.mouse(Mouse(.press, column: column, row: row))))
  }

  @Test func `a button, a row, a tab and a key of the last row are clicked`() throws {
    var phone = Sample.phone([.push(Sample.push(1, alert: Sample.earthquake))])
    #expect(try click("View", &phone).first == .answer(id: "push-1", action: "view"))
    #expect(phone.screen == .app(topic: "com.example.news", selected: nil))
    _ = try click("‹ Back", &phone)
    #expect(phone.screen == .home)
    _ = try click("2 Center", &phone)
    #expect(phone.screen == .center)
    _ = try click("Earthquake", &phone)
    #expect(phone.center.selected == .entry(1))
    _ = try click("Earthquake", &phone)
    #expect(phone.reading.isOpen, "the second click opens it")
    _ = try click("‹ Back", &phone)
    _ = try click("d clear", &phone)
    #expect(phone.state.entries.isEmpty)
    _ = try click("3 Settings", &phone)
    _ = try click("Volume", &phone)
    #expect(phone.settings?.selected == 2)
    _ = try click("Cancel", &phone)
    #expect(phone.settings == nil)
    _ = try click("1 Home", &phone)
    _ = try click("Mail", &phone)
    _ = try click("Mail", &phone)
    #expect(phone.screen == .app(topic: "com.example.mail", selected: nil))
  }

  @Test func `one of the last pushes is opened from home`() throws {
    var phone = Sample.phone(ScreenTests.answered)
    _ = try click("Aftershock", &phone)
    #expect(phone.screen == .app(topic: "com.example.news", selected: 4) && phone.reading.isOpen)
    phone = Sample.phone(size: Size(columns: 120, rows: 30), ScreenTests.answered + [.key(.character("2"))])
    phone.press(.end)
    _ = try click("Dinner at Eight?", &phone)
    #expect(phone.reading.isOpen)
  }

  @Test func `a sheet is picked from, and nothing behind what floats is clicked`() throws {
    var phone = Sample.phone([.push(Sample.push(1, alert: Sample.deploy))])
    let tab = try place("2 Center", phone)
    #expect(phone.effects(.input(.mouse(Mouse(.press, column: tab.column, row: tab.row)))) == [])
    #expect(phone.screen == .home && phone.alerts.count == 1)
    _ = try click("Options", &phone)
    #expect(try click("Approve", &phone) == [.answer(id: "push-1", action: "approve")])
  }

  @Test func `a click is for nothing that has only just appeared, nor is the one that gave the focus`() throws {
    var phone = Sample.phone()
    _ = phone.update(.push(Sample.push(1, alert: Sample.earthquake)), now: Sample.now)
    #expect(try click("View", &phone) == [])
    phone.happens(.alertReady(1))
    phone.happens(.focus(false))
    phone.happens(.focus(true))
    #expect(try click("View", &phone) == [])
    let (column, row) = try place("Close", phone)
    let later = Sample.now + 1
    #expect(
      phone.update(.input(.mouse(Mouse(.press, column: column, row: row))), now: later)
        .contains(.answer(id: "push-1", action: "close")))
  }

  @Test func `the wheel moves what is in front`() throws {
    let wheel = PhoneMessage.input(.mouse(Mouse(.wheelDown, column: 9, row: 5)))
    var phone = Sample.phone(
      size: Size(columns: 30, rows: 10), [.push(Sample.push(1, alert: ScreenTests.long)), wheel])
    #expect(phone.alertOffset == 3)
    phone.happens(.input(.mouse(Mouse(.wheelUp, column: 9, row: 5))))
    #expect(phone.alertOffset == 0)
    for message in [.key(.character("v")), .key(.return), wheel] as [PhoneMessage] { phone.happens(message) }
    #expect(phone.reading.offset == 3)
    var center = Sample.phone(ScreenTests.answered + [.key(.character("2")), wheel])
    #expect(center.center.index == 3)
    center.happens(.key(.character("?")))
    center.happens(wheel)
    #expect(center.isHelpShown)
  }

  @Test func `the mouse is given back to the terminal, by a key and in the settings`() {
    var phone = Sample.phone()
    #expect(phone.press("M") == [.mouse(false)])
    #expect(!phone.state.settings.usesMouse)
    phone.press("3")
    for _ in 0..<5 { phone.press(.down) }
    phone.press(" ")
    #expect(phone.press("d") == [.mouse(true)])
  }

  @Test func `a click anywhere at any size traps nowhere`() {
    for scene in ScreenTests.scenes {
      for size in ReadingTests.sizes {
        let opened = Sample.phone(size: size, scene.messages)
        for row in stride(from: 0, to: min(size.rows, 26), by: 3) {
          var phone = opened
          for column in stride(from: 0, to: min(size.columns, 80), by: 23) {
            phone.happens(.input(.mouse(Mouse(.press, column: column, row: row))))
          }
          phone.happens(.input(.mouse(Mouse(.wheelDown, column: 10_000, row: row))))
        }
      }
    }
  }
}
