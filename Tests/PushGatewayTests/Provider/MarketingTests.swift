import GatewayClient
import HTTP2Transport
import PushPolicy
import PushTesting
import Testing

@testable import PushCore
@testable import PushGateway
@testable import PushStorage

/// Marketing that senders declare (N9): the answers to senders, and the end of a user's consent.
@Suite struct MarketingConsentTests {
  static let sale = #"{"marketing":true,"aps":{"alert":"Everything is cheaper until Sunday"}}"#
  static let ordinary = #"{"aps":{"alert":"The order has shipped"}}"#

  private func text(_ answer: Client.Answer) -> String { String(decoding: answer.body, as: UTF8.self) }

  private func set(
    _ settings: [String], _ gateway: TestGateway, _ device: TestDevice, push: APNSID? = nil
  ) async throws {
    let owner = try #require(gateway.registrations.device(device.id)).person
    _ = try await gateway.parts.devices.changePreferences(
      of: owner, assigning: settings, app: SampleRequest.topic, category: nil, isByOwner: true, by: device.id,
      push: push)
  }

  @Test func `marketing is refused with N9 until the recipient turns it on`() async throws {
    try await TestGateway.run { gateway in
      let (client, wants, other) = (
        try await gateway.client(), try await gateway.enroll("wants"), try await gateway.enroll("other")
      )
      try await set(["marketing=on"], gateway, wants)
      #expect(try await gateway.push(client, to: wants.token, payload: Self.sale).status == 200)
      let refused = try await gateway.push(client, to: other.token, payload: Self.sale)
      #expect(refused.status == 403)
      #expect(text(refused).hasPrefix(#"{"reason":"Forbidden","policy":{"rule":"N9","at":"/marketing""#))
      #expect(refused.apnsMarketing == nil, "the recipient has never unsubscribed")
      #expect(gateway.parts.mailbox.waitingCount(for: wants.id) == 1)
      #expect(gateway.parts.mailbox.waitingCount(for: other.id) == 0)
    }
  }

  @Test(arguments: [
    #"{"aps":{"alert":"Hello"}}"#, #"{ "aps":{"alert":"Hello"}}"#, #"{"aps":{"alert":"Hello"},"marketing":false}"#,
  ])
  func `the header declares marketing, and the payload then says so`(_ payload: String) async throws {
    try await TestGateway.run { gateway in
      let (client, device) = (try await gateway.client(), try await gateway.enroll())
      let header: [(HeaderName, String)] = [(.apnsMarketing, "true")]
      #expect(try await gateway.push(client, to: device.token, header, payload: payload).status == 403)
      let other: [(HeaderName, String)] = [(.apnsMarketing, "no")]
      #expect(try await gateway.push(client, to: device.token, other, payload: payload).status == 200)
      try await set(["marketing=on"], gateway, device)
      #expect(try await gateway.push(client, to: device.token, header, payload: payload).status == 200)
    }
  }

