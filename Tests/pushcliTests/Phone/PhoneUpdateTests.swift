import Foundation
import PushPolicy
import Testing

@testable import pushcli

@Suite struct PhoneUpdateTests {
  @Test func `a push sets the badge, plays its sound and shows its alert`() {
    var phone = Sample.phone()
    let effects = phone.happens(.push(Sample.push(1, badge: 3, sound: "chime", alert: Sample.earthquake)))
    #expect(
      effects == [.save, .play(sound: "chime"), .presented(id: "push-1", parts: [.badge, .sound, .alert])]
    )
    #expect(phone.app("com.example.news")?.badge == 3)
    #expect(phone.alerts.map(\.id) == ["push-1"])
  }

  @Test func `zero clears a badge and an absent one leaves it (B2)`() {
    var phone = Sample.phone([.push(Sample.push(1, badge: 3)), .push(Sample.push(2, sound: "default"))])
    #expect(phone.app("com.example.news")?.badge == 3)
    #expect(phone.happens(.push(Sample.push(3, badge: 0))) == [.save, .presented(id: "push-3", parts: [.badge])])
    #expect(phone.app("com.example.news")?.badge == 0)
  }

  @Test func `alerts queue, and one that waited is told when it appears`() {
    var phone = Sample.phone([.push(Sample.push(1, alert: Sample.earthquake))])
    let effects = phone.happens(.push(Sample.push(2, badge: 1, alert: Sample.dinner)))
    #expect(effects == [.save, .presented(id: "push-2", parts: [.badge])])
    #expect(phone.happens(.push(Sample.push(3, alert: Sample.done))) == [.save])
    #expect(
      phone.press("c") == [
        .save, .answer(id: "push-1", action: "close"), .presented(id: "push-2", parts: [.alert]),
      ]
    )
    #expect(phone.alerts.map(\.id) == ["push-2", "push-3"])
  }

  @Test func `View dismisses the alert and opens the app, Close only dismisses (A3)`() {
    var phone = Sample.phone([
      .push(Sample.push(1, alert: Sample.earthquake)), .push(Sample.push(2, Sample.mail, alert: Sample.dinner)),
    ])
    phone.press("c")
    #expect(phone.screen == .home)
    #expect(phone.press("v") == [.save, .answer(id: "push-2", action: "view")])
    #expect(phone.screen == .app(topic: "com.example.mail", selectedID: nil))
    #expect(phone.alerts.isEmpty)
    phone.press(.escape)
    #expect(phone.screen == .home)
  }

  @Test(arguments: [Key.return, .escape, .character("o"), .character("c"), .character(" ")])
  func `a single button only dismisses (A4)`(_ key: Key) {
    var phone = Sample.phone([.push(Sample.push(1, alert: Sample.done))])
    #expect(phone.press(key) == [.save, .answer(id: "push-1", action: "ok")])
    #expect(phone.screen == .home)
  }

  @Test func `the right button has the focus, and arrows and Tab move it`() {
    let start = Sample.phone([.push(Sample.push(1, alert: Sample.dinner))])
    let table: [([Key], String)] = [
      ([], "view"), ([.left], "close"), ([.right], "close"), ([.tab, .tab], "view"), ([.backTab], "close"),
    ]
    for (keys, action) in table {
      var phone = start
      for key in keys { #expect(phone.press(key) == []) }
      #expect(phone.press(.return) == [.save, .answer(id: "push-1", action: action)])
    }
  }

  @Test func `the focus starts on the right again for the next alert`() {
    var phone = Sample.phone([
      .push(Sample.push(1, alert: Sample.dinner)), .push(Sample.push(2, alert: Sample.dinner)),
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
    #expect(!phone.isSilent)
  }

  @Test func `leaving equals the cancelling button, and what waits keeps waiting (A7)`() {
    let messages: [PhoneMessage] = [.key(.character("q")), .key(.control("c")), .terminate]
    for message in messages {
      var phone = Sample.phone([
        .push(Sample.push(1, alert: Sample.dinner)), .push(Sample.push(2, alert: Sample.done)),
      ])
      #expect(phone.happens(message) == [.save, .answer(id: "push-1", action: "close"), .quit])
      #expect(phone.happens(message) == [.save, .answer(id: "push-2", action: "ok"), .quit])
      #expect(phone.happens(message) == [.save, .quit])
    }
  }

  @Test func `an alert that cannot be seen is neither presented nor answered`() {
    var phone = Sample.phone(size: Size(columns: 20, rows: 5))
    #expect(phone.happens(.push(Sample.push(1, alert: Sample.dinner))) == [.save])
    for key in [Key.character("v"), .character("c"), .return, .escape] { #expect(phone.press(key) == []) }
    var leaving = phone
    #expect(leaving.happens(.terminate) == [.save, .quit])
    #expect(leaving.alerts.count == 1)
    #expect(
      phone.happens(.resized(Size(columns: 30, rows: 10))) == [.save, .presented(id: "push-1", parts: [.alert])]
    )
  }

  @Test func `the silent switch silences, and says so (S4)`() {
    var phone = Sample.phone()
    #expect(phone.press("s") == [.save, .state(silent: true)])
    #expect(
      phone.happens(.push(Sample.push(1, badge: 1, sound: "chime"))) == [
        .save, .presented(id: "push-1", parts: [.badge]),
      ]
    )
    #expect(phone.happens(.push(Sample.push(2, sound: "chime"))) == [.save])
    #expect(phone.press("s") == [.save, .state(silent: false)])
  }

  @Test func `a push that is known does nothing, and one without a number always comes`() {
    var phone = Sample.phone([.push(Sample.push(7, badge: 1))])
    #expect(phone.happens(.push(Sample.push(7, badge: 5))) == [])
    #expect(phone.happens(.push(Sample.push(6, badge: 5))) == [])
    #expect(phone.happens(.push(Sample.push(0, badge: 2))) == [.save, .presented(id: "push-0", parts: [.badge])])
    #expect(phone.happens(.push(Sample.push(0, badge: 3))) != [])
    #expect(phone.lastSeq == 7)
    #expect(phone.app("com.example.news")?.badge == 3)
  }

  @Test func `an alert that is over elsewhere goes, whether it shows or waits`() {
    var phone = Sample.phone([
      .push(Sample.push(1, alert: Sample.dinner)), .push(Sample.push(2, alert: Sample.dinner)),
      .push(Sample.push(3, alert: Sample.done)),
    ])
    #expect(phone.happens(.retract(id: "push-2")) == [.save])
    #expect(phone.happens(.retract(id: "push-1")) == [.save, .presented(id: "push-3", parts: [.alert])])
    #expect(phone.happens(.retract(id: "push-1")) == [])
    #expect(phone.alerts.map(\.id) == ["push-3"])
  }

  @Test func `a full queue drops the oldest that waits, never the one on screen`() {
    var phone = Sample.phone()
    let limit = PhoneModel.maximumAlerts
    for seq in 1...UInt64(limit) { phone.happens(.push(Sample.push(seq, alert: Sample.done))) }
    #expect(phone.alerts.count == limit)
    #expect(phone.app("com.example.news")?.unreadCount == 0)
    phone.happens(.push(Sample.push(UInt64(limit) + 1, alert: Sample.done)))
    #expect(phone.alerts.count == limit)
    #expect(phone.alerts.prefix(2).map(\.id) == ["push-1", "push-3"])
    #expect(phone.app("com.example.news")?.unreadCount == 1)
    #expect(phone.app("com.example.news")?.recent.count == InstalledApp.maximumRecent)
  }

  @Test func `everything that matters comes back from its coded form (L2)`() throws {
    var phone = Sample.phone([
      .push(Sample.push(1, badge: 3, alert: Sample.dinner)), .push(Sample.push(2, Sample.mail, alert: Sample.done)),
      .gap(dropped: 4),
    ])
    phone.press("v")
    phone.isSilent = true
    var restored = try JSONDecoder().decode(PhoneModel.self, from: JSONEncoder().encode(phone))
    #expect(restored.apps == phone.apps)
    #expect(restored.alerts == phone.alerts)
    #expect(restored.screen == .app(topic: "com.example.news", selectedID: nil))
    #expect((restored.isSilent, restored.lastSeq, restored.droppedCount) == (true, 2, 4))
    #expect(restored.happens(.resized(Size(columns: 80, rows: 24))) == [])
    #expect(restored.press("o") == [.save, .answer(id: "push-2", action: "ok")])
  }

  @Test func `registered apps keep what is known of them, and the rest goes`() {
    var phone = Sample.phone([.push(Sample.push(1, badge: 3)), .push(Sample.push(2, Sample.mail, badge: 1))])
    phone.press(.return)
    #expect(phone.screen == .app(topic: "com.example.news", selectedID: nil))
    phone.happens(.apps([Sample.mail]))
    #expect(phone.apps.map(\.badge) == [1])
    #expect(phone.screen == .home)
    phone.happens(.push(Sample.push(3, badge: 2)))
    #expect(phone.apps.map(\.app.name) == ["Mail", "News"])
  }

  @Test func `arrows select an app and, in the app, a push`() {
    var phone = Sample.phone([.push(Sample.push(1, Sample.mail)), .push(Sample.push(2, Sample.mail))])
    phone.press(.left)
    #expect(phone.selectedIndex == 0)
    phone.press(.right)
    #expect(phone.selectedIndex == 1)
    phone.press(.return)
    phone.press(.down)
    phone.press(.down)
    #expect(phone.screen == .app(topic: "com.example.mail", selectedID: "push-1"))
    phone.press(.up)
    #expect(phone.screen == .app(topic: "com.example.mail", selectedID: nil))
  }

  @Test func `a key has one meaning at a time`() {
    var phones = [Sample.phone(), Sample.phone([.gap(dropped: 1)]), Sample.phone([.key(.return)])]
    for alert in [Sample.dinner, Sample.done] { phones.append(Sample.phone([.push(Sample.push(1, alert: alert))])) }
    for phone in phones {
      let keys = phone.keyBindings.flatMap(\.commands.keys)
      #expect(Set(keys).count == keys.count)
    }
  }
}
