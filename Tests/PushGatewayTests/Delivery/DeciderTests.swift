import PushPolicy
import PushTesting
import Testing

@testable import PushCore
@testable import PushGateway
@testable import PushStorage

/// The decision about one push for one device. `PushPolicyTests` has the tests of the policy's rules. These tests cover
/// the arguments of the policy and the effects of its results.
@Suite struct DeciderTests {
  static let topic = "com.example.news"
  /// Friday 08:00 UTC.
  static let now = TestClock.start
  static let alert = #"{"aps":{"alert":{"title":"T","body":"B"},"badge":3,"sound":"default"}}"#

  /// A push in one situation, and the expected decision.
  struct Situation: CustomTestStringConvertible {
    var testDescription: String
    var payload = alert
    var app = App(id: 1, topic: topic, name: "News", icon: "📰", policyMode: .enforce)
    var preferences = Preferences()
    var device = Policy.DeviceState()
    /// The time since the push was accepted, in seconds.
    var age: Int64 = 0
    var isCatchingUp = false
    var recentAlerts = 0
    var actions: [AlertAction] = []

    /// The presented parts: `b`, `s`, `a`, or `c` for an alert that is in the notification center only.
    var parts = "bsa"
    /// The detail of the row `suppressed` in the log.
    var suppressed: String?
    /// The detail of the row `transmitted` in the log.
    var asked = "badge sound alert"
    var hold: Deferral?
    /// True if the alert counts for the budget. Nil: it counts if it is shown.
    var isAlertCounted: Bool?

    init(_ description: String, _ change: (inout Situation) -> Void) {
      testDescription = description
      change(&self)
    }

    mutating func choose(_ change: (inout AppPreferences) -> Void) {
      change(&preferences.apps[topic, default: AppPreferences()])
    }
  }

  static func decide(_ situation: Situation, onAsk: (String) -> Void = { _ in }) throws -> DeliveryDecision {
    let decider = Decider(
      preferences: situation.preferences, device: situation.device, isCatchingUp: situation.isCatchingUp,
      now: now * 1000)
    let push = samplePush(7, app: situation.app.id, at: now - situation.age, payload: situation.payload)
    let content = try PayloadReader(parser: JSONParser()).content(of: push.payload)
    return decider.decide(
      push, content, of: situation.app, ads: AdFilter(),
      recentAlerts: {
        onAsk("alerts")
        return situation.recentAlerts
      },
      actions: { category in
        onAsk("actions of \(category)")
        return situation.actions
      },
      isQuestion: { $0.hasPrefix("ASK-") })
  }

