import Foundation
import GatewayProtocol
import PushPolicy
import TerminalUI
import Testing

@testable import pushcli

/// The notification center, search, and a push in the line-based client.
@Suite struct PlainListTests {
  /// Three answered alerts of two apps.
  private var answered: PlainTalk {
    PlainTalk([
      .push(Sample.push(1, alert: Sample.earthquake, thread: "quakes")), .input(.line("close")),
      .push(Sample.push(2, Sample.mail, alert: Sample.dinner)), .input(.line("close")),
      .push(Sample.push(3, alert: Sample.done)), .input(.line("ok")),
    ])
  }

  private func many(_ count: UInt64) -> PlainTalk {
    var talk = PlainTalk()
    for seq in 1...count {
      talk.happens(.push(Sample.push(seq, alert: AlertPresentation(title: "Number \(seq)", body: "", buttons: ["OK"]))))
      talk.type("ok")
    }
    return talk
  }

  @Test func `the center is listed by app and thread, with numbers`() {
    var talk = answered
    #expect(
      talk.type("center") == """
        News, 2:
        1. 14:03: Backup Finished
        Thread quakes, 1:
        2. 14:03: Earthquake in Chile, Off the coast — A strong earthquake has struck…
        Mail, 1:
        3. 14:03: Dinner at Eight?

        """)
  }

  @Test func `a number reads a push whole, also alone, and marks it as read`() {
    var talk = PlainTalk([
      .push(ScreenTests.earthquake), .push(Sample.push(10, alert: Sample.done)), .input(.line("close")),
    ])
    #expect(talk.plain.state.unreadCount == 2)
    #expect(talk.type("list news").contains("\n2. 14:03, unread: Earthquake"))
    let text = talk.type("2")
    #expect(
      text.contains("A strong earthquake has struck off the coast of northern Chile. Tsunami\nwarnings are in force.\n")
    )
    #expect(text.contains("\nLink: https://example.com/quake\n") && text.contains("payload 2 prints them"))
    #expect(talk.plain.state.unreadCount == 1)
    #expect(talk.type("payload").contains(#""url":"https://example.com/quake""#))
    #expect(talk.type("link") == "Opening https://example.com/quake\n")
    #expect(talk.effects == [.openLink(ScreenTests.earthquake)])
    talk.type("copy 2")
    #expect(
      talk.effects.first
        == .copy("Earthquake in Chile\nOff the coast\n\(Sample.earthquake.body)\nhttps://example.com/quake"))
    talk.type("report")
    #expect(talk.effects == [.reportAd(ScreenTests.earthquake)])
  }

  @Test func `the attachment of a push is saved, and a push without one has none to save`() throws {
    let payload = #"""
      {"aps":{},"attachment":{"id":"0123456789abcdef0123456789abcdef","name":"a.txt","type":"text/plain","size":5}}
      """#
    let push = Sample.push(10, alert: Sample.done, payload: payload)
    var talk = PlainTalk([.push(ScreenTests.earthquake), .push(push), .input(.line("close"))])
    talk.type("list news")
    #expect(talk.type("1").contains("\nAttachment: a.txt (5 bytes), save 1 saves it\n"))
    #expect(talk.type("save 2") == "this push has no attachment\n")
  }

  @Test(arguments: [
    ("open 7", "no push 7: the list has 1 to 3\n"), ("open 0", "no push 0: the list has 1 to 3\n"),
    ("-9223372036854775808", "no push -9223372036854775808: the list has 1 to 3\n"),
    ("clear 2-4", "no push 4: the list has 1 to 3\n"),
    ("clear Nwes", "which? Say numbers of the list, an app or all: there is no app \"Nwes\"\n"),
    ("list nwes", "no app \"nwes\": did you mean News? apps lists their names\n"),
    ("centr", "unknown word \"centr\": did you mean center? help lists all words\n"),
    ("xyzzy 3", "unknown word \"xyzzy\": help lists all words\n"),
    ("link 1", "this push has no link\n"), ("more", "There is no more.\n"),
    ("close 1", "push 1 asks nothing now; alerts lists the pending alerts\n"), ("close", "no alert is pending\n"),
    ("undo", "nothing to undo: undo restores pushes that clear has removed\n"),
    ("redo", "nothing to do again: nothing was undone\n"),
    ("help centr", "unknown word \"centr\": did you mean center? help lists all words\n"),
    ("silent maybe", "silent is on or off, not \"maybe\"\n"), ("try", "nothing to try: connected to localhost:2197\n"),
    ("set bagde off", "no setting \"bagde off\": did you mean badge? settings lists their numbers and names\n"),
    ("set badge maybe", "Badges: maybe is none of on, off\n"),
    ("set 3 on", "no setting 3: settings lists them first\n"),
    ("compose", "this state folder has no sender's key: pushcli keys lists and makes keys\n"),
    ("answer 1 ok", "push 1 asks nothing now; alerts lists the pending alerts\n"),
    ("view", "no alert is pending: open NUMBER prints a push of the list\n"),
  ])
  func `a wrong answer gets one line that says what is wrong`(_ line: String, _ words: String) {
    var talk = answered
    talk.type("center")
    #expect(talk.type(line) == words)
  }

  @Test func `before there is a list, numbers say how to get one`() {
    var talk = answered
    #expect(talk.type("open 1") == "no push 1: nothing is listed yet, center lists the pushes\n")
    #expect(talk.type("1") == "no 1: nothing is listed or asked; center lists the pushes\n")
    #expect(talk.type("payload").hasPrefix("{"), "the one that was answered last")
  }

  @Test func `a list is told in pages, under its header`() {
    var talk = many(23)
    let first = talk.type("center")
    #expect(
      first.hasPrefix("News, 23:\n1. 14:03: Number 23\n")
        && first.hasSuffix("10. 14:03: Number 14\n13 of 23 are left: more prints them\n"))
    #expect(talk.type("more").hasPrefix("News, 23, continued:\n11. 14:03: Number 13\n"))
    let last = talk.type("next")
    #expect(last.hasSuffix("23. 14:03: Number 1\n") && last.count(of: "\n") == 4)
    #expect(talk.type("more") == "There is no more.\n")
  }

  @Test func `a long text is told in pages`() {
    let body = (1...60).map { "Line \($0)." }.joined(separator: "\n")
    var talk = PlainTalk([.push(Sample.push(1, alert: AlertPresentation(title: "Long", body: body)))])
    talk.type("alerts")
    let first = talk.type("1")
    #expect(
      first.contains("Line 18.\n") && !first.contains("Line 19.") && first.hasSuffix("more lines: more prints them\n"))
    #expect(talk.type("more").hasPrefix("Line 19.\n"))
    #expect(talk.type("more").hasPrefix("Line 39.\n"))
    #expect(talk.type("more").contains("Line 60.\n"))
  }

  @Test func `a search looks where it is told`() {
    var talk = answered
    #expect(talk.type("search chile").contains("1. 14:03: Earthquake"))
    #expect(talk.type("/eight in mail").contains("1. 14:03: Dinner"))
    #expect(talk.type("search eight in News") == "Nothing found.\n")
    #expect(talk.type("search chile in unread") == "Nothing found.\n")
    #expect(talk.type("search in active").contains("3. "), "everything of that level")
    #expect(talk.type("search earthquake in chile").contains("1. 14:03"), "that is no part of the center")
    #expect(talk.type("unread") == "Nothing found.\n")
  }

  @Test func `what is cleared comes back by undo, which is named, and goes again by redo`() {
    var talk = answered
    talk.type("center")
    #expect(talk.type("clear 1 3") == "Cleared 2 Notifications · undo undoes it\n")
    #expect(talk.plain.state.entries.count == 1)
    #expect(talk.type("status").contains("undo: Undo Clear 2 Notifications"))
    #expect(
      talk.type("open 1")
        == "push 1 is gone: it was cleared, or a later one replaced it; center prints the list again\n")
    #expect(talk.type("undo") == "Undid Clear 2 Notifications · redo does it again\n")
    #expect(talk.plain.state.entries.count == 3)
    #expect(talk.type("status").contains("redo: Redo Clear 2 Notifications"))
    talk.type("redo")
    #expect(talk.plain.state.entries.count == 1)
    talk.type("undo")
    #expect(talk.type("clear news") == "Cleared News · undo undoes it\n")
    #expect(talk.type("clear all") == "Cleared All · undo undoes it\n")
    #expect(talk.plain.state.entries.isEmpty)
  }

  @Test func `what is unread is marked as read`() {
    var talk = PlainTalk((1...3).map { .push(Sample.push($0, alert: Sample.done)) } + [.input(.line("close"))])
    talk.type("unread")
    #expect(talk.type("mark 1") == "1 push marked as read.\n")
    #expect(talk.type("mark all") == "2 pushes marked as read.\n")
    #expect(talk.type("mark news") == "Nothing of it was unread.\n")
  }

  @Test func `numbers stand for what was listed, whatever comes after it`() {
    var talk = answered
    talk.type("center")
    talk.happens(.push(Sample.push(4, alert: AlertPresentation(title: "Later", body: ""))))
    #expect(talk.type("open 1").contains("Backup Finished"))
  }

  @Test func `help is made of the table, and says all of it in pages`() {
    var talk = PlainTalk()
    let pages = talk.type("help") + talk.type("more")
    for word in PlainWord.all { #expect(pages.contains("\(word.usage): ")) }
    #expect(talk.type("help open") == "open NUMBER: print the whole push; such as open 3; also read\n")
  }

  @Test func `no control of a sender reaches the reader`() {
    var push = Sample.push(1, alert: Sample.dinner)
    push.app.name = "Ne\u{1B}[2Jws"
    push.presentation.alert?.title = "a\r\nb\u{202E}c"
    push.presentation.alert?.buttons = ["Clo\u{9B}se\n1", "V"]
    var talk = PlainTalk()
    let text =
      talk.happens(.push(push)) + talk.type("alerts") + talk.type("1") + talk.type("answer x") + talk.type("center")
    #expect(!text.unicodeScalars.contains { Sanitizer.isControl($0) && $0 != "\n" })
    #expect(text.contains("News, a bc: 1 Cloe 1  2 V?"))
  }

  @Test func `without UTF-8 all is told in ASCII`() {
    var talk = answered
    talk.plain.phone.form.encodesUTF8 = false
    #expect(talk.type("center").utf8.allSatisfy { $0 < 0x80 })
  }
}

extension String {
  fileprivate func count(of part: String) -> Int { components(separatedBy: part).count - 1 }
}
