import Foundation
import GatewayProtocol
import PushPolicy
import TerminalUI
import Testing

@testable import pushcli

/// Alerts in the line-based client: the output, the questions, and that no line answers an alert that appeared while it
/// was typed.
@Suite struct PlainAlertTests {
  private func alert(_ seq: UInt64, _ app: DeviceApp = Sample.news, title: String = "Train") -> PhoneMessage {
    .push(Sample.push(seq, app, alert: AlertPresentation(title: title, body: "")))
  }

  @Test func `a push is told when it comes, and what it asks below it`() {
    var talk = PlainTalk()
    #expect(
      talk.happens(.push(ScreenTests.earthquake)) == """

        [14:03] 📰 News
        Earthquake in Chile — Off the coast
        A strong earthquake has struck off the coast of northern Chile. Tsunami
        warnings are in force.
        Link: https://example.com/quake
        Removed by this user's settings: badge.
        News, Earthquake in Chile: 1 Close  2 View?

        """)
  }

  @Test(arguments: ["2", "view", "View", "v", "answer 2", "answer view"])
  func `it is answered by place or by word`(_ line: String) {
    var talk = PlainTalk([alert(1)])
    #expect(talk.type(line).hasPrefix("News, “Train”: View.\n"))
    #expect(talk.answers == [.answer(id: "push-1", action: "view")])
    #expect(talk.plain.state.unreadCount == 0)
  }

  @Test(arguments: [
    ("2", "approve"), ("approve", "approve"), ("in an", "later"), ("4", "reject"), ("rej", "reject"),
    ("close", "close"),
  ])
  func `actions are answered by place or by their first letters, and what destroys says so`(
    _ line: String, _ action: String
  ) {
    var talk = PlainTalk()
    #expect(
      talk.happens(.push(Sample.push(1, alert: Sample.deploy))).hasSuffix(
        "News, Deploy to Production?: 1 Close  2 Approve  3 In an Hour  4 Reject (destructive)?\n"))
    talk.type(line)
    #expect(talk.answers == [.answer(id: "push-1", action: action)])
  }

  @Test func `an alert that is named like a word is answered by its place`() {
    var talk = PlainTalk()
    var alert = AlertPresentation(title: "Really?", body: "")
    alert.offer([AlertAction(id: "a", title: "Quit"), AlertAction(id: "b", title: "Clear All")])
    talk.happens(.push(Sample.push(1, alert: alert)))
    #expect(talk.type("clear") == "clear needs more: clear NUMBER ... | APP | all, such as clear 2 4-6\n")
    talk.type("answer quit")
    #expect(talk.answers == [.answer(id: "push-1", action: "a")])
  }

  // MARK: Lines typed before an alert

  @Test(arguments: ["close", "1", "view", "c", "answer 1"])
  func `no line is for an alert that has only just appeared`(_ line: String) {
    var talk = PlainTalk()
    talk.happensJustNow(alert(1))
    #expect(talk.happensJustNow(.input(.line(line))) == "that has only just appeared: read it, then say it again\n")
    #expect(talk.plain.phone.alerts.count == 1)
  }

  @Test func `the next of a queue takes lines when it has been asked for a moment`() {
    var talk = PlainTalk([alert(1), alert(2, Sample.mail)])
    #expect(talk.happensJustNow(.input(.line("close"))).hasSuffix("Mail, Train: 1 Close  2 View?\n"))
    #expect(talk.effects.contains { if case .awaitReadiness(_, .milliseconds(150)) = $0 { true } else { false } })
    #expect(talk.happensJustNow(.input(.line("close"))) == "that has only just appeared: read it, then say it again\n")
    #expect(talk.plain.phone.alerts.count == 1)
  }

  @Test func `a number of a list never answers an alert that came after the list`() {
    var talk = PlainTalk([alert(1), .input(.line("close")), .input(.line("center"))])
    #expect(talk.happens(alert(2, Sample.mail)).hasSuffix("Mail, Train: answer 1 Close  2 View?\n"))
    #expect(talk.type("1").hasPrefix("News, 14:03:\n"))
    #expect(talk.plain.phone.alerts.count == 1)
    // An empty line prints the question again, and numbers then refer to it.
    #expect(talk.type("") == "Mail, Train: 1 Close  2 View?\n")
    talk.type("1")
    #expect(talk.answers == [.answer(id: "push-2", action: "close")])
  }

  @Test func `several are closed together, but for those that have only just come`() {
    var talk = PlainTalk((1...3).map { alert($0) } + [alert(4, Sample.mail)])
    talk.happensJustNow(alert(5, Sample.album))
    #expect(talk.happensJustNow(.input(.line("close all"))).hasPrefix("4 alerts closed; 1 only just appeared.\n"))
    #expect(talk.happensJustNow(.input(.line("close all"))) == "\(PlainText.tooSoon)\n")
    #expect(talk.plain.phone.alerts.map(\.id) == ["push-5"])
    #expect(talk.plain.state.unreadCount == 5, "what was closed with others has not been read")
  }

  @Test func `200 alerts are put away with one line, and questions stay until they are meant`() {
    var talk = PlainTalk((1...199).map { alert($0) } + [.push(Sample.push(200, alert: Sample.deploy))])
    #expect(
      talk.type("close all").hasPrefix(
        "199 alerts closed; 1 question or urgent one left: close everything closes those.\n"))
    #expect(
      talk.type("close all")
        == "no alert to close; 1 question or urgent one left: close everything closes those\n")
    #expect(talk.type("close everything") == "1 alert closed.\n")
    #expect(talk.plain.phone.alerts.isEmpty)
  }

  @Test func `several of an app are asked as one`() {
    var talk = PlainTalk([alert(1)])
    #expect(talk.happens(alert(2, title: "Bus")).hasSuffix("Bus\nNews, 2 alerts: 1 Close All  2 View?\n"))
    #expect(talk.type("close").hasPrefix("2 alerts closed.\n"))
    #expect(talk.answers.count == 2)
  }

  @Test func `View of several lists their app`() {
    var talk = PlainTalk([alert(1), alert(2, title: "Bus")])
    #expect(talk.type("view") == "News, 2 pushes:\n1. 14:03: Bus\n2. 14:03: Train\n")
    #expect(talk.answers == [.answer(id: "push-1", action: "view"), .answer(id: "push-2", action: "view")])
  }

  @Test func `those that wait are listed, and answered by number`() {
    var talk = PlainTalk([alert(1), .push(Sample.push(2, Sample.mail, alert: Sample.deploy)), alert(3, Sample.album)])
    #expect(
      talk.type("alerts") == """
        3 alerts wait:
        1. 14:03, waits, unread: Train
        2. 14:03, waits, unread: Deploy to Production?, Build 4711 has passed its test…
        3. 14:03, waits, unread: Train

        """)
    #expect(talk.type("answer 2 never").hasPrefix("no button \"never\": push 2 has 1 Close  2 Approve"))
    talk.type("answer 2 reject")
    #expect(talk.answers == [.answer(id: "push-2", action: "reject")])
    talk.type("view 3")
    #expect(talk.answers == [.answer(id: "push-3", action: "view")])
    talk.type("close 1")
    #expect(talk.answers == [.answer(id: "push-1", action: "close")])
    #expect(talk.type("close 1-2") == "push 1 asks nothing now; alerts lists the pending alerts\n")
  }

  @Test func `an app's are closed by its name`() {
    var talk = PlainTalk([
      alert(1), alert(2, Sample.album), alert(3, Sample.album),
      .push(Sample.push(4, Sample.album, alert: Sample.deploy)),
    ])
    #expect(talk.type("close family album") == "2 alerts closed.\n")
    #expect(talk.type("close nobody").hasPrefix("close which? Say numbers"))
    #expect(talk.plain.phone.alerts.map(\.id) == ["push-1", "push-4"])
  }

  @Test func `a question that is over elsewhere says so, and the next is asked`() {
    var talk = PlainTalk([alert(1), alert(2, Sample.mail)])
    #expect(
      talk.happens(.retract(id: "push-1"))
        == "No longer needed: it was answered on another device, replaced or has expired.\nMail, Train: 1 Close  2 View?\n"
    )
  }

  @Test func `leaving is the cancelling button, but not of what has only just appeared (A7)`() {
    var talk = PlainTalk([alert(1)])
    talk.type("quit")
    #expect(talk.effects == [.answer(id: "push-1", action: "close"), .quit])
    talk = PlainTalk()
    talk.happensJustNow(alert(1))
    talk.happensJustNow(.terminate)
    #expect(talk.effects == [.quit])
  }

  // MARK: Bursts

  @Test func `of a burst the first are told, and the number of the rest`() {
    var talk = PlainTalk()
    var text = ""
    for seq in 1...100 as ClosedRange<UInt64> { text += talk.happensJustNow(alert(seq, title: "Number \(seq)")) }
    #expect(text.contains("\nNumber 5\n") && !text.contains("\nNumber 6\n"))
    #expect(text.split(separator: "\n").count < 30)
    // The burst may continue, so the next pause is awaited.
    #expect(talk.happensJustNow(.paused) == "" && talk.effects.contains(.awaitPause))
    #expect(
      talk.happensJustNow(.paused)
        == "95 more pushes came: center lists them; alerts lists the pending alerts\nNews, 100 alerts: 1 Close All  2 View?\n"
    )
    #expect(!talk.effects.contains(.awaitPause))
    #expect(talk.happensJustNow(alert(101, title: "Alone")).contains("\nAlone\n"))
  }

  @Test func `a flood that does not end is told from time to time`() {
    var talk = PlainTalk()
    var text = ""
    var seq: UInt64 = 0
    for _ in 1...40 {
      for _ in 1...50 {
        seq += 1
        text += talk.happensJustNow(alert(seq))
      }
      text += talk.happensJustNow(.paused)
    }
    #expect(text.components(separatedBy: "more pushes came").count - 1 == 4)
    #expect(text.split(separator: "\n").count < 60)
  }

  @Test func `a long text is told in part when it comes`() {
    var talk = PlainTalk()
    let text = talk.happens(
      .push(Sample.push(1, alert: AlertPresentation(title: "T", body: String(repeating: "x\n", count: 2_000)))))
    #expect(text.split(separator: "\n").count < 15)
    #expect(text.contains("more lines: list News, and open"))
  }
}