  @Test(arguments: [
    Situation("nothing stands in the way") { _ in },
    Situation("quiet hours") {
      $0.preferences.quietHours = [QuietWindow(from: 7 * 60, to: 9 * 60, zone: "Etc/UTC")]
      ($0.parts, $0.suppressed) = ("bc", "sound N7 quiet/0; alert N7 quiet/0")
    },
    Situation("quiet hours that are over") {
      $0.preferences.quietHours = [QuietWindow(from: 6 * 60, to: 8 * 60, zone: "Etc/UTC")]
    },
    Situation("quiet hours, and a push that may break through") {
      $0.payload = #"{"aps":{"alert":"B","interruption-level":"time-sensitive"}}"#
      $0.preferences.quietHours = [QuietWindow(from: 7 * 60, to: 9 * 60, zone: "Etc/UTC")]
      $0.choose { $0.timeSensitive = true }
      ($0.parts, $0.asked, $0.isAlertCounted) = ("a", "alert; time-sensitive", false)
    },
    Situation("a Focus") {
      $0.device.focus = "work"
      ($0.parts, $0.suppressed) = ("bc", "sound N7 focus/work; alert N7 focus/work")
      $0.asked = "badge sound alert; focus work"
    },
    Situation("a Focus that lets the app through") {
      $0.device.focus = "work"
      $0.preferences.focuses["work"] = [topic]
      $0.asked = "badge sound alert; focus work"
    },
    Situation("the silent switch") {
      $0.device.isSilent = true
      ($0.parts, $0.suppressed, $0.asked) = ("ba", "sound S4 silent", "badge sound alert; silent")
    },
    Situation("a part that the person refuses") {
      $0.choose { $0.parts.alert = false }
      ($0.parts, $0.suppressed) = ("bs", "alert N5 apps/\(topic)/alert")
    },
    Situation("the last alert of a budget") {
      $0.choose { $0.alertBudget = 2 }
      ($0.recentAlerts, $0.isAlertCounted) = (1, true)
    },
    Situation("one beyond a budget") {
      $0.choose { $0.alertBudget = 2 }
      $0.recentAlerts = 2
      let setting = "A8 apps/\(topic)/alert_budget"
      ($0.parts, $0.suppressed) = ("bc", "sound \(setting); alert \(setting)")
    },
    Situation("the last alert of the default budget") { $0.recentAlerts = 19 },
    Situation("one beyond the default budget") {
      $0.recentAlerts = 20
      ($0.parts, $0.suppressed) = ("bc", "sound A8 budget; alert A8 budget")
    },
    Situation("a time-sensitive push beyond the default budget") {
      $0.payload = #"{"aps":{"alert":"B","interruption-level":"time-sensitive"}}"#
      ($0.recentAlerts, $0.parts, $0.asked, $0.isAlertCounted) = (20, "a", "alert; time-sensitive", false)
    },
    Situation("a question beyond the default budget") {
      $0.payload = #"{"aps":{"alert":"B","category":"ASK-1"}}"#
      ($0.recentAlerts, $0.parts, $0.asked, $0.isAlertCounted) = (20, "a", "alert; category ASK-1", false)
    },
    Situation("any number of alerts, where the person wants that") {
      $0.choose { $0.alertBudget = .unlimited }
      ($0.recentAlerts, $0.isAlertCounted) = (5_000, false)
    },
    Situation("a badge counts against no budget") {
      $0.payload = #"{"aps":{"badge":1}}"#
      $0.choose { $0.alertBudget = 2 }
      ($0.recentAlerts, $0.parts, $0.asked) = (2, "b", "badge")
    },
    Situation("catching up, a push that came just now") { $0.isCatchingUp = true },
    Situation("catching up, the tenth push of an absence") {
      ($0.isCatchingUp, $0.age, $0.recentAlerts) = (true, 3600, 9)
      $0.isAlertCounted = true
    },
    Situation("catching up, what is too much after an absence is held") {
      ($0.isCatchingUp, $0.age, $0.recentAlerts) = (true, 3600, 10)
      ($0.parts, $0.suppressed) = ("bc", "sound A8 absence; alert A8 absence")
      $0.hold = Deferral(by: .budget)
    },
    Situation("not catching up, the same") { ($0.age, $0.recentAlerts) = (3600, 10) },
    Situation("held for the summary, until its time") {
      $0.choose { $0.delivery = .summary }
      $0.preferences.summary = SummaryTimes(minutes: [12 * 60], zone: "Etc/UTC")
      let setting = "N7 apps/\(topic)/delivery"
      ($0.parts, $0.suppressed) = ("bc", "sound \(setting); alert \(setting)")
      $0.hold = Deferral(by: .summary, until: now + 4 * 3600)
    },
    Situation("held for the summary that came after it was accepted") {
      $0.choose { $0.delivery = .summary }
      $0.preferences.summary = SummaryTimes(minutes: [7 * 60], zone: "Etc/UTC")
      $0.age = 2 * 3600
      let setting = "N7 apps/\(topic)/delivery"
      ($0.parts, $0.suppressed) = ("bc", "sound \(setting); alert \(setting)")
      $0.hold = Deferral(by: .summary, until: now - 3600)
    },
    Situation("a digest is held for no digest") {
      $0.app = .summary
      $0.preferences.apps["summary"] = AppPreferences()
      $0.preferences.apps["summary"]?.delivery = .summary
      let setting = "N7 apps/summary/delivery"
      ($0.parts, $0.suppressed) = ("bc", "sound \(setting); alert \(setting)")
    },
    Situation("advertising is held") {
      $0.payload = #"{"aps":{"alert":{"title":"Flash sale","body":"50% off, buy now"},"badge":1}}"#
      ($0.parts, $0.asked, $0.suppressed) = ("b", "badge alert", "alert A9 apps/\(topic)/advertising")
    },
    Situation("advertising that the person allows") {
      $0.payload = #"{"aps":{"alert":{"title":"Flash sale","body":"50% off, buy now"}}}"#
      $0.choose { $0.advertising = true }
      ($0.parts, $0.asked) = ("a", "alert")
    },
    Situation("marketing without consent, also of an app without a check of advertising") {
      $0.payload = #"{"marketing":true,"aps":{"alert":{"title":"Flash sale","body":"50% off, buy now"},"badge":1}}"#
      $0.app = App(id: 1, topic: topic, name: "News", icon: "📰", policyMode: .report, ads: .off)
      ($0.parts, $0.asked) = ("b", "badge alert; marketing")
      $0.suppressed = "alert N9 apps/\(topic)/marketing"
    },
    Situation("a new category of an app that starts them quiet") {
      $0.payload = #"{"aps":{"alert":"B","category":"NEW"}}"#
      $0.app = App(id: 1, topic: topic, name: "News", icon: "📰", policyMode: .enforce, knownCategories: ["CHAT"])
      ($0.parts, $0.asked) = ("c", "alert; category NEW")
      $0.suppressed = "alert N10 apps/\(topic)/categories/NEW/permission"
    },
    Situation("a known category of an app that starts new ones quiet") {
      $0.payload = #"{"aps":{"alert":"B","category":"CHAT"}}"#
      $0.app = App(id: 1, topic: topic, name: "News", icon: "📰", policyMode: .enforce, knownCategories: ["CHAT"])
      ($0.parts, $0.asked) = ("a", "alert; category CHAT")
    },
    Situation("an app that recipients reported, until the next summary") {
      $0.app = App(
        id: 1, topic: topic, name: "News", icon: "📰", policyMode: .enforce,
        measure: SummaryMeasure(summaryFrom: now, countedFrom: now + 1))
      $0.preferences.summary = SummaryTimes(minutes: [12 * 60], zone: "Etc/UTC")
      let setting = "N11 apps/\(topic)/standing"
      ($0.parts, $0.suppressed) = ("bc", "sound \(setting); alert \(setting)")
      $0.hold = Deferral(by: .summary, until: now + 4 * 3600)
    },
    Situation("an app that recipients reported, after the time in the summary") {
      $0.app = App(
        id: 1, topic: topic, name: "News", icon: "📰", policyMode: .enforce,
        measure: SummaryMeasure(summaryFrom: now - 10, countedFrom: now))
    },
    Situation("marketing that the person wants") {
      $0.payload = #"{"marketing":true,"aps":{"alert":{"title":"Flash sale","body":"50% off, buy now"}}}"#
      $0.preferences.marketing = true
      ($0.parts, $0.asked) = ("a", "alert; marketing")
    },
    Situation("advertising without a declaration, for a person who wants marketing") {
      $0.payload = #"{"aps":{"alert":{"title":"Flash sale","body":"50% off, buy now"},"badge":1}}"#
      $0.choose { $0.marketing = true }
      ($0.parts, $0.asked, $0.suppressed) = ("b", "badge alert", "alert A9 apps/\(topic)/advertising")
    },
    Situation("advertising of an app that is only reported") {
      $0.payload = #"{"aps":{"alert":{"title":"Flash sale","body":"50% off, buy now"}}}"#
      $0.app = App(id: 1, topic: topic, name: "News", icon: "📰", policyMode: .enforce, ads: .report)
      ($0.parts, $0.asked) = ("a", "alert")
    },
    Situation("a category that the person refuses") {
      $0.payload = #"{"aps":{"alert":"B","category":"CHAT"}}"#
      $0.choose {
        $0.categories["CHAT"] = CategoryPreferences()
        $0.categories["CHAT"]?.alert = false
      }
      ($0.parts, $0.asked) = ("", "alert; category CHAT")
      $0.suppressed = "alert N6 apps/\(topic)/categories/CHAT/alert"
    },
  ])
  func `a decision, its rows and what follows`(_ situation: Situation) throws {
    let decision = try DeciderTests.decide(situation)
    let presentation = decision.presentation
    let parts =
      (presentation.badge == nil ? "" : "b") + (presentation.sound == nil ? "" : "s")
      + (presentation.alert == nil ? "" : "a") + (presentation.center == nil ? "" : "c")
    #expect(parts == situation.parts)
    #expect(decision.suppressed?.detail.words == situation.suppressed)
    #expect(decision.transmitted.detail.words == situation.asked)
    #expect(decision.hold == situation.hold)
    #expect(decision.isAlertCounted == situation.isAlertCounted ?? situation.parts.contains("a"))
    for row in [decision.transmitted, decision.suppressed].compactMap(\.self) {
      #expect(row.id == .number(7) && row.at == DeciderTests.now * 1000)
      #expect(row.app == situation.app.id && row.device == 1 && row.uniqueID == nil)
    }
    #expect(decision.transmitted.event == .transmitted)
    #expect(decision.suppressed?.event ?? .suppressed == .suppressed)
  }

