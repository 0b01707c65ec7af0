import GatewayProtocol
import PushPolicy
import TerminalUI
import Testing

@testable import pushcli

/// The end of the marketing of an app, and the permission of a new category.
@Suite struct UnsubscribeTests {
  private var sale: DevicePush {
    var push = Sample.push(1, alert: Sample.earthquake)
    push.app.sendsMarketing = true
    return push
  }

  /// Returns the ids of the pushes from whose apps the effects unsubscribe.
  private func unsubscribed(_ effects: [PhoneEffect]) -> [String] {
    effects.compactMap { if case .unsubscribe(let push) = $0 { push.id } else { nil } }
  }

  @Test func `an alert of an app that sends marketing offers to unsubscribe, after a confirmation`() {
    var phone = Sample.phone([.push(sale)])
    phone.press("x")
    #expect(phone.sheet?.titles == ["Unsubscribe From News", "Cancel"])
    #expect(unsubscribed(phone.press("1")) == ["push-1"])
    #expect(phone.sheet == nil && phone.alerts.map(\.id) == ["push-1"], "the alert keeps its own buttons")
    #expect(phone.activities.contains(.saving))
  }

  @Test func `a notification of the center offers it, too`() {
    var phone = Sample.phone([.push(sale), .key(.return), .key(.character("2"))])
    phone.press(.end)
    phone.press("x")
    #expect(unsubscribed(phone.press("1")) == ["push-1"])
  }

  @Test func `an app without marketing does not offer it, nor one whose marketing is off`() {
    var phone = Sample.phone([.push(Sample.push(1, alert: Sample.earthquake))])
    phone.press("x")
    #expect(phone.sheet == nil)
    var preferences = Preferences()
    preferences.apps[Sample.news.topic, default: .init()].marketing = false
    var off = Sample.phone([.preferences(preferences), .push(sale)])
    off.press("x")
    #expect(off.sheet == nil)
  }

  @Test func `a notification of a new category asks for a permission`() {
    var push = Sample.push(1)
    push.presentation.center = Sample.earthquake
    push.presentation.newCategory = "OFFERS"
    var phone = Sample.phone([.push(push), .key(.character("2"))])
    phone.press(.end)
    phone.press("c")
    #expect(phone.sheet?.titles == ["Off", "Show", "Keep Quiet", "Cancel"])
    let request = PreferencesRequest(settings: ["permission=quiet"], app: Sample.news.topic, category: "OFFERS")
    #expect(phone.press("3") == [.change(request)])
    var preferences = Preferences()
    preferences.apps[Sample.news.topic, default: .init()].categories["OFFERS", default: .init()].permission = .quiet
    phone.happens(.preferences(preferences))
    phone.press("c")
    #expect(phone.sheet == nil)
  }
}
