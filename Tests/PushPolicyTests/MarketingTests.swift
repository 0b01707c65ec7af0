import Foundation
import Testing

@testable import PushPolicy

/// Rule N9: marketing is off until the user turns it on.
struct MarketingTests {
  private let topic = "com.example.shop"

  private func preferences(_ settings: [(String, app: Bool)]) throws -> Preferences {
    var preferences = Preferences()
    for (setting, isOfApp) in settings { try preferences.set(setting, app: isOfApp ? topic : nil, category: nil) }
    return preferences
  }

  private func push(alert: String? = "Sale", sound: Bool = true) -> PushNotification {
    var push = PushNotification()
    push.badge = 1
    if sound { push.sound = .init(name: "default") }
    if let alert {
      push.alert = .init()
      push.alert?.body = alert
    }
    return push
  }

  private func decide(
    _ preferences: Preferences, isMarketing: Bool = true, isAdvertisement: Bool = false
  ) -> Decision {
    Policy.decide(
      push(), topic: topic, preferences: preferences, device: .init(), at: .utc(0), isAdvertisement: isAdvertisement,
      isMarketing: isMarketing)
  }

  @Test(
    arguments: [
      ([], false), ([("marketing=on", false)], true), ([("marketing=on", true)], true),
      ([("marketing=on", false), ("marketing=off", true)], false),
      ([("marketing=off", false), ("marketing=on", true)], true),
      ([("marketing=on", false), ("marketing=off", true), ("marketing=inherit", true)], true),
      ([("advertising=allow", true)], true), ([("advertising=allow", true), ("marketing=off", true)], false),
    ] as [([(String, app: Bool)], Bool)])
  func `N9: the preference of the app decides, then that for everything; both are off at first`(
    _ settings: [(String, app: Bool)], _ isAllowed: Bool
  ) throws {
    let preferences = try preferences(settings)
    #expect(preferences.allowsMarketing(of: topic) == isAllowed)
    let decision = decide(preferences)
    #expect(decision.removed.isEmpty == isAllowed)
    #expect((preferences.marketingViolation(by: push(), topic: topic) == nil) == isAllowed)
  }

  @Test func `N9: declared marketing without consent has no alert and no sound, and the setting is named`() {
    let decision = decide(Preferences())
    #expect(decision.presentation == Presentation(badge: 1))
    let removed = [Part.sound, .alert].map { Decision.Removal(part: $0, rule: .n9, setting: "apps/\(topic)/marketing") }
    #expect(decision.removed == removed)
    #expect(removed.map(\.isRefusal) == [true, true])
    let words = Explanation(removed[1], preferences: Preferences(), device: "me", topic: topic)
    #expect(words.reason == "marketing of the app is off")
    #expect(words.remedy == "pushcli prefs set --device me --app \(topic) marketing=on")
  }

  @Test func `N9: a push without a declaration needs no consent to marketing`() {
    #expect(decide(Preferences(), isMarketing: false).removed.isEmpty)
  }

  @Test func `N9: marketing that the user wants comes under the other preferences`() throws {
    let preferences = try preferences([("marketing=on", true), ("alert=off", true)])
    #expect(decide(preferences).removed == [.init(part: .alert, rule: .n5, setting: "apps/\(topic)/alert")])
  }

  @Test func `A9: advertising without a declaration is removed also for a user who wants marketing`() throws {
    let preferences = try preferences([("marketing=on", true)])
    let decision = decide(preferences, isMarketing: false, isAdvertisement: true)
    #expect(decision.removed.map(\.rule) == [.a9, .a9])
  }

  @Test func `N9: only a push that interrupts is refused, and the message differs after an unsubscribe`() throws {
    let quiet = push(alert: nil, sound: false)
    #expect(Preferences().marketingViolation(by: quiet, topic: topic) == nil)
    let never = try #require(Preferences().marketingViolation(by: push(), topic: topic))
    #expect((never.rule, never.pointer) == (.n9, "/marketing"))
    #expect(never.message.contains("has not turned marketing on"))
    let off = try preferences([("marketing=off", true)])
    #expect(off.isUnsubscribed(from: topic))
    #expect(off.marketingViolation(by: push(), topic: topic)?.message.contains("has unsubscribed") == true)
  }

  @Test func `turning the marketing of an app off ends its advertising, too`() throws {
    let preferences = try preferences([("advertising=allow", true), ("marketing=off", true)])
    #expect(preferences.apps[topic]?.advertising == false)
    #expect(preferences.apps[topic]?.marketing == false)
  }

