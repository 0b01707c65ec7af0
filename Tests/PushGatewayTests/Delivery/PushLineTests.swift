import Foundation
import PushPolicy
import PushTesting
import Testing

@testable import GatewayProtocol
@testable import LoadTest
@testable import PushCore
@testable import PushGateway
@testable import PushStorage

@Suite struct PushLineTests {
  let parser = JSONParser(maximumDepth: JSONParser.maximumLineDepth)

  func text(_ line: [UInt8]) -> String { String(decoding: line, as: UTF8.self) }

  @Test func `lines of the gateway are one line of JSON each`() {
    #expect(text(PushLine.caughtUp(7)) == #"{"type":"caught-up","seq":7}"#)
    #expect(text(PushLine.gap(.init(from: 1, to: 3, dropped: 2))) == #"{"type":"gap","from":1,"to":3,"dropped":2}"#)
    #expect(text(PushLine.bye("shutdown")) == #"{"type":"bye","reason":"shutdown"}"#)
    #expect(
      text(PushLine.retract(.number(10))) == #"{"type":"retract","id":"00000000-0000-4000-8000-00000000000a"}"#)
    #expect(
      text(PushLine.preferences(Array("{}".utf8))) == #"{"type":"preferences","preferences":{}}"#)
  }

  @Test func `names are escaped`() {
    let device = Device(id: 1, uuid: "u", name: "a\"b", person: PersonID(row: 1))
    let app = App(id: 1, topic: "t", name: "\n", icon: "\\", policyMode: .enforce)
    #expect(
      text(PushLine.welcome(device: device, apps: [app, app], preferences: Array("{}".utf8)))
        == #"{"type":"welcome","version":3,"gateway":"pushgateway","device":"a\"b","apps":["#
        + #"{"topic":"t","name":"\n","icon":"\\"},{"topic":"t","name":"\n","icon":"\\"}],"preferences":{}}"#
    )
  }

  /// Returns every line that the gateway writes, with the values that a device and a load-test device read from it.
  private func lines() throws -> [(written: [UInt8], read: GatewayLine, load: LoadLine?)] {
    let device = Device(id: 1, uuid: "u", name: "a\"b", person: PersonID(row: 1))
    let app = App(id: 1, topic: "com.example.news", name: "N\n", icon: "📰", policyMode: .enforce)
    var preferences = Preferences()
    preferences.parts.badge = false
    preferences.apps["com.example.news"] = AppPreferences()
    let choices = controlJSON(preferences)
    let deviceApp = DeviceApp(topic: app.topic, name: app.name, icon: app.icon)
    var facts = Standing()
    (facts.presented, facts.viewed, facts.closed, facts.reported, facts.unsubscribed) = (900, 80, 700, 3, 1)
    let standing = DeviceStanding(facts, summaryUntil: "2027-02-12T08:00:00.000Z")
    let push = samplePush(5, payload: #"{"aps":{"alert":"a"}}"#)
    let gateways = [GatewayAddress(host: "b.example", port: 2197), GatewayAddress(host: "2001:db8::1", port: 443)]
    let presentation = Presentation(badge: 3, alert: AlertPresentation(title: "a"))
    return [
      (
        PushLine.welcome(device: device, apps: [app], preferences: choices),
        .welcome(
          .init(
            version: DeviceProtocol.version, gateway: "pushgateway", device: "a\"b", apps: [deviceApp],
            preferences: preferences)), .welcome
      ),
      (
        PushLine.welcome(device: device, apps: [app], preferences: choices, standing: { _ in standing }),
        .welcome(
          .init(
            version: DeviceProtocol.version, gateway: "pushgateway", device: "a\"b",
            apps: [DeviceApp(topic: app.topic, name: app.name, icon: app.icon, standing: standing)],
            preferences: preferences)), .welcome
      ),
      (
        PushLine.welcome(
          device: device, apps: [], preferences: choices, epoch: NumberingEpoch("cell-1"), gateways: gateways),
        .welcome(
          .init(
            version: DeviceProtocol.version, gateway: "pushgateway", device: "a\"b", apps: [],
            preferences: preferences, epoch: NumberingEpoch("cell-1"), gateways: gateways)), .welcome
      ),
      (
        PushLine.push(MailboxEntry(seq: 7, push: push), app: app, presentation: presentation), .push(seq: 7),
        .push(seq: 7)
      ),
      (
        PushLine.push(
          MailboxEntry(seq: Limits.maximumCursor, push: push), app: app, presentation: Presentation()),
        .push(seq: Limits.maximumCursor), .push(seq: Limits.maximumCursor)
      ),
      (
        PushLine.push(MailboxEntry(seq: 0, push: push), app: app, presentation: presentation), .push(seq: 0),
        .push(seq: 0)
      ),
      (PushLine.caughtUp(9), .caughtUp(seq: 9), .caughtUp),
      (PushLine.gap(.init(from: 1, to: 30, dropped: 29)), .gap(from: 1, to: 30, dropped: 29), .gap(dropped: 29)),
      (PushLine.retract(.number(10)), .retract(id: "\(APNSID.number(10))"), nil),
      (
        PushLine.retract(.number(10), GivenAnswer(action: "yes", person: "a\"b")),
        .answeredElsewhere(id: "\(APNSID.number(10))", GivenAnswer(action: "yes", person: "a\"b")), nil
      ),
      (
        PushLine.retract(.number(10), GivenAnswer(action: "view", device: "c")),
        .answeredElsewhere(id: "\(APNSID.number(10))", GivenAnswer(action: "view", device: "c")), nil
      ),
      (
        PushLine.takenBack(.number(10), topic: "a.\"b"), .takenBack(id: "\(APNSID.number(10))", topic: "a.\"b"), nil
      ),
      (
        PushLine.answered(.number(10), "view"), .answered(id: "\(APNSID.number(10))", action: "view"), nil
      ),
      (PushLine.answered(.number(10), nil), .answered(id: "\(APNSID.number(10))", action: nil), nil),
      (
        PushLine.undeliverable(.number(10), app: app), .undeliverable(id: "\(APNSID.number(10))", topic: app.topic),
        nil
      ),
      (PushLine.preferences(choices), .preferences(preferences), nil),
      (PushLine.bye("shutdown"), .bye(reason: "shutdown"), nil),
      (PushLine.bye("shutdown", gateways: gateways), .bye(reason: "shutdown", gateways: gateways), nil),
    ]
  }

  @Test func `a device reads in each line what the gateway wrote, and so does a load test`() throws {
    for (written, read, load) in try lines() {
      #expect(GatewayLine(written.span, parser: parser) == read, "\(text(written))")
      #expect(unsafe written.withUnsafeBytes { unsafe LoadLine($0) } == load, "\(text(written))")
    }
  }

  @Test func `each type of line is among those that are compared`() throws {
    let types = Set(try lines().map { TestLine($0.written).type })
    // A new case of GatewayLine needs an entry here, and its line in `lines()`.
    for line in try lines().map(\.read) {
      switch line {
      case .welcome, .push, .caughtUp, .gap, .retract, .answeredElsewhere, .takenBack, .answered, .undeliverable,
        .preferences,
        .bye:
        break
      // The gateway never writes such a line.
      case .unreadablePush: Issue.record("a line can't be read: \(line)")
      }
    }
    #expect(
      types == ["welcome", "push", "caught-up", "gap", "retract", "answered", "undeliverable", "preferences", "bye"])
  }

  @Test func `a device reads a push whole as the gateway wrote it`() throws {
    let app = App(id: 1, topic: "com.example.news", name: "News", icon: "📰", policyMode: .enforce)
    let push = samplePush(5, collapse: "c\"d", payload: #"{"aps":{"badge":3,"alert":"a"},"link":"https://x.org"}"#)
    let presentation = Presentation(badge: 3, alert: AlertPresentation(title: "a", body: "b\n", buttons: ["OK"]))
    let written = PushLine.push(MailboxEntry(seq: 7, push: push), app: app, presentation: presentation)
    let read = try #require(DevicePush(line: written, parser: parser))
    #expect(read.seq == 7 && read.id == "\(push.id)" && read.collapseID == push.collapseID)
    #expect(read.app == DeviceApp(topic: app.topic, name: app.name, icon: app.icon))
    #expect(Int64((read.received.timeIntervalSince1970 * 1000).rounded()) == push.received)
    #expect(read.presentation == presentation)
    #expect(Array(read.payload.utf8) == push.payload)
  }
}
