import Foundation
import GatewayProtocol
import PushPolicy
import TerminalUI
import Testing

@testable import pushcli

@Suite struct PlainTextTests {
  private func paragraph(_ push: DevicePush) -> String {
    PlainText.paragraph(for: push, timeZone: TimeZone(secondsFromGMT: 0)!)
  }

  @Test func `a push is a paragraph with everything that the screen shows`() {
    let push = Sample.push(1, badge: 3, sound: "default", alert: Sample.earthquake)
    #expect(
      paragraph(push) == """
        [14:03] 📰 News · badge 3 · sound default
        Earthquake in Chile — Off the coast
        A strong earthquake has struck off the coast of northern Chile. Tsunami warnings are in force.
        Buttons: Close, View


        """
    )
  }

  /// A payload with an attachment, whose name would move the cursor.
  private static let payload = #"""
    {"aps":{"alert":{"body":"…"}},"attachment":{"id":"0123456789abcdef0123456789abcdef","name":"../\u001b[2Jreport.txt",\#
    "type":"text/plain","size":12345}}
    """#

  @Test func `an attachment is named with its size, and with the command that writes it`() {
    let push = Sample.push(1, alert: Sample.earthquake, payload: Self.payload)
    #expect(
      paragraph(push).contains(
        "\nAttachment: [2Jreport.txt (12 KB), pushcli attachment 0123456789abcdef0123456789abcdef\n"))
  }

  @Test func `the alert and the center name an attachment, and a key saves it`() throws {
    let push = Sample.push(1, alert: Sample.earthquake, payload: Self.payload)
    var phone = Sample.phone(size: Size(columns: 120, rows: 40), [.push(push)])
    #expect(phone.view(size: phone.size).text.contains("Attachment: [2Jreport.txt (12 KB)"))
    phone.press(" ")
    phone.press("c")
    phone.press("2")
    phone.press(.end)
    phone.press(.return)
    #expect(phone.view(size: phone.size).text.contains("Attachment: [2Jreport.txt (12 KB)"))
    let attachment = try #require(push.attachment)
    #expect(phone.press("f") == [.saveAttachment(attachment)])
  }

  @Test(arguments: [
    Sample.earthquake, Sample.dinner, Sample.deploy, Sample.done, ScreenTests.foreign, ScreenTests.long,
  ])
  func `the paragraph and the screens have the same content (L7)`(_ alert: AlertPresentation) {
    let payload = #"{"aps":{"alert":{"title":"…"},"thread-id":"quakes"},"url":"https://example.com/quake"}"#
    let push = Sample.push(1, badge: 37, alert: alert, payload: payload)
    // The home screen with the alert, its sheet if it has one, the notification center, and the app that View opens.
    var phone = Sample.phone(size: Size(columns: 200, rows: 60), [.push(push)])
    var shown: [String] = []
    for key in alert.sheetChoices.count > 1 ? "vc c2\u{1}" : " c2\u{1}" {
      shown.append(phone.view(size: phone.size).text)
      phone.press(key == "\u{1}" ? .return : .character(key))
    }
    shown.append(phone.view(size: phone.size).text)

    let choices = alert.sheetChoices.count > 1 ? alert.sheetChoices + [alert.choices[0]] : alert.choices
    let texts =
      [alert.title, alert.subtitle, alert.body, "14:03 📰 News quakes https://example.com/quake 37"]
      + choices.map(\.title)
    let isSeparator: (Character) -> Bool = {
      !($0.isLetter || $0.isNumber || $0.unicodeScalars.contains { $0.value > 0x2FFF })
    }
    let wanted = Set(texts.joined(separator: " ").split(whereSeparator: isSeparator))
    let onScreen = Set(shown.joined(separator: " ").split(whereSeparator: isSeparator))
    let inWords = Set(paragraph(push).split(whereSeparator: isSeparator))
    #expect(wanted.subtracting(onScreen).isEmpty)
    #expect(wanted.subtracting(inWords).isEmpty)
  }

  @Test func `a cleared badge is said in words`() {
    #expect(paragraph(Sample.push(1, badge: 0)) == "[14:03] 📰 News · badge cleared\n\n")
  }

  @Test func `what policy removed is said in words`() {
    let payload = "{\"aps\":{\"alert\":\"Hello\",\"sound\":\"default\",\"badge\":1}}"
    #expect(
      paragraph(Sample.push(1, badge: 1, payload: payload)) == """
        [14:03] 📰 News · badge 1
        Removed by this user's settings: sound, alert.


        """
    )
    #expect(paragraph(Sample.push(1, payload: payload)).contains("Nothing is presented.\nRemoved"))
  }

  @Test func `what may not interrupt is told with its place`() {
    var push = Sample.push(1, payload: "{\"aps\":{\"alert\":\"Dinner at Eight?\"}}")
    push.presentation.center = Sample.dinner
    let beginning = "[14:03] 📰 News\nDinner at Eight?\nIn the notification center"
    #expect(paragraph(push).hasPrefix(beginning + ".\n"))
    push.presentation.held = Deferral(by: .summary)
    #expect(paragraph(push).hasPrefix(beginning + ", and in the next summary.\n"))
  }

  @Test func `no control of a sender reaches the reader`() {
    var push = Sample.push(1, alert: Sample.dinner)
    push.app.name = "Ne\u{1B}[2Jws"
    push.presentation.alert?.title = "a\r\nb\u{202E}c"
    push.presentation.alert?.body = "one\u{7}\r\ntwo"
    push.presentation.alert?.buttons = ["Clo\u{9B}se"]
    #expect(paragraph(push) == "[14:03] 📰 News\na bc\none\ntwo\nButtons: Cloe\n\n")
  }

  @Test func `a question names everything that can be answered, by number`() {
    #expect(
      PlainText.question(for: Sample.push(1, alert: Sample.deploy))
        == "News, Deploy to Production?: 1 Close  2 Approve  3 In an Hour  4 Reject? ")
    #expect(PlainText.question(for: Sample.push(1, alert: Sample.done)) == "News, Backup Finished: 1 OK? ")
  }
}
