import PushTesting
import Synchronization
import Testing

@testable import PushCore
@testable import PushGateway
@testable import PushStorage

/// Scheduled pushes that are due, and a mailbox that refuses some of them.
@Suite(.timeLimit(.minutes(5))) struct DeliverScheduledTests {
  private func add(
    _ number: Int, to device: DeviceID, of app: AppID, at time: Int64, _ parts: GatewayParts
  ) async throws {
    let push = StoredPush(
      device: device, app: app, id: .number(number), isSenderID: true, uniqueID: .number(1_000_000 + number),
      received: time, expires: 0, priority: 10, collapseID: "", payload: Array(#"{"aps":{"alert":"later"}}"#.utf8))
    let outcome = try await withCheckedThrowingContinuation { continuation in
      parts.schedule.pushes.add(ScheduledPush(push, at: time, expires: nil, team: nil)) {
        continuation.resume(with: $0)
      }
    }
    #expect(outcome == .stored)
  }

  private func deliver(_ parts: GatewayParts) -> DeliverScheduled {
    DeliverScheduled(
      scheduled: parts.schedule.pushes, groups: parts.groups, registrations: parts.registrations,
      mailbox: parts.mailbox, router: parts.router, log: parts.log, clock: parts.clock, rates: parts.senderRates)
  }

  @Test func `the copies for groups are stored in parts that the mailbox takes`() async throws {
    // The limit is proportional to that of the real mailbox for one commit.
    let mailbox = RefusingMailbox(limit: 2 * Limits.groupCopiesAtOnce)
    try await TestGateway.run(mailbox: mailbox) { gateway in
      for number in 0..<41 { _ = try await gateway.enroll("phone-\(number)", person: "ada") }
      let app = try gateway.registrations.app(topic: SampleRequest.topic).id
      let ada = try gateway.registrations.person(named: "ada").id
      let group = try await gateway.parts.groups.add("ops", [ada])
      let now = gateway.clock.seconds * 1000
      for number in 1...Limits.scheduleSlice {
        try await add(number, to: group.address(in: .development), of: app, at: now, gateway.parts)
      }
      #expect(Limits.scheduleSlice * 41 > 2 * Limits.groupCopiesAtOnce)
      #expect(await deliver(gateway.parts)() == .done)
      #expect(mailbox.stored.withLock { $0.count } == Limits.scheduleSlice * 41)
      #expect(gateway.parts.schedule.pushes.count == 0)
    }
  }

  @Test func `an app with many copies to deliver delays no other app's push by more than a turn`() async throws {
    let mailbox = RefusingMailbox(limit: .max)
    try await TestGateway.run(mailbox: mailbox) { gateway in
      for number in 0..<41 { _ = try await gateway.enroll("phone-\(number)", person: "ada") }
      let greedy = try gateway.registrations.app(topic: SampleRequest.topic).id
      let device = try await gateway.enroll("other")
      let modest = try await gateway.registrations.putApp(
        topic: "com.example.modest", name: "Modest", icon: "M", policyMode: .enforce
      ).id
      _ = try await gateway.registrations.register(
        device.id, topic: "com.example.modest", environment: .development, expires: nil, now: 0)
      let ada = try gateway.registrations.person(named: "ada").id
      let group = try await gateway.parts.groups.add("ops", [ada])
      let now = gateway.clock.seconds * 1000
      let count = 2 * Limits.scheduleSlice
      for number in 1...count {
        try await add(number, to: group.address(in: .development), of: greedy, at: now, gateway.parts)
      }
      try await add(1000, to: device.id, of: modest, at: now + 1, gateway.parts)
      gateway.clock.advance(seconds: 1)
      #expect(await deliver(gateway.parts)() == .done)
      let stored = mailbox.stored.withLock { $0 }
      #expect(stored.count == count * 41 + 1)
      let before = try #require(stored.firstIndex { $0.app == modest })
      #expect(before < Limits.groupCopiesAtOnce + 41)
      #expect(gateway.parts.schedule.pushes.count == 0)
    }
  }

  @Test func `the copies of a push to a group count against the rate of its app`() async throws {
    try await TestGateway.run(mailbox: RefusingMailbox(limit: .max)) { gateway in
      for number in 0..<41 { _ = try await gateway.enroll("phone-\(number)", person: "ada") }
      let app = try gateway.registrations.app(topic: SampleRequest.topic).id
      let ada = try gateway.registrations.person(named: "ada").id
      let group = try await gateway.parts.groups.add("ops", [ada])
      let (now, rates) = (gateway.clock.seconds * 1000, gateway.parts.senderRates)
      rates.set(RateLimits(perApp: 41))
      try await add(1, to: group.address(in: .development), of: app, at: now, gateway.parts)
      #expect(rates.excess(app, of: nil, at: now) == nil)
      #expect(await deliver(gateway.parts)() == .done)
      #expect(rates.excess(app, of: nil, at: now) == .appRate)
    }
  }

  @Test func `pushes that can't be stored hold up no other`() async throws {
    let mailbox = RefusingMailbox(limit: .max)
    try await TestGateway.run(mailbox: mailbox) { gateway in
      let (bad, good) = (try await gateway.enroll("bad"), try await gateway.enroll("good"))
      let app = try gateway.registrations.app(topic: SampleRequest.topic).id
      let now = gateway.clock.seconds * 1000
      for number in 1...Limits.scheduleSlice { try await add(number, to: bad.id, of: app, at: now, gateway.parts) }
      try await add(1000, to: good.id, of: app, at: now + 1, gateway.parts)
      gateway.clock.advance(seconds: 1)
      mailbox.refused.withLock { $0 = [bad.id] }
      let deliver = deliver(gateway.parts)
      guard case .incomplete(let position?) = await deliver() else {
        Issue.record("the slice that was refused is done, or is tried for ever")
        return
      }
      #expect(await deliver(after: position) == .incomplete(next: nil))
      #expect(mailbox.stored.withLock { $0.map(\.id) } == [.number(1000)])
      #expect(gateway.parts.schedule.pushes.count == Limits.scheduleSlice)
      mailbox.refused.withLock { $0 = [] }
      #expect(await deliver() == .done)
      #expect(gateway.parts.schedule.pushes.count == 0)
    }
  }

  @Test func `health reports pushes that are late by more than a minute`() async throws {
    try await TestGateway.run { gateway in
      let device = try await gateway.enroll("phone")
      let app = try gateway.registrations.app(topic: SampleRequest.topic).id
      let time = gateway.clock.seconds * 1000
      try await add(1, to: device.id, of: app, at: time, gateway.parts)
      let check = gateway.parts.healthCheck
      gateway.clock.advance(seconds: 60)
      #expect(check.health.problems.isEmpty)
      gateway.clock.advance(seconds: 1)
      let problem = try #require(check.health.problems.first)
      #expect((problem.part, problem.since) == ("schedule", time / 1000 + 60))
      #expect(problem.problem.contains(Timestamp.text(time)))
      #expect(await deliver(gateway.parts)() == .done)
      #expect(check.health.problems.isEmpty)
    }
  }
}