  @Test func `an end of marketing is found for the apps that it concerns`() throws {
    let topics = [topic, "com.example.other"]
    let (none, everything) = (Preferences(), try preferences([("marketing=on", false)]))
    let app = try preferences([("marketing=off", true)])
    #expect(Preferences.unsubscribed(topics, from: none, to: app) == [topic])
    #expect(Preferences.unsubscribed(topics, from: app, to: app) == [])
    #expect(Preferences.unsubscribed(topics, from: everything, to: none) == topics)
    #expect(Preferences.unsubscribed(topics, from: none, to: everything) == [])
  }

  @Test(
    arguments: [
      (#"{"aps":{},"marketing":true}"#, true), (#"{"marketing":true,"aps":{}}"#, true), (#"{"marketing":true}"#, true),
      (#"{"marketing":true,"marketing":false,"aps":{}}"#, true), (#"{"aps":{},"marketing":false}"#, false),
      (#"{"aps":{},"marketing":"true"}"#, false), (#"{"aps":{},"marketing":1}"#, false),
      (#"{"aps":{"marketing":true}}"#, false), (#"{"aps":{},"marketing":{"id":7}}"#, false), (#"{"aps":{}}"#, false),
    ])
  func `marketing is declared with true beside aps`(_ text: String, _ isMarketing: Bool) throws {
    let bytes = Array(text.utf8)
    #expect(try JSONParser().payload(bytes.span).isMarketing == isMarketing)
  }

  @Test func `the delivery log keeps the declaration, so that a decision can be repeated`() throws {
    let asked = RequestedPresentation(push(), on: .init(), isMarketing: true)
    #expect(asked.description == "badge sound alert; marketing")
    #expect(RequestedPresentation(asked.description) == asked)
    let detail = DeliveryDetail.asked(asked)
    #expect(detail.code == nil)
    var bytes: [UInt8] = []
    detail.appendJSON(to: &bytes)
    #expect(try JSONDecoder().decode(DeliveryDetail.self, from: Data(bytes)) == detail)
    let delivery = Replay.Delivery(id: "1", topic: topic, at: 0, received: 0, asked: asked)
    var replay = Replay(Preferences(), offset: { _, _ in 0 })
    #expect(replay.decide(delivery).removed.map(\.rule) == [.n9, .n9])
  }
}

/// Messages that announce a transaction and make an offer.
struct MixedMessageTests {
  private let detector = AdDetector()

  private func alert(_ title: String, _ body: String) -> PushNotification.Alert {
    var alert = PushNotification.Alert()
    (alert.title, alert.body) = (title, body)
    return alert
  }

  @Test func `A9: one sentence with an offer decides, and the refusal names it`() {
    let offer = "Get 20% off your next order with code SAVE20."
    let news =
      "Your order 4711 has shipped and arrives Friday between 9 and 12. The driver needs your signature, and the invoice "
      + "is in your account."
    let alert = alert("Order Shipped", "\(news) \(offer)")
    #expect(detector.assess([alert.title, alert.body]).outcome != .refuse, "the whole is mostly ordinary")
    #expect(detector.assess(alert) == .refuse)
    let violation = detector.violation(of: alert)
    #expect(violation.message.contains(#"("\#(offer)")"#), "\(violation.message)")
    #expect(!violation.evidence.isEmpty)
  }

  @Test(arguments: [
    "Your order 4711 has shipped. It arrives Friday.", "您的订单已发货。预计周五送达。", "Done.", "", "...", "One\n\nTwo",
  ])
  func `A9: ordinary sentences stay ordinary`(_ body: String) {
    #expect(detector.assess(alert("Order Shipped", body)) != .refuse)
  }

  @Test(
    arguments: [
      ("One. Two! Three? Four", ["One.", "Two!", "Three?", "Four"]), ("一。二！三", ["一。", "二！", "三"]),
      ("At 7.30 in v1.2.\nNext", ["At 7.30 in v1.2.", "Next"]), ("  A.  B.  ", ["A.", "B."]), ("", []), (" \n ", []),
      ("Wait... what?!", ["Wait...", "what?!"]),
    ] as [(String, [String])])
  func `sentences end at punctuation before a blank, at wide punctuation and at line breaks`(
    _ text: String, _ sentences: [String]
  ) {
    var (found, position): ([String], Int) = ([], 0)
    let bytes = Array(text.utf8)
    while let range = AdSentences.next(in: bytes.span, from: &position) {
      found.append(String(decoding: bytes[range], as: UTF8.self))
    }
    #expect(found == sentences)
  }
}
