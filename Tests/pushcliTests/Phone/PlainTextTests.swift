import Foundation
import PushPolicy
import Testing

@testable import pushcli

@Suite struct PlainTextTests {
  private func paragraph(_ push: PhonePush) -> String {
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

  @Test func `a cleared badge is said in words`() {
    #expect(paragraph(Sample.push(1, badge: 0)) == "[14:03] 📰 News · badge cleared\n\n")
  }

  @Test func `what policy removed is said in words`() {
    let payload = "{\"aps\":{\"alert\":\"Hello\",\"sound\":\"default\",\"badge\":1}}"
    #expect(
      paragraph(Sample.push(1, badge: 1, payload: payload)) == """
        [14:03] 📰 News · badge 1
        Removed by this person's settings: sound, alert.


        """
    )
    #expect(paragraph(Sample.push(1, payload: payload)).contains("Nothing is presented.\nRemoved"))
  }

  @Test func `no control of a sender reaches the reader`() {
    var push = Sample.push(1, alert: Sample.dinner)
    push.app.name = "Ne\u{1B}[2Jws"
    push.presentation.alert?.title = "a\r\nb\u{202E}c"
    push.presentation.alert?.body = "one\u{7}\r\ntwo"
    push.presentation.alert?.buttons = ["Clo\u{9B}se"]
    #expect(paragraph(push) == "[14:03] 📰 Ne[2Jws\na bc\none\ntwo\nButtons: Close\n\n")
  }

  @Test func `a question names everything that can be answered, by number`() {
    #expect(
      PlainText.question(for: Sample.push(1, alert: Sample.deploy))
        == "News, Deploy to Production?: 1 Close  2 Approve  3 In an Hour  4 Reject? ")
    #expect(PlainText.question(for: Sample.push(1, alert: Sample.done)) == "News, Backup Finished: 1 OK? ")
  }
}
