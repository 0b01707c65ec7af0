import Foundation
import HTTP2Transport
import PushPolicy
import PushTesting
import Testing

@testable import GatewayClient
@testable import PushCore
@testable import PushGateway
@testable import PushStorage

/// Deferred pushes are delivered as one summary, in spite of events in between.
@Suite(.timeLimit(.minutes(5))) struct DigestTests {
  static let topic = SampleRequest.topic

  func choose(_ gateway: TestGateway, _ device: TestDevice, _ assignments: String..., app: String? = topic) async throws
  {
    let person = try #require(gateway.registrations.device(device.id)).person
    _ = try await gateway.registrations.changePreferences(of: person) { preferences in
      for assignment in assignments { try preferences.set(assignment, app: app, category: nil) }
    }
  }

  func open(_ gateway: TestGateway, _ device: TestDevice, cursor: Int = 0) async throws -> TestStream {
    let stream = try await TestStream.caughtUp(try await gateway.client(), device, cursor: cursor)
    return stream
  }

  /// Returns the next push. Skips lines of other types.
  func push(_ stream: TestStream) async throws -> TestLine {
    while let line = try await stream.next() { if line.type == "push" { return line } }
    throw CancellationError()
  }

  func presentation(_ line: TestLine) -> [String: Any] { line.json["presentation"] as? [String: Any] ?? [:] }

  func titles(_ line: TestLine) -> [String] {
    let digest = (line.json["payload"] as? [String: Any])?["digest"] as? [String: Any]
    return (digest?["entries"] as? [[String: Any]] ?? []).compactMap { $0["title"] as? String }
  }

  func send(_ gateway: TestGateway, _ device: TestDevice, _ title: String, relevance: Double = 0) async throws {
    let payload = #"{"aps":{"alert":"\#(title)","badge":1,"relevance-score":\#(relevance)}}"#
    #expect(try await gateway.push(try await gateway.client(), to: device.token, payload: payload).status == 200)
  }

  @Test func `what is held for the summary is in the center at once, and comes as one digest at its time`() async throws
  {
    try await TestGateway.run { gateway in
      let device = try await gateway.enroll()
      // The clock stands at 08:00 UTC.
      try await choose(gateway, device, "delivery=summary")
      try await choose(gateway, device, "summary=09:00 UTC", app: nil)
      let stream = try await open(gateway, device)
      for (title, relevance) in [("one", 0.1), ("two", 0.9), ("three", 0.1)] {
        try await send(gateway, device, title, relevance: relevance)
        let shown = presentation(try await push(stream))
        #expect(Set(shown.keys) == ["badge", "centre", "held"])
        #expect((shown["held"] as? [String: Any])?["until"] as? Int == 1_800_003_600)
      }
      gateway.clock.advance(seconds: 3599)
      gateway.parts.summaries.deliverDue()
      gateway.clock.advance(seconds: 1)
      gateway.parts.summaries.deliverDue()
      gateway.parts.summaries.deliverDue()
      let digest = try await push(stream)
      #expect(digest.seq == 4)
      #expect(digest.json["topic"] as? String == "summary")
      #expect(titles(digest) == ["two", "three", "one"])
      #expect((presentation(digest)["alert"] as? [String: Any])?["title"] as? String == "3 Notifications")
      try await send(gateway, device, "four")
      #expect(try await push(stream).seq == 5, "there is no second digest")
    }
  }

  @Test func `a digest waits for its device like any push, and is not told again`() async throws {
    try await TestGateway.run { gateway in
      let device = try await gateway.enroll()
      try await choose(gateway, device, "delivery=summary")
      let stream = try await open(gateway, device)
      try await send(gateway, device, "one")
      #expect(try await push(stream).seq == 1)
      stream.finish()
      gateway.clock.advance(seconds: 86_400)
      gateway.parts.summaries.deliverDue()
      await eventually { gateway.parts.mailbox.waitingCount(for: device.id) == 2 }
      // The device acknowledged neither push: it receives both again, and neither is deferred a second time.
      for _ in 0..<2 {
        let again = try await TestStream.open(try await gateway.client(), device)
        let lines = try await again.lines(upTo: "caught-up").filter { $0.type == "push" }
        #expect(lines.map(\.seq) == [1, 2])
        #expect(titles(lines[1]) == ["one"])
        again.finish()
      }
      #expect(gateway.parts.held.devices.isEmpty)
    }
  }

  @Test func `what waits for a digest outlasts a restart`() async throws {
    try await TestGateway.run { gateway in
      let device = try await gateway.enroll()
      try await choose(gateway, device, "delivery=summary")
      let stream = try await open(gateway, device)
      try await send(gateway, device, "one")
      let due = try #require((presentation(try await push(stream))["held"] as? [String: Any])?["until"] as? Int64)
      await gateway.parts.held.settle()
      let store = try SQLiteStore(path: gateway.folder.file("push.sqlite"))
      let restored = try DeferredPushes(store: store, logger: .silent)
      #expect(restored.devices == [device.id])
      #expect(restored.due(device.id, at: due).isEmpty, "when it is due is computed from the choices")
      let held = try #require(restored.due(device.id, at: due) { _ in due }.first)
      #expect((held.title, held.badge, held.seq) == ("one", 1, 1))
      restored.summarized([held], of: device.id)
      await restored.settle()
      #expect(try DeferredPushes(store: store, logger: .silent).devices.isEmpty)
    }
  }

  @Test func `a change of choices holds for what waits`() async throws {
    try await TestGateway.run { gateway in
      let (one, two) = (try await gateway.enroll("one"), try await gateway.enroll("two"))
      for device in [one, two] {
        try await choose(gateway, device, "delivery=summary")
        let stream = try await open(gateway, device)
        try await send(gateway, device, "title")
        _ = try await push(stream)
        // A push that is now to be delivered immediately is delivered. A push with alerts turned off is not.
        try await choose(gateway, device, device.id == one.id ? "delivery=now" : "alert=off")
        if device.id == one.id { #expect(titles(try await push(stream)) == ["title"]) }
        gateway.clock.advance(seconds: 86_400)
        gateway.parts.summaries.deliverDue()
        try await choose(gateway, device, "delivery=now", "alert=on")
        try await send(gateway, device, "last")
        #expect(presentation(try await push(stream)).keys.contains("alert"))
      }
      #expect(gateway.parts.held.devices.isEmpty)
    }
  }

  @Test func `A8: what waited over an absence comes as a digest beyond the first ten of an app`() async throws {
    try await TestGateway.run { gateway in
      let device = try await gateway.enroll()
      for number in 1...15 { try await send(gateway, device, "\(number)") }
      gateway.clock.advance(seconds: 3600)
      let stream = try await TestStream.open(try await gateway.client(), device)
      let waited = try await stream.lines(upTo: "caught-up").filter { $0.type == "push" }
      #expect(waited.filter { presentation($0).keys.contains("alert") }.map(\.seq) == Array(1...10))
      #expect(waited.filter { presentation($0).keys.contains("held") }.map(\.seq) == Array(11...15))
      #expect(titles(try await push(stream)) == ["15", "14", "13", "12", "11"])
    }
  }

  @Test func `a digest of what waited is whole also when the device goes before it has caught up`() async throws {
    try await TestGateway.run { gateway in
      let device = try await gateway.enroll()
      for number in 1...12 { try await send(gateway, device, "\(number)") }
      gateway.clock.advance(seconds: 3600)
      let budget = Deferral(by: .budget)
      for entry in try await gateway.parts.mailbox.pending(for: device.id, after: 10, limit: 1).entries {
        gateway.parts.held.add(entry, budget, PushNotification(), AlertPresentation(title: "11"))
      }
      gateway.parts.summaries.deliverDue()
      let stream = try await TestStream.caughtUp(try await gateway.client(), device)
      #expect(titles(try await push(stream)) == ["12", "11"])
    }
  }

  @Test func `A8: while the person is there, an app beyond its budget reaches badge and center`() async throws {
    try await TestGateway.run { gateway in
      let device = try await gateway.enroll()
      try await choose(gateway, device, "budget=2")
      let (stream, other) = (try await open(gateway, device), try await open(gateway, device))
      for number in 1...3 {
        try await send(gateway, device, "\(number)")
        for stream in [stream, other] {
          let shown = presentation(try await push(stream))
          #expect(Set(shown.keys) == (number < 3 ? ["badge", "alert"] : ["badge", "centre", "budget"]))
        }
      }
      gateway.clock.advance(seconds: 3600)
      try await send(gateway, device, "4")
      #expect(presentation(try await push(stream)).keys.contains("alert"))
    }
  }

  @Test func `N8: a new app shows twenty alerts an hour; the center has the others, and the log says why`() async throws
  {
    try await TestGateway.run { gateway in
      let device = try await gateway.enroll()
      let stream = try await open(gateway, device)
      var last: TestLine?
      for number in 1...25 {
        try await send(gateway, device, "\(number)")
        last = try await push(stream)
        #expect(
          Set(presentation(try #require(last)).keys)
            == (number <= 20 ? ["badge", "alert"] : ["badge", "centre", "budget"]))
      }
      let line = try #require(last)
      #expect(presentation(line)["budget"] as? Int == 20)
      #expect(((presentation(line)["centre"] as? [String: Any])?["body"] as? String) == "25")
      let id = try #require((line.json["id"] as? String).flatMap { APNSID($0) })
      // The row is written after the line is sent.
      var suppressed: [String] = []
      try await eventually {
        suppressed = try await gateway.rows(.init(id: id, events: [.suppressed])).map(\.row.detail.words)
        return !suppressed.isEmpty
      }
      #expect(suppressed == ["alert A8 budget"])
      // A time-sensitive push and a question are delivered, and do not count.
      let app = try gateway.registrations.app(topic: Self.topic).id
      try await gateway.registrations.putCategory(
        app, "ASK-1", [AlertAction(id: "yes", title: "Yes")], expires: gateway.clock.seconds + 60)
      for extra in [#""interruption-level":"time-sensitive""#, #""category":"ASK-1""#] {
        let payload = #"{"aps":{"alert":"x",\#(extra)}}"#
        _ = try await gateway.push(try await gateway.client(), to: device.token, payload: payload)
        #expect(presentation(try await push(stream)).keys.contains("alert"))
      }
      gateway.clock.advance(seconds: 3600)
      for number in 1...21 {
        try await send(gateway, device, "\(number)")
        #expect(presentation(try await push(stream)).keys.contains("alert") == (number <= 20))
      }
    }
  }

  @Test func `what was shown an hour ago is remembered of nobody`() {
    let conditions = DeviceConditions()
    let kept = conditions.alerts(on: DeviceID(row: 0), at: 0)
    kept.note(.number(1), of: 1, at: 0)
    for row in 1...999 { conditions.alerts(on: DeviceID(row: Int64(row)), at: 0).note(.number(row), of: 1, at: 0) }
    // Devices stay for an hour after their last alert, and while their counter is still in use.
    _ = conditions.alerts(on: DeviceID(row: 1000), at: 1000)
    #expect(conditions.count == 1001)
    for row in 1001...2002 { _ = conditions.alerts(on: DeviceID(row: Int64(row)), at: 3_600_000) }
    #expect(conditions.count < 1010)
    #expect(conditions.alerts(on: DeviceID(row: 0), at: 3_600_000) === kept)
  }

  @Test func `what the person has answered is in no digest, nor what has expired`() async throws {
    try await TestGateway.run { gateway in
      let device = try await gateway.enroll()
      try await choose(gateway, device, "delivery=summary")
      let stream = try await open(gateway, device)
      try await send(gateway, device, "answered")
      let id = try #require(try await push(stream).json["id"] as? String)
      stream.send(#"{"type":"answer","id":"\#(id)","action":"view"}"#)
      _ = try await gateway.push(
        try await gateway.client(), to: device.token, [(.apnsExpiration, "\(gateway.clock.seconds + 60)")])
      _ = try await push(stream)
      // The answer is stored before it counts.
      await eventually { gateway.parts.held.count == 1 }
      gateway.clock.advance(seconds: 86_400)
      gateway.parts.summaries.deliverDue()
      #expect(gateway.parts.held.devices.isEmpty)
      try await send(gateway, device, "last")
      #expect(try await push(stream).seq == 3)
    }
  }

  @Test func `a Focus and the silent switch hold from the moment the device reports them`() async throws {
    try await TestGateway.run { gateway in
      let device = try await gateway.enroll()
      let stream = try await open(gateway, device)
      let steps: [(line: String, silent: Bool, focus: String?, parts: Set<String>)] = [
        (#""focus":"work""#, false, "work", ["badge", "centre"]),
        (#""silent":true"#, true, "work", ["badge", "centre"]),
        (#""focus":null"#, true, nil, ["badge", "alert"]),
      ]
      for step in steps {
        stream.send(#"{"type":"state",\#(step.line)}"#)
        await eventually {
          let state = gateway.parts.conditions.state(of: device.id)
          return state.isSilent == step.silent && state.focus == step.focus
        }
        try await send(gateway, device, "x")
        #expect(Set(presentation(try await push(stream)).keys) == step.parts)
      }
    }
  }
}
