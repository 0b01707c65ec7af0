import Foundation
import GatewayProtocol
import PushPolicy
import TerminalUI
import Testing

@testable import pushcli

/// Settings, the silent switch, the connection and composing in the line-based client.
@Suite struct PlainActionTests {
  private var open: PlainTalk { PlainTalk([.preferences(ScreenTests.category)]) }

  private func disconnect(_ talk: inout PlainTalk) -> String {
    talk.happens(.connection(.disconnected(lastConnected: nil, retryAt: talk.now + 60, reason: "refused")))
  }

  // MARK: Settings

  @Test func `the settings are the table of the screen`() {
    var talk = open
    var text = talk.type("settings")
    while true {
      let more = talk.type("more")
      if more == "There is no more.\n" { break }
      text += more
    }
    for group in SettingsGroup.groups(talk.plain.state) {
      #expect(text.contains("\(group.title):\n"))
      for row in group.rows { #expect(text.contains(". \(row.title): \(row.value)\n")) }
    }
  }

  @Test(arguments: [
    ("set badge off", ["badge=off"], nil, nil), ("set Badge=OFF", ["badge=off"], nil, nil),
    ("set news sound off", ["sound=off"], "com.example.news", nil),
    ("set com.example.news budget 7", ["budget=7"], "com.example.news", nil),
    ("set News SPORT alert on", ["alert=on"], "com.example.news", "SPORT"),
    ("set family album critical on", ["critical=on"], "com.example.album", nil),
    ("set quiet 22:00-07:00 mon-fri Europe/Berlin", ["quiet=22:00-07:00 mon-fri Europe/Berlin"], nil, nil),
  ])
  func `a choice is changed by name, and the gateway is asked`(
    _ line: String, _ settings: [String], _ app: String?, _ category: String?
  ) {
    var talk = open
    talk.type(line)
    #expect(talk.effects == [.change(.init(settings: settings, app: app, category: category))])
    #expect(talk.plain.phone.settings == nil)
    #expect(talk.happens(.finished(.saving, succeeded: true, notice: nil)) == "Saved.\n")
    #expect(talk.happens(.finished(.saving, succeeded: false, notice: "no room")) == "no room\n")
  }

  @Test func `a choice is changed by the number that the list tells`() {
    var talk = open
    #expect(talk.type("settings device").hasPrefix("This Device:\n1. Silent: off\n"))
    #expect(
      talk.type("3")
        == "Volume is 100; it can be 0, 25, 50, 75, 100: set volume VALUE\nHow loud sounds are here, from 0 to 100. A sender can only lower it.\n"
    )
    #expect(talk.type("set 3 50") == "Volume: 50\n")
    #expect(talk.plain.state.settings.volume == 50)
    #expect(talk.type("set 3 50") == "Volume is 50 already.\n")
    #expect(talk.type("set volume loud") == "Volume: loud is none of 0, 25, 50, 75, 100\n")
    #expect(talk.type("set 9 on") == "no setting 9: the list has 1 to 6\n")
    #expect(
      talk.type("settings nobody") == "no settings of \"nobody\": This Device, Everything, News, Mail, Family Album\n")
    #expect(talk.type("settings news").hasPrefix("News:\n1. Allow Notifications: on\n"))
    #expect(
      talk.type("set 1").hasSuffix(
        "set com.example.news notifications VALUE\nOff refuses every push: no badge, no sound, no alert.\n"))
    talk.type("set 1 off")
    #expect(talk.effects == [.change(.init(settings: ["notifications=off"], app: "com.example.news", category: nil))])
  }

  @Test func `without a connection a choice is not kept for later, and the words say why`() {
    var talk = open
    _ = disconnect(&talk)
    #expect(talk.type("set badge off") == "Not connected: the preferences can't be saved now\n")
    #expect(talk.effects.isEmpty && talk.plain.phone.settings == nil)
  }

  @Test func `the silent switch has words`() {
    var talk = open
    #expect(talk.type("silent") == "Silent: no sounds, but for critical ones.\n")
    #expect(talk.effects == [.state(silent: true, focus: "")])
    #expect(talk.type("status").contains("silent"))
    talk.type("silent on")
    #expect(talk.effects.isEmpty && talk.plain.state.settings.isSilent)
    #expect(talk.type("ring") == "Rings.\n")
    #expect(!talk.plain.state.settings.isSilent)
  }

  // MARK: The gateway

  @Test func `the gateway's absence is told once, and try connects now`() {
    var talk = open
    #expect(disconnect(&talk) == "Not connected (refused): next try at 14:06:03, try connects now.\n")
    talk.happens(.connection(.connecting))
    #expect(disconnect(&talk) == "")
    #expect(talk.type("status").contains("not connected (refused)"))
    #expect(talk.type("try") == "Trying.\n")
    #expect(talk.effects == [.retry])
    #expect(disconnect(&talk) != "")
    #expect(talk.happens(.connection(.connected(gateway: "g"))) == "Connected to g.\n")
  }

  @Test func `what was dropped is told, until it is noted`() {
    var talk = open
    #expect(talk.happens(.gap(dropped: 3)) == "3 older pushes dropped, mailbox full.\n")
    #expect(talk.type("status").contains("3 older pushes dropped, mailbox full, noted forgets that."))
    #expect(talk.type("noted") == "Noted.\n")
    #expect(!talk.type("status").contains("dropped"))
    #expect(talk.type("noted") == "No pushes were dropped.\n")
  }

  @Test func `a line that is told of itself is told once until something is typed`() {
    var talk = open
    #expect(talk.happens(.notice("No room")) == "No room\n")
    #expect(talk.happens(.notice("No room")) == "")
    talk.type("status")
    #expect(talk.happens(.notice("No room")) == "No room\n")
  }

  // MARK: Composing a push

  @Test func `a push is written line by line`() {
    var talk = open
    talk.plain.phone.canCompose = true
    #expect(talk.type("compose").hasPrefix("compose for which app?"))
    #expect(talk.type("compose mail").hasSuffix("To which device? An empty line: studio\n"))
    #expect(talk.type("") == "Title?\n")
    // Events in the meantime are printed, and the input remains the text of the push.
    talk.happens(.push(Sample.push(1, alert: Sample.done)))
    #expect(talk.type("1") == "Message? An empty line: none\n")
    #expect(talk.type("quit") == "To studio: 1, quit. send or cancel?\n")
    #expect(talk.type("yes") == "send or cancel, not \"yes\"\n")
    talk.type("send")
    guard case .send(let draft)? = talk.effects.first else {
      Issue.record("it is sent")
      return
    }
    #expect((draft.topic, draft.device, draft.title, draft.body) == ("com.example.mail", "studio", "1", "quit"))
    #expect(
      talk.happens(.finished(.sending, succeeded: false, notice: "refused"))
        == "refused\nTo studio: 1, quit. send or cancel?\n")
    #expect(talk.type("cancel") == "Cancelled: nothing was sent.\n")
    #expect(talk.plain.phone.draft == nil && talk.plain.phone.alerts.count == 1)
  }

  @Test func `a push without a text is not sent, and a line with a point cancels`() {
    var talk = open
    talk.plain.phone.canCompose = true
    for line in ["compose news", "bob", ""] { talk.type(line) }
    #expect(talk.type("") == "Write a title or a message first\nTitle?\n")
    #expect(talk.type(".") == "Cancelled: nothing was sent.\n")
  }
}
