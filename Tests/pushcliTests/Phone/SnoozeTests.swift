import Foundation
import GatewayProtocol
import PushPolicy
import TerminalUI
import Testing

@testable import pushcli

/// Alerts and entries that are shown again at a later time.
@Suite struct SnoozeTests {
  /// Returns the phone after the first button of the sheet: ten minutes from ``Sample/now``, at 14:15.
  private func snoozed(_ pushes: [DevicePush]) -> PhoneModel {
    var phone = Sample.phone(pushes.map { .push($0) })
    phone.press("z")
    phone.press("1")
    return phone
  }

  @Test func `an alert leaves the screen, and is there again after its time with its actions`() {
    var phone = snoozed([Sample.push(1, sound: "ping", alert: Sample.deploy), Sample.push(2, alert: Sample.done)])
    #expect(phone.alerts.map(\.id) == ["push-2"])
    #expect(phone.notice == "Shown again at 14:15")
    #expect(phone.state.unreadCount == 2)
    _ = phone.update(.input(.tick), now: Sample.now + 599)
    #expect(phone.state.snoozed.count == 1)
    let effects = phone.update(.input(.tick), now: Sample.now + 600)
    #expect(phone.alerts.map(\.id) == ["push-2", "push-1"] && phone.state.snoozed.isEmpty)
    #expect(phone.alerts.last?.choices == QueuedAlert(ordinal: 1, push: Sample.push(1, alert: Sample.deploy)).choices)
    #expect(effects.contains(.save(.woken(ordinal: 1))))
    #expect(effects.contains { if case .play(sound: "ping", volume: _, urgency: _) = $0 { true } else { false } })
  }

  @Test func `an entry of the center is shown as an alert`() {
    var phone = Sample.phone([.push(Sample.push(1, alert: Sample.done)), .key(.return), .key(.character("2"))])
    phone.press(.end)
    phone.press("z")
    phone.press("2")
    #expect(phone.state.snoozed.map(\.until) == [Int(Sample.now.timeIntervalSince1970) + 3_600])
    _ = phone.update(.input(.tick), now: Sample.now + 3_600)
    #expect(phone.alerts.map(\.id) == ["push-1"])
  }

  @Test func `esc closes the sheet and changes nothing`() {
    var phone = Sample.phone([.push(Sample.push(1, alert: Sample.done))])
    phone.press("z")
    phone.press(.escape)
    #expect(phone.alerts.map(\.id) == ["push-1"] && phone.state.snoozed.isEmpty)
  }

  @Test func `an alert that ends elsewhere, is retracted, cleared or replaced is not shown again`() {
    let push = Sample.push(1, alert: Sample.dinner, collapse: "score")
    let ends: [(inout PhoneModel) -> Void] = [
      { $0.happens(.retract(id: "push-1")) },
      { $0.happens(.answeredElsewhere(id: "push-1", GivenAnswer(action: "yes", device: "laptop"))) },
      { $0.happens(.takenBack(id: "push-1", topic: Sample.news.topic)) },
      { $0.happens(.push(Sample.push(2, badge: 1, collapse: "score"))) },
      { $0.record(.cleared([1])) },
    ]
    for end in ends {
      var phone = snoozed([push])
      #expect(phone.state.snoozed.count == 1)
      end(&phone)
      #expect(phone.state.snoozed.isEmpty)
      _ = phone.update(.input(.tick), now: Sample.now + 600)
      #expect(phone.alerts.isEmpty)
    }
  }

  @Test func `an alert whose time passed while no screen was open is shown at the start`() {
    let state = snoozed([Sample.push(1, alert: Sample.dinner)]).state
    var phone = PhoneModel(device: "studio", state: state)
    _ = phone.update(.resized(Size(columns: 80, rows: 24)), now: Sample.now + 86_400)
    #expect(phone.alerts.map(\.id) == ["push-1"])
  }

  @Test func `snoozing is bounded, and again replaces the time`() {
    var state = PhoneState()
    let count = PhoneState.maximumSnoozed + 5
    for number in 1...count {
      state.apply(.received(Sample.push(UInt64(number), alert: Sample.done)))
      state.apply(.snoozed(ordinal: number, until: number))
    }
    #expect(state.alerts.isEmpty && state.snoozed.count == PhoneState.maximumSnoozed)
    state.apply(.snoozed(ordinal: count, until: 9_999))
    #expect(state.snoozed.count == PhoneState.maximumSnoozed && state.snoozed.last?.until == 9_999)
    state.apply(.woken(ordinal: 1))
    #expect(state.alerts.isEmpty, "it is no longer among them")
  }

  @Test(
    arguments: [
      // From 14:05 UTC, from 15:05 in another zone, and from 14:05:59.
      (Snooze.tenMinutes, 0, 0, 1_763_129_700), (.hour, 0, 0, 1_763_132_700), (.tomorrow, 0, 0, 1_763_193_600),
      (.tomorrow, 3_600, 0, 1_763_190_000), (.tenMinutes, 0, 59, 1_763_129_700),
    ] as [(Snooze, Int, Double, Int)])
  func `the end is a whole minute of the zone`(_ snooze: Snooze, _ offset: Int, _ later: Double, _ end: Int) throws {
    let zone = try #require(TimeZone(secondsFromGMT: offset))
    #expect(snooze.end(from: Sample.now + later, in: zone) == end)
  }
}
