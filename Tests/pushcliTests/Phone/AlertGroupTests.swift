import Foundation
import GatewayProtocol
import PushPolicy
import TerminalUI
import Testing

@testable import pushcli

/// A burst of alerts: several alerts of an app are shown as one, and can be closed together.
@Suite struct AlertGroupTests {
  private func news(_ seqs: ClosedRange<UInt64>) -> [PhoneMessage] {
    seqs.map { .push(Sample.push($0, alert: Sample.dinner)) }
  }

  private func closed(_ ids: ClosedRange<Int>) -> [PhoneEffect] {
    ids.map { .answer(id: "push-\($0)", action: "close") }
  }

  @Test func `several of an app show as one, and Close All closes them and leaves them unread in the center`() {
    var phone = Sample.phone(news(1...3))
    let text = phone.view(size: phone.size).text
    #expect(text.contains("3 Notifications") && text.contains("Close All"))
    #expect(text.count(of: "Dinner at Eight?") == 3)
    #expect(phone.press("c") == closed(1...3))
    #expect(phone.alerts.isEmpty && phone.state.entries.count == 3 && phone.state.unreadCount == 3)
  }

  @Test func `each of them is told as presented when it is shown`() {
    var phone = Sample.phone(news(1...1))
    #expect(
      phone.effects(.push(Sample.push(2, alert: Sample.dinner))) == [.presented(id: "push-2", parts: [.alert])])
  }

  @Test func `View of several opens their app, where all are listed`() {
    var phone = Sample.phone(news(1...2) + [.push(Sample.push(3, alert: Sample.done))])
    let effects = phone.press("v")
    // An alert with an OK button only is acknowledged.
    #expect(
      effects.prefix(3) == [
        .answer(id: "push-1", action: "view"), .answer(id: "push-2", action: "view"),
        .answer(id: "push-3", action: "ok"),
      ])
    #expect(effects.last == .open(Sample.push(2, alert: Sample.dinner)))
    #expect(phone.screen == .app(topic: "com.example.news", selected: nil))
    #expect(phone.alerts.isEmpty && phone.state.unreadCount == 0)
  }

  @Test func `View marks what was viewed, and another message when it is shown`() {
    var phone = Sample.phone(news(1...2))
    phone.press("c")
    #expect(phone.state.unreadCount == 2)
    phone.happens(.push(Sample.push(3, alert: Sample.dinner)))
    phone.press("v")
    #expect(phone.selectedEntry?.push.id == "push-3" && phone.state.unreadCount == 2)
    phone.press(.down)
    #expect(phone.selectedEntry?.push.id == "push-2" && phone.state.unreadCount == 1)
    // Opening the app itself marks all as read.
    phone.press(.escape)
    phone.press(.return)
    #expect(phone.state.unreadCount == 0)
  }

  @Test func `a key is for those that were there half a second ago`() {
    var phone = Sample.phone(news(1...2))
    let effects = phone.update(.push(Sample.push(3, alert: Sample.dinner)), now: Sample.now)
    #expect(effects.last == .awaitReadiness(3, .milliseconds(500)))
    #expect(phone.view(size: phone.size).text.contains("3 Notifications"))
    // A further alert in that period does not extend it: a burst never blocks the keys for longer.
    #expect(
      !phone.update(.push(Sample.push(4, alert: Sample.dinner)), now: Sample.now).contains {
        if case .awaitReadiness = $0 { true } else { false }
      })
    #expect(phone.effects(.key(.character("c"))).prefix(2) == closed(1...2)[...])
    #expect(phone.alerts.map(\.id) == ["push-3", "push-4"])
  }

  @Test func `a key meant for the one that was there closes that one`() {
    var phone = Sample.phone(news(1...1))
    _ = phone.update(.push(Sample.push(2, alert: Sample.dinner)), now: Sample.now)
    #expect(phone.effects(.key(.character("c"))).first == .answer(id: "push-1", action: "close"))
    #expect(phone.alerts.map(\.id) == ["push-2"])
    #expect(phone.state.unreadCount == 1, "the first one was read")
  }

  @Test func `questions and what is urgent stand alone`() {
    let urgent = #"{"aps":{"interruption-level":"time-sensitive"}}"#
    var phone = Sample.phone(
      news(1...2) + [
        .push(Sample.push(3, alert: Sample.deploy)), .push(Sample.push(4, alert: Sample.done, payload: urgent)),
      ])
    #expect(phone.group?.members.map(\.id) == ["push-1", "push-2"])
    phone.press("c")
    #expect(phone.group?.members.map(\.id) == ["push-3"])
    #expect(phone.group?.choices.map(\.title) == ["Close", "Options"])
    phone.press("c")
    #expect(phone.group?.members.map(\.id) == ["push-4"])
  }

  @Test func `200 alerts of many apps are put away with three keys, and the center has all`() {
    let apps = (1...20).map { DeviceApp(topic: "app-\($0)", name: "App \($0)", icon: "") }
    var phone = Sample.phone(
      [.apps(apps)] + (0..<200).map { .push(Sample.push($0 + 1, apps[Int($0) % 20], alert: Sample.dinner)) })
    #expect(phone.alerts.count == 200)
    for key in "C2" { phone.press(key) }
    #expect(phone.alerts.isEmpty)
    #expect(phone.state.entries.count == 200 && phone.state.unreadCount == 200)
  }

  @Test func `C closes all where they are of one app`() {
    var phone = Sample.phone(news(1...3))
    phone.press("C")
    #expect(phone.sheet?.titles == ["Close All 3", "Cancel"])
    #expect(phone.press("1") == closed(1...3))
    #expect(phone.alerts.isEmpty && phone.state.unreadCount == 3)
  }

  @Test func `several show what they say where there is room, else their titles`() {
    let pushes = (1...3).map { PhoneMessage.push(Sample.push($0, alert: Sample.earthquake)) }
    func text(_ columns: Int, _ rows: Int) -> String {
      let size = Size(columns: columns, rows: rows)
      return Sample.phone(size: size, pushes).view(size: size).text
    }
    #expect(text(80, 24).count(of: "Tsunami warnings") == 3)
    #expect(text(40, 12).count(of: "Earthquake in Chile") == 3 && !text(40, 12).contains("Off the coast"))
  }

  @Test func `a question is closed with the rest only by a choice that says so, in red and on top`() {
    var phone = Sample.phone(
      news(1...2) + [
        .push(Sample.push(3, Sample.mail, alert: Sample.dinner)), .push(Sample.push(4, alert: Sample.deploy)),
      ])
    phone.press("C")
    #expect(
      phone.sheet?.titles == ["Close 4 + Questions", "Close 2 of News", "Close All 3", "Cancel"])
    #expect(phone.sheet?.choices[0].isDestructive == true)
    var other = phone
    #expect(phone.press("3") == closed(1...3) + [.presented(id: "push-4", parts: [.alert])])
    // An alert that came later stays.
    other.happens(.push(Sample.push(5, Sample.mail, alert: Sample.dinner)))
    other.press("1")
    #expect(other.alerts.map(\.id) == ["push-5"])
  }

  @Test func `the way home equals the cancelling button (A7)`() {
    for key in [Key.character("1"), .home] {
      var phone = Sample.phone([.key(.character("2")), .push(Sample.push(1, alert: Sample.dinner))])
      #expect(phone.press(key) == [.answer(id: "push-1", action: "close")])
      #expect(phone.screen == .home)
    }
  }

  @Test func `a full queue keeps who asks`() {
    var phone = Sample.phone([.push(Sample.push(1, alert: Sample.done)), .push(Sample.push(2, alert: Sample.deploy))])
    for seq in 3...UInt64(PhoneState.maximumAlerts) + 9 { phone.happens(.push(Sample.push(seq, alert: Sample.done))) }
    #expect(phone.alerts.prefix(2).map(\.id) == ["push-1", "push-2"])
  }

  @Test func `what was put away together is unread after a restart`() throws {
    let push = Sample.push(1, alert: Sample.dinner)
    let changes: [PhoneChange] = [.received(push), .answered(ordinal: 1, isRead: false)]
    let lines = PhoneJournal.lines([.head(version: JournalRecord.version)] + changes.map { .change($0) })
    let (state, _, fault) = PhoneJournal.read(lines)
    #expect(fault == nil && state.unreadCount == 1 && state.alerts.isEmpty)
  }
}

extension String {
  fileprivate func count(of part: String) -> Int { components(separatedBy: part).count - 1 }
}
