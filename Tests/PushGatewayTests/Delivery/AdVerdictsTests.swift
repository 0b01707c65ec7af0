import PushPolicy
import PushTesting
import Testing

@testable import PushGateway

@Suite struct AdVerdictsTests {
  private func alert(_ body: String, _ action: PushNotification.ActionKey = .absent) -> PushNotification.Alert {
    var alert = PushNotification.Alert()
    alert.body = body
    alert.action = action
    return alert
  }

  @Test func `a remembered verdict is what the detector says`() {
    var verdicts = AdVerdicts()
    let detector = AdDetector()
    // There are more texts than entries of the cache, so that many share one. Alerts that differ in the button only are
    // different.
    let alerts =
      (0..<600).flatMap { number in
        [
          alert("Your parcel \(number) arrives at 5 pm."), alert("Flash sale! \(number) % off everything, shop now!"),
          alert("Your parcel \(number) arrives at 5 pm.", .title("Claim Your Free Gift Now")),
        ]
      }
    for _ in 0..<2 {
      for alert in alerts { #expect(verdicts.outcome(of: alert) == detector.assess(alert)) }
    }
    #expect(Set(alerts.map { verdicts.outcome(of: $0) }).count > 1)
  }
}
