import Foundation
import GatewayProtocol
import PushPolicy
import TerminalUI
import Testing

@testable import pushcli

@Suite struct PhoneUpdateTests {
  @Test func `a push sets the badge, plays its sound and shows its alert`() {
    var phone = Sample.phone()
    let effects = phone.effects(.push(Sample.push(1, badge: 3, sound: "chime", alert: Sample.earthquake)))
    #expect(
      effects == [
        .play(sound: "chime", volume: 100, urgency: .active),
        .presented(id: "push-1", parts: [.badge, .sound, .alert]),
      ]
    )
    #expect(phone.state.app("com.example.news")?.badge == 3)
    #expect(phone.alerts.map(\.id) == ["push-1"])
  }

  @Test func `a sender's volume scales below the person's (S5)`() {
    var phone = Sample.phone()
    phone.record(.settings(DeviceSettings(volume: 50)))
    var push = Sample.push(1, sound: "chime")
    push.soundVolume = 0.25
    #expect(phone.effects(.push(push)).contains(.play(sound: "chime", volume: 13, urgency: .passive)))
  }

  @Test func `zero clears a badge and an absent one leaves it (B2)`() {
    var phone = Sample.phone([.push(Sample.push(1, badge: 3)), .push(Sample.push(2, sound: "default"))])
    #expect(phone.state.app("com.example.news")?.badge == 3)
    #expect(phone.effects(.push(Sample.push(3, badge: 0))) == [.presented(id: "push-3", parts: [.badge])])
    #expect(phone.state.app("com.example.news")?.badge == 0)
  }

  @Test func `alerts queue, and one that waited is told when it appears`() {
    var phone = Sample.phone([.push(Sample.push(1, alert: Sample.earthquake))])
    let effects = phone.effects(.push(Sample.push(2, Sample.mail, badge: 1, alert: Sample.dinner)))
    #expect(effects == [.presented(id: "push-2", parts: [.badge])])
    #expect(phone.effects(.push(Sample.push(3, Sample.album, alert: Sample.done))) == [])
    #expect(
      phone.press("c") == [
        .answer(id: "push-1", action: "close"), .presented(id: "push-2", parts: [.alert]),
      ]
    )
    #expect(phone.alerts.map(\.id) == ["push-2", "push-3"])
  }

  @Test func `an answer is told until the gateway has it`() {
    var phone = Sample.phone([
      .push(Sample.push(1, alert: Sample.earthquake)), .push(Sample.push(2, Sample.mail, alert: Sample.dinner)),
      .connection(.disconnected(lastConnected: Sample.now, retryAt: Sample.now)),
    ])
    #expect(phone.press("c") == [.presented(id: "push-2", parts: [.alert])])
    #expect(phone.effects(.key(.control("c"))) == [.quit])
    #expect(
      phone.effects(.connection(.connected(gateway: "localhost"))) == [
        .answer(id: "push-1", action: "close"), .answer(id: "push-2", action: "close"),
      ])
    // A gateway that was killed in the meantime has one of the answers, and another device's answer to the other push.
    let due = phone.effects(.connection(.connected(gateway: "localhost")))
    #expect(due.count == 2 && phone.effects(.answersDue) == due)
    #expect(phone.effects(.answered(id: "push-2", action: "close")) == [])
    #expect(phone.notice == nil)
    #expect(phone.effects(.answersDue) == [.answer(id: "push-1", action: "close")])
    #expect(phone.effects(.answered(id: "push-1", action: "approve")) == [])
    #expect(phone.notice == "Answered before, on another device: approve")
    #expect(phone.effects(.answersDue) == [])
    #expect(phone.effects(.connection(.connected(gateway: "localhost"))) == [])
    for seq in 3...2_000 {
      phone.happens(.connection(.connecting))
      phone.happens(.push(Sample.push(UInt64(seq), alert: Sample.done)))
      phone.press("o")
    }
    #expect(phone.state.pendingAnswers.count == PhoneState.maximumPendingAnswers)
    #expect(phone.state.pendingAnswers.last == .init(id: "push-2000", action: "ok"))
  }

  @Test func `View dismisses the alert and opens the app, Close only dismisses (A3)`() {
    var phone = Sample.phone([
      .push(Sample.push(1, alert: Sample.earthquake)), .push(Sample.push(2, Sample.mail, alert: Sample.dinner)),
    ])
    phone.press("c")
    #expect(phone.screen == .home)
    let opened = Sample.push(2, Sample.mail, alert: Sample.dinner)
    #expect(phone.press("v") == [.answer(id: "push-2", action: "view"), .open(opened)])
    #expect(phone.screen == .app(topic: "com.example.mail", selected: nil))
    #expect(phone.alerts.isEmpty)
    phone.press(.escape)
    #expect(phone.screen == .home)
  }

  @Test(arguments: [Key.return, .escape, .character("o"), .character("c"), .character(" ")])
  func `a single button only dismisses (A4)`(_ key: Key) {
    var phone = Sample.phone([.push(Sample.push(1, alert: Sample.done))])
    #expect(phone.press(key) == [.answer(id: "push-1", action: "ok")])
    #expect(phone.screen == .home)
  }

  @Test func `the right button has the focus, and arrows and Tab move it`() {
    let start = Sample.phone([.push(Sample.push(1, alert: Sample.dinner))])
    let table: [([Key], String)] = [
      ([], "view"), ([.left], "close"), ([.right], "view"), ([.left, .left], "close"), ([.tab, .tab], "view"),
      ([.backTab], "close"), ([.left, .right], "view"),
    ]
    for (keys, action) in table {
      var phone = start
      for key in keys { #expect(phone.press(key) == []) }
      #expect(phone.press(.return).first == .answer(id: "push-1", action: action))
    }
  }

  @Test func `the focus starts on the right again for the next alert`() {
    var phone = Sample.phone([
      .push(Sample.push(1, alert: Sample.dinner)), .push(Sample.push(2, Sample.mail, alert: Sample.dinner)),
    ])
    phone.press(.left)
    phone.press(.return)
    #expect(phone.press(.return).contains(.answer(id: "push-2", action: "view")))
  }

  @Test func `no other key touches a modal alert (A1)`() {
    var phone = Sample.phone([.push(Sample.push(1, alert: Sample.dinner))])
    for key in [Key.character("o"), .character("s"), .character("x"), .up, .down, .character(" "), .pageUp] {
      #expect(phone.press(key) == [])
    }
    #expect(phone.alerts.count == 1)
    #expect(!phone.state.settings.isSilent)
  }

  // MARK: Keys pressed before an alert appeared

  /// Returns a phone on which an alert has just appeared, after `messages`.
  private func surprised(_ messages: [PhoneMessage] = []) -> (phone: PhoneModel, effects: [PhoneEffect]) {
    var phone = Sample.phone(messages)
    let effects = phone.update(.push(Sample.push(9, alert: Sample.dinner)), now: Sample.now)
    return (phone, effects)
  }

  @Test func `no key counts for an alert until it was on screen for half a second`() {
    var (phone, effects) = surprised()
    #expect(effects.last == .awaitReadiness(1, .milliseconds(500)))
    for key in [Key.return, .escape, .character("v"), .character("c"), .character("q"), .left, .character("?")] {
      #expect(phone.update(.key(key), now: Sample.now) == [])
    }
    #expect(phone.alerts.count == 1 && !phone.isHelpShown && phone.focusedButton == nil)
    // The readiness of another alert.
    phone.happens(.alertReady(7))
    #expect(phone.press("v") == [])
    phone.happens(.alertReady(1))
    #expect(phone.press("v").first == .answer(id: "push-9", action: "view"))
  }

  @Test func `the next of those that are being answered takes keys sooner, one that comes then does not`() {
    var phone = Sample.phone([
      .push(Sample.push(1, alert: Sample.earthquake)), .push(Sample.push(2, Sample.mail, alert: Sample.dinner)),
    ])
    #expect(
      phone.update(.key(.character("c")), now: Sample.now).last == .awaitReadiness(2, .milliseconds(150)))
    #expect(phone.press("c") == [])
    phone.happens(.alertReady(2))
    #expect(phone.press("c") == [.answer(id: "push-2", action: "close")])
    let effects = phone.update(.push(Sample.push(3, alert: Sample.done)), now: Sample.now)
    #expect(effects.last == .awaitReadiness(3, .milliseconds(500)))
    // The alert is answered on another device, and the next one appears.
    phone.happens(.push(Sample.push(4, Sample.mail, alert: Sample.done)))
    let next = phone.update(.retract(id: "push-3"), now: Sample.now)
    #expect(next.last == .awaitReadiness(4, .milliseconds(500)))
  }

  @Test(arguments: [Key.escape, .tab])
  func `what is being typed goes on being typed, until Esc or Tab`(_ key: Key) {
    var (phone, _) = surprised([.key(.character("2")), .key(.character("/")), .key(.character("a"))])
    phone.happens(.alertReady(1))
    for key in "cv".map(Key.character) + [.return, .backspace] where key != .return { phone.press(key) }
    #expect(phone.center.search == "ac")
    #expect(phone.alerts.count == 1)
    phone.press(key)
    #expect(phone.center.search == "ac", "the field stays as it is")
    #expect(phone.press("c") == [.answer(id: "push-9", action: "close")])
    phone.press("d")
    #expect(phone.center.search == "acd")
  }

  @Test func `who ends a field has half a second before keys are for the alert`() {
    var (phone, _) = surprised([.key(.character("2")), .key(.character("/"))])
    phone.happens(.alertReady(1))
    #expect(phone.update(.key(.return), now: Sample.now).last == .awaitReadiness(2, .milliseconds(500)))
    #expect(phone.press(.return) == [])
    phone.happens(.alertReady(2))
    #expect(phone.press(.return).first == .answer(id: "push-9", action: "view"))
  }

  @Test func `who leaves at once leaves the alert for later, and q is no way out of one`() {
    var (phone, _) = surprised()
    #expect(phone.effects(.key(.control("c"))) == [.quit])
    #expect(phone.alerts.count == 1)
    phone.happens(.alertReady(1))
    #expect(phone.press("q") == [])
    #expect(phone.effects(.key(.control("c"))).contains(.answer(id: "push-9", action: "close")))
    var sheet = Sample.phone([.push(Sample.push(1, alert: Sample.deploy)), .key(.character("v"))])
    #expect(sheet.sheet != nil)
    #expect(sheet.press("q") == [] && sheet.sheet != nil)
  }

  @Test func `an alert above a sheet takes the keys`() {
    var phone = Sample.phone([
      .push(Sample.push(1, alert: Sample.done)), .key(.return), .key(.character("2")), .key(.character("D")),
      .push(Sample.push(2, alert: Sample.dinner)),
    ])
    #expect(phone.sheet?.purpose == .clearAll)
    #expect(phone.press("2") == [])
    #expect(phone.press("c") == [.answer(id: "push-2", action: "close")])
    #expect(phone.state.entries.count == 2)
    #expect(phone.sheet?.purpose == .clearAll)
  }

  @Test func `choices of a sheet do not go round`() {
    var phone = Sample.phone([.push(Sample.push(1, alert: Sample.deploy)), .key(.character("v"))])
    let last = phone.sheet?.focus
    phone.press(.down)
    #expect(phone.sheet?.focus == last)
    for _ in 0..<9 { phone.press(.up) }
    #expect(phone.sheet?.focus == 0)
  }

  @Test func `leaving equals the cancelling button, and what waits keeps waiting (A7)`() {
    let messages: [PhoneMessage] = [.key(.control("d")), .key(.control("c")), .terminate]
    for message in messages {
      var phone = Sample.phone([
        .push(Sample.push(1, alert: Sample.dinner)), .push(Sample.push(2, Sample.mail, alert: Sample.done)),
      ])
      #expect(phone.effects(message) == [.answer(id: "push-1", action: "close"), .quit])
      #expect(phone.effects(message) == [.answer(id: "push-2", action: "ok"), .quit])
      #expect(phone.effects(message) == [.quit])
    }
  }

  @Test func `an alert that cannot be seen is neither presented nor answered`() {
    var phone = Sample.phone(size: Size(columns: 19, rows: 5))
    #expect(phone.effects(.push(Sample.push(1, alert: Sample.dinner))) == [])
    for key in [Key.character("v"), .character("c"), .return, .escape] { #expect(phone.press(key) == []) }
    var leaving = phone
    #expect(leaving.effects(.terminate) == [.quit])
    #expect(leaving.alerts.count == 1)
    #expect(
      phone.effects(.resized(Size(columns: 20, rows: 5))) == [.presented(id: "push-1", parts: [.alert])]
    )
  }

  @Test func `the silent switch silences, and says so (S4)`() {
    var phone = Sample.phone()
    #expect(phone.press("s") == [.state(silent: true, focus: "")])
    #expect(
      phone.effects(.push(Sample.push(1, badge: 1, sound: "chime"))) == [
        .presented(id: "push-1", parts: [.badge])
      ]
    )
    #expect(phone.effects(.push(Sample.push(2, sound: "chime"))) == [])
    #expect(phone.press("s") == [.state(silent: false, focus: "")])
  }

  @Test func `another screen's changes come in, those that are on their way stay, and each screen keeps its place`() {
    var phone = Sample.phone([
      .key(.character("2")), .push(Sample.push(1, alert: Sample.dinner)),
      .push(Sample.push(2, Sample.mail, alert: Sample.done)), .key(.character("c")),
    ])
    var history = phone.state
    history.place.screen = .home
    phone.record(.settings(DeviceSettings(isSilent: true)))
    #expect(phone.happens(.input(.tick)) == [.save(.settings(DeviceSettings(isSilent: true)))])
    // The history does not have that change. On the other screen, the alert was closed, and other entries were read and
    // cleared.
    history.apply(.answered(ordinal: 2, isRead: false))
    history.apply(.cleared([1]))
    let count = phone.unconfirmed.count - 1
    #expect(phone.effects(.stored(count: count, history: history)) == [])
    #expect(phone.alerts.isEmpty && phone.state.entries.map(\.ordinal) == [2] && !phone.state.entries[0].isRead)
    #expect(phone.screen == .center && phone.state.settings.isSilent)
    // The history now has all changes of this screen. On the other screen, the switch was changed and the mouse turned
    // off.
    history.apply(.settings(DeviceSettings(usesMouse: false)))
    #expect(
      phone.effects(.stored(count: count + 1, history: history)) == [
        .state(silent: false, focus: ""), .mouse(false),
      ])
    #expect(phone.state.settings == history.settings && phone.unconfirmed.count == 0)
  }

  @Test func `what its sender took back leaves the screen and the center, and another app's of its id stays`() {
    var phone = Sample.phone([
      .push(Sample.push(1, alert: Sample.dinner)), .push(Sample.push(2, Sample.mail, alert: Sample.done)),
    ])
    phone.happens(.takenBack(id: "push-2", topic: "com.example.news"))
    #expect(phone.alerts.map(\.id) == ["push-1", "push-2"])
    phone.happens(.takenBack(id: "push-1", topic: "com.example.news"))
    #expect(phone.alerts.map(\.id) == ["push-2"])
    #expect(phone.state.entries.map(\.push.id) == ["push-2"])
  }

  @Test func `an alert that is over elsewhere goes, whether it shows or waits`() {
    var phone = Sample.phone([
      .push(Sample.push(1, alert: Sample.dinner)), .push(Sample.push(2, alert: Sample.dinner)),
      .push(Sample.push(3, Sample.mail, alert: Sample.done)),
    ])
    #expect(phone.effects(.retract(id: "push-2")) == [])
    #expect(phone.effects(.retract(id: "push-1")) == [.presented(id: "push-3", parts: [.alert])])
    #expect(phone.effects(.retract(id: "push-1")) == [])
    #expect(phone.alerts.map(\.id) == ["push-3"])
  }

  @Test func `the center has who answered, and how; another screen of the device is in the history already`() {
    var phone = Sample.phone([
      .push(Sample.push(1, alert: Sample.deploy)), .push(Sample.push(2, Sample.mail, alert: Sample.deploy)),
      .push(Sample.push(3, Sample.album, alert: Sample.done)),
    ])
    phone.happens(.answeredElsewhere(id: "push-1", GivenAnswer(action: "approve", person: "ann")))
    phone.happens(.answeredElsewhere(id: "push-2", GivenAnswer(action: "gone", device: "laptop")))
    phone.happens(.answeredElsewhere(id: "push-3", GivenAnswer(action: "close", device: "laptop")))
    #expect(phone.alerts.isEmpty && phone.state.entries.allSatisfy(\.isRead))
    #expect(
      phone.state.entries.map(\.summary.detail) == [
        "Answered “Approve” by ann — Build 4711 has passed its tests.",
        "Answered “gone” on laptop — Build 4711 has passed its tests.", "",
      ])
    // An alert that was closed here, unread, and answered by another member of the group later.
    phone.happens(.push(Sample.push(4, alert: Sample.deploy)))
    phone.record(.answered(ordinal: 4, isRead: false))
    phone.happens(.answeredElsewhere(id: "push-4", GivenAnswer(action: "close", device: "studio")))
    #expect(!phone.state.entries[3].isRead)
    let answer = GivenAnswer(action: "reject", person: "ben")
    #expect(
      phone.happens(.answeredElsewhere(id: "push-4", answer)) == [.save(.retracted(id: "push-4", answer: answer))])
    #expect(phone.happens(.answeredElsewhere(id: "push-4", answer)) == [])
    #expect(phone.state.entries[3].answerWords == "Answered “Reject” by ben")
  }

  @Test func `a full queue drops the oldest that waits, never the one on screen`() {
    var phone = Sample.phone()
    let limit = PhoneState.maximumAlerts
    for seq in 1...UInt64(limit) { phone.effects(.push(Sample.push(seq, alert: Sample.done))) }
    #expect(phone.alerts.count == limit)
    phone.effects(.push(Sample.push(UInt64(limit) + 1, alert: Sample.done)))
    #expect(phone.alerts.count == limit)
    #expect(phone.alerts.prefix(2).map(\.id) == ["push-1", "push-3"])
    #expect(phone.state.unreadCount == limit + 1)
  }

  @Test func `registered apps keep what is known of them, and the rest goes`() {
    var phone = Sample.phone([.push(Sample.push(1, badge: 3)), .push(Sample.push(2, Sample.mail, badge: 1))])
    phone.press(.return)
    #expect(phone.screen == .app(topic: "com.example.news", selected: nil))
    phone.happens(.apps([Sample.mail]))
    #expect(phone.apps.map(\.badge) == [1])
    #expect(phone.screen == .home)
    phone.effects(.push(Sample.push(3, badge: 2)))
    #expect(phone.apps.map(\.app.name) == ["Mail", "News"])
  }

  @Test func `arrows select an app and, in the app, a push`() {
    var phone = Sample.phone([
      .push(Sample.push(1, Sample.mail, badge: 1)), .push(Sample.push(2, Sample.mail, badge: 2)),
    ])
    phone.press(.left)
    #expect(phone.selectedIndex == 0)
    phone.press(.right)
    #expect(phone.selectedIndex == 1)
    phone.press(.return)
    phone.press(.down)
    phone.press(.down)
    #expect(phone.screen == .app(topic: "com.example.mail", selected: 1))
    phone.press(.up)
    #expect(phone.screen == .app(topic: "com.example.mail", selected: nil))
  }

  @Test func `a key has one meaning at a time`() {
    var phones = [Sample.phone(), Sample.phone([.gap(dropped: 1)]), Sample.phone([.key(.return)])]
    for alert in [Sample.dinner, Sample.done] { phones.append(Sample.phone([.push(Sample.push(1, alert: alert))])) }
    phones.append(Sample.phone([.key(.character("2"))]))
    phones.append(Sample.phone([.key(.character("3"))]))
    phones.append(Sample.phone([.push(Sample.push(1, alert: Sample.done)), .key(.return), .key(.character("2"))]))
    phones.append(Sample.phone([.key(.character("2")), .key(.character("/"))]))
    for phone in phones {
      let keys = phone.keyBindings.flatMap(\.commands.keys)
      #expect(Set(keys).count == keys.count)
    }
  }

  @Test func `what is stored comes first, and all of it`() {
    var phone = Sample.phone()
    let push = Sample.push(1, badge: 3, sound: "chime", alert: Sample.dinner)
    let effects = phone.happens(.push(push))
    #expect(effects.first == .save(.presented(ordinal: 1)))
    #expect(!effects.dropFirst().contains { if case .save = $0 { true } else { false } })
    #expect(phone.happens(.key(.character("c"))).first == .save(.answered(ordinal: 1)))
    #expect(phone.takeChanges().isEmpty)
  }

  @Test func `an alert is told outside when the terminal lacks the focus, or always, or never`() {
    let app = Sample.push(1, alert: Sample.dinner).app.name
    let told = PhoneEffect.notify(app: app, title: "Dinner at Eight?", body: "")
    var phone = Sample.phone()
    #expect(!phone.effects(.push(Sample.push(1, alert: Sample.dinner))).contains(told))
    phone.happens(.focus(false))
    #expect(phone.effects(.push(Sample.push(2, alert: Sample.dinner))).contains(told))
    phone.record(.settings(DeviceSettings(notices: .off)))
    #expect(!phone.effects(.push(Sample.push(3, alert: Sample.dinner))).contains(told))
    phone.happens(.focus(true))
    phone.record(.settings(DeviceSettings(notices: .always)))
    #expect(phone.effects(.push(Sample.push(4, alert: Sample.dinner))).contains(told))
  }

  @Test func `help shows over everything, and any key closes it and does nothing else`() {
    var phone = Sample.phone([.push(Sample.push(1, alert: Sample.dinner)), .key(.character("?"))])
    #expect(phone.isHelpShown)
    #expect(phone.press("v").isEmpty)
    #expect(!phone.isHelpShown && phone.alerts.count == 1)
  }

  @Test func `more than one action is picked from a sheet, destructive on top, Cancel last (A6, X3)`() {
    var phone = Sample.phone([.push(Sample.push(1, alert: Sample.deploy))])
    #expect(phone.alerts[0].choices.map(\.title) == ["Close", "Options"])
    #expect(phone.press("v").isEmpty, "nothing is answered yet")
    #expect(phone.sheet?.titles == ["Reject", "Approve", "In an Hour", "Cancel"])
    #expect(phone.press(.escape).isEmpty)
    #expect(phone.sheet == nil && phone.alerts.count == 1)
    phone.press("v")
    phone.press(.up)
    #expect(phone.press(.return) == [.answer(id: "push-1", action: "later")])
    #expect(phone.alerts.isEmpty && phone.sheet == nil)
  }

  @Test func `a sheet goes with its alert when that is over elsewhere`() {
    var phone = Sample.phone([
      .push(Sample.push(1, alert: Sample.deploy)), .push(Sample.push(2, alert: Sample.done)), .key(.character("v")),
    ])
    #expect(phone.sheet != nil)
    phone.happens(.retract(id: "push-1"))
    #expect(phone.sheet == nil && phone.alerts.map(\.id) == ["push-2"])
  }

  @Test func `a single action is a button: right when harmless, left when it destroys (D1, D2)`() {
    var alert = Sample.dinner
    alert.offer([AlertAction(id: "accept", title: "Accept")])
    var phone = Sample.phone([.push(Sample.push(1, alert: alert))])
    #expect(phone.alerts[0].choices.map(\.title) == ["Close", "Accept"])
    #expect(phone.press(.return) == [.answer(id: "push-1", action: "accept")])
    alert.offer([AlertAction(id: "erase", title: "Erase", isDestructive: true)])
    phone.happens(.push(Sample.push(2, alert: alert)))
    #expect(phone.alerts[0].choices.map(\.title) == ["Erase", "Close"])
    #expect(phone.press(.return) == [.answer(id: "push-2", action: "close")])
    phone.happens(.push(Sample.push(3, alert: alert)))
    #expect(phone.press(.escape) == [.answer(id: "push-3", action: "close")])
    phone.happens(.push(Sample.push(4, alert: alert)))
    #expect(phone.happens(.terminate).suffix(2) == [.answer(id: "push-4", action: "close"), .quit])
  }

  @Test func `a critical sound plays in silence where the person allows it, and no other (S4)`() {
    let payload = #"{"aps":{"sound":"alarm","interruption-level":"critical"}}"#
    var preferences = Preferences()
    for isAllowed in [true, false] {
      preferences.apps["com.example.news", default: AppPreferences()].critical = isAllowed
      var phone = Sample.phone([.preferences(preferences), .key(.character("s"))])
      let effects = phone.effects(.push(Sample.push(1, sound: "alarm", payload: payload)))
      #expect(effects.contains(.play(sound: "alarm", volume: 100, urgency: .critical)) == isAllowed)
      #expect(phone.effects(.push(Sample.push(2, sound: "alarm"))).isEmpty)
    }
  }
}