  static let reply = AlertAction(id: "reply", title: "Reply")
  static let delete = AlertAction(id: "delete", title: "Delete", isDestructive: true)

  @Test(
    arguments: zip(
      [[], [reply], [delete], [reply, delete]],
      [["Close", "View"], ["Close", "Reply"], ["Delete", "Close"], ["Close", "Options"]]))
  func `a category's actions are the alert's buttons, shown now or in the notification center`(
    _ actions: [AlertAction], _ buttons: [String]
  ) throws {
    for isQuiet in [false, true] {
      let situation = Situation("") {
        $0.payload = #"{"aps":{"alert":"B","category":"CHAT"}}"#
        $0.actions = actions
        if isQuiet { $0.device.focus = "work" }
      }
      let presentation = try DeciderTests.decide(situation).presentation
      let alert = try #require(isQuiet ? presentation.center : presentation.alert)
      #expect(alert.buttons == buttons)
      #expect(alert.actions == (actions.isEmpty ? nil : actions))
    }
  }

  @Test func `nobody is asked for what the decision does not depend on`() throws {
    var asked: [String] = []
    for (payload, budget) in [(#"{"aps":{"badge":1}}"#, AlertBudget.standard), (DeciderTests.alert, .unlimited)] {
      _ = try DeciderTests.decide(
        Situation("") {
          $0.payload = payload
          $0.choose { $0.alertBudget = budget }
        }
      ) { asked.append($0) }
    }
    #expect(asked.isEmpty)
    let both = Situation("") {
      $0.payload = #"{"aps":{"alert":"B","category":"CHAT"}}"#
      $0.choose { $0.alertBudget = 1 }
    }
    _ = try DeciderTests.decide(both) { asked.append($0) }
    #expect(asked == ["alerts", "actions of CHAT"])
  }

  @Test(
    arguments: [(0, 0, false), (0, 100, false), (1, -1, false), (1, 0, true), (1, 1, true)] as [(UInt64, Int64, Bool)])
  func `a push is over at its second, and one that is never stored is not`(
    _ seq: UInt64, _ secondsPast: Int64, _ isOver: Bool
  ) {
    let entry = MailboxEntry(seq: seq, push: samplePush(lifetime: 60))
    #expect(entry.isExpired(at: (TestClock.start + 60 + secondsPast) * 1000 + 999) == isOver)
  }
}