  @Test func `a declaration by the header is a member of the payload, also of an empty one`() throws {
    let reader = PayloadReader(parser: JSONParser())
    for (payload, expected) in [
      ("{}", #"{"marketing":true}"#), (" { } ", #" {"marketing":true } "#),
      (#"{"aps":{}}"#, #"{"marketing":true,"aps":{}}"#), (#"{"marketing":true}"#, #"{"marketing":true}"#),
    ] {
      let content = try reader.content(declaringMarketing: Array(payload.utf8))
      #expect(String(decoding: content.payload, as: UTF8.self) == expected)
      #expect(content.parsed.isMarketing)
    }
    #expect(throws: PayloadError.self) { try reader.content(declaringMarketing: Array("[]".utf8)) }
  }

  @Test func `after an unsubscribe each answer says so, and a row of the log has the push`() async throws {
    try await TestGateway.run { gateway in
      let (client, device) = (try await gateway.client(), try await gateway.enroll())
      try await set(["marketing=on"], gateway, device)
      let sent = try await gateway.push(client, to: device.token, payload: Self.sale)
      let id = try #require(sent.apnsID.flatMap { APNSID($0) })
      // The gateway notes the app after its first marketing; here the test waits for that.
      try await gateway.registrations.noteMarketing(of: try gateway.registrations.app(topic: SampleRequest.topic).id)
      #expect(try await gateway.push(client, to: device.token, payload: Self.ordinary).apnsMarketing == nil)
      try await set(["marketing=off"], gateway, device, push: id)
      #expect(try await gateway.events(of: id).last == .unsubscribed)
      let ordinary = try await gateway.push(client, to: device.token, payload: Self.ordinary)
      #expect((ordinary.status, ordinary.apnsMarketing) == (200, "unsubscribed"))
      #expect(ordinary.apnsUniqueID != nil)
      let refused = try await gateway.push(client, to: device.token, payload: Self.sale)
      #expect((refused.status, refused.apnsMarketing) == (403, "unsubscribed"))
      #expect(text(refused).contains("has unsubscribed"))
      try await set(["marketing=off"], gateway, device)
      #expect(try await gateway.rows(.init(events: [.unsubscribed], limit: 10)).count == 1, "only a change is an event")
      try await set(["marketing=on"], gateway, device)
      #expect(try await gateway.push(client, to: device.token, payload: Self.ordinary).apnsMarketing == nil)
    }
  }

  @Test func `a change names the push only if the device was sent it`() async throws {
    try await TestGateway.run { gateway in
      let (client, device) = (try await gateway.client(), try await gateway.enroll())
      let foreign = SampleRequest.id
      let body = #"{"settings":["marketing=off"],"app":"\#(SampleRequest.topic)","push":"\#(foreign)"}"#
      let answer = try await client.request(
        "POST", "/v1/device/preferences", [device.authorization], body: Array(body.utf8))
      #expect(answer.status == 200)
      let rows = try await gateway.rows(.init(events: [.unsubscribed], limit: 10))
      #expect(rows.count == 1)
      #expect(rows.first?.row.device == device.id)
      #expect(rows.first.map { $0.row.id != APNSID(foreign) } == true)
    }
  }

  @Test func `an app that sends marketing says so to its devices, and a change of the app keeps that`() async throws {
    try await TestGateway.run { gateway in
      let device = try await gateway.enroll()
      let app = try gateway.registrations.app(topic: SampleRequest.topic)
      #expect(!app.sendsMarketing)
      try await gateway.registrations.noteMarketing(of: app.id)
      let changed = try await gateway.registrations.putApp(
        topic: SampleRequest.topic, name: "News 2", icon: "N", policyMode: .enforce)
      #expect(changed.sendsMarketing)
      #expect(String(decoding: changed.lineMembers, as: UTF8.self).hasSuffix(#""icon":"N","marketing":true}"#))
      let stream = try await TestStream.open(try await gateway.client(), device)
      let welcome = try #require(try await stream.next())
      #expect(welcome.text.contains(#""icon":"N","marketing":true}"#))
      stream.finish()
    }
  }

  @Test func `categories that were there stay as they are when new ones start quiet`() async throws {
    try await TestGateway.run { gateway in
      let app = try gateway.registrations.app(topic: SampleRequest.topic)
      try await gateway.registrations.putCategory(app.id, "SPORT", [], expires: nil)
      let changed = try await gateway.parts.apps.put(
        topic: SampleRequest.topic, name: "News", icon: nil, policyMode: nil, isStrict: nil, ads: nil, team: nil,
        startsQuiet: true)
      #expect(changed.knownCategories == ["SPORT"])
      let found = try gateway.registrations.app(topic: SampleRequest.topic)
      #expect((found.isNew("SPORT"), found.isNew("OFFERS")) == (false, true))
      let renamed = try await gateway.parts.apps.put(
        topic: SampleRequest.topic, name: "News 2", icon: nil, policyMode: nil, isStrict: nil, ads: nil, team: nil)
      #expect(renamed.knownCategories == ["SPORT"])
      let ended = try await gateway.parts.apps.put(
        topic: SampleRequest.topic, name: "News", icon: nil, policyMode: nil, isStrict: nil, ads: nil, team: nil,
        startsQuiet: false)
      #expect(ended.knownCategories == nil)
    }
  }

  @Test func `declared marketing is refused or reported in the modes that refuse or report advertising`() throws {
    let reader = PayloadReader(parser: JSONParser())
    let content = try reader.content(of: Array(Self.sale.utf8))
    var wants = Preferences()
    wants.marketing = true
    let ads = AdFilter()
    for (mode, isRefused) in [(AdMode.refuse, true), (.report, true), (.hold, false), (.off, false)] {
      let app = App(id: 1, topic: "a.b", name: "A", icon: "A", policyMode: .enforce, ads: mode)
      #expect((ads.violation(content, of: app, for: Preferences()) != nil) == isRefused)
      #expect(ads.violation(content, of: app, for: wants) == nil)
      #expect(!ads.holds(content, of: app, for: Preferences()))
    }
  }
}
