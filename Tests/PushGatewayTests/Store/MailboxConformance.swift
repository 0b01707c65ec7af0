import Testing

@testable import PushGateway

/// What every home of the mailbox has to do; a home runs it with a fresh mailbox and its clock.
struct MailboxConformance {
  let mailbox: any Mailbox
  let clock: TestClock

  typealias Check = @Sendable (MailboxConformance) async throws -> Void

  /// Every check, by its name.
  static let checks: [(name: String, run: Check)] = [
    ("outcomes come in order", { try await $0.outcomesComeInOrder() }),
    ("completions come in order", { try await $0.completionsComeInOrder() }),
    ("a push comes back as it was", { try await $0.contentIsKept() }),
    ("reading goes on from a number, by limits", { try await $0.readingIsLimited() }),
    ("acknowledging is cumulative and idempotent", { try await $0.acknowledging() }),
    ("what is acknowledged is not read again", { try await $0.acknowledgedIsGone() }),
    ("a retry is stored once", { try await $0.retries() }),
    ("a collapse id replaces", { try await $0.collapsing() }),
    ("purging takes an app's pushes", { try await $0.purging() }),
    ("a purge takes what was appended before it, and nothing after", { try await $0.purgeKeepsItsPlace() }),
    ("expired pushes are not read, and go", { try await $0.expiring() }),
    ("numbers begin after one that the device knows", { try await $0.deviceKnowsMore() }),
    ("an empty append is answered", { try await $0.emptyAppend() }),
  ]

  private func outcomesComeInOrder() async throws {
    let outcomes = await mailbox.append([samplePush(), samplePush(to: 2), samplePush(), samplePush(to: 2)])
    #expect(outcomes.map(\.seq) == [1, 1, 2, 2])
    #expect(try await mailbox.waiting(1) == [1, 2])
    #expect(try await mailbox.waiting(2) == [1, 2])
    #expect(try await mailbox.waiting(3) == [])
  }

  private func completionsComeInOrder() async throws {
    let order = AsyncStream<Int>.makeStream()
    for number in 0..<200 {
      mailbox.append([samplePush(number + 1)]) { outcomes in
        order.continuation.yield(outcomes.first?.seq == UInt64(number) + 1 ? number : -1)
      }
    }
    var seen: [Int] = []
    for await number in order.stream {
      seen.append(number)
      if seen.count == 200 { break }
    }
    #expect(seen == Array(0..<200))
  }

  private func contentIsKept() async throws {
    let sent = [
      samplePush(1, app: 7, collapse: "é\"'\0", payload: #"{"aps":{"alert":"Grüße 👋"}}"#),
      samplePush(lifetime: 1, payload: "{}"), samplePush(payload: String(repeating: "x", count: 5120)),
    ]
    _ = await mailbox.append(sent)
    let pending = try await mailbox.pending(for: 1, after: 0, limit: 10)
    #expect(pending.isComplete)
    #expect(pending.gap == nil)
    try #require(pending.entries.count == sent.count)
    for (entry, push) in zip(pending.entries, sent) {
      #expect(entry.push.device == push.device)
      #expect(entry.push.app == push.app)
      #expect(entry.push.id.description == push.id.description)
      #expect(entry.push.isSenderID == push.isSenderID)
      #expect(entry.push.uniqueID == push.uniqueID)
      #expect(entry.push.received == push.received)
      #expect(entry.push.expires == push.expires)
      #expect(entry.push.priority == push.priority)
      #expect(entry.push.collapseID == push.collapseID)
      #expect(entry.push.payload == push.payload)
    }
  }

  private func readingIsLimited() async throws {
    _ = await mailbox.append((0..<10).map { _ in samplePush() })
    for (seq, limit, numbers, isComplete) in [
      (0, 4, [1, 2, 3, 4], false), (4, 4, [5, 6, 7, 8], false), (8, 4, [9, 10], true), (0, 10, Array(1...10), true),
      (0, 9, Array(1...9), false), (9, 1, [10], true), (10, 4, [], true),
    ] as [(UInt64, Int, [UInt64], Bool)] {
      let pending = try await mailbox.pending(for: 1, after: seq, limit: limit)
      #expect(pending.entries.map(\.seq) == numbers)
      #expect(pending.isComplete == isComplete)
    }
  }

  private func acknowledging() async throws {
    _ = await mailbox.append((0..<5).map { _ in samplePush() })
    for (seq, rest) in [(3, [4, 5]), (3, [4, 5]), (1, [4, 5]), (0, [4, 5]), (.max, [4, 5])] as [(UInt64, [UInt64])] {
      mailbox.acknowledge(1, through: seq)
      await mailbox.settle()
      #expect(try await mailbox.waiting() == rest)
      #expect(mailbox.waitingCount(for: 1) == rest.count)
    }
    #expect(await mailbox.append([samplePush()]).map(\.seq) == [6])
    #expect(try await mailbox.waiting() == [4, 5, 6])
  }

  private func acknowledgedIsGone() async throws {
    for round in UInt64(1)...100 {
      _ = await mailbox.append([samplePush(), samplePush()])
      mailbox.acknowledge(1, through: 2 * round - 1)
      #expect(try await mailbox.waiting() == [2 * round])
      #expect(mailbox.waitingCount(for: 1) == 1)
      mailbox.acknowledge(1, through: .max)
      #expect(mailbox.waitingCount(for: 1) == 1)
      mailbox.acknowledge(1, through: 2 * round)
      #expect(try await mailbox.waiting() == [])
      #expect(mailbox.waitingCount(for: 1) == 0)
    }
  }

  private func deviceKnowsMore() async throws {
    _ = await mailbox.append((0..<2).map { _ in samplePush() })
    let pending = try await mailbox.pending(for: 1, after: 1000, limit: 10)
    #expect(pending.entries.map(\.seq) == [1001, 1002])
    #expect(await mailbox.append([samplePush()]).map(\.seq) == [1003])
  }

  private func retries() async throws {
    #expect(await mailbox.append([samplePush(1), samplePush(1)]).map(\.isDuplicate) == [false, true])
    mailbox.acknowledge(1, through: 1)
    await mailbox.settle()
    clock.advance(seconds: 299)
    #expect(await mailbox.append([samplePush(1, at: clock.seconds)]).map(\.isDuplicate) == [true])
    clock.advance(seconds: 1)
    await mailbox.settle()
    #expect(await mailbox.append([samplePush(1, at: clock.seconds)]).map(\.seq) == [2])
  }

  private func collapsing() async throws {
    _ = await mailbox.append([samplePush(1, collapse: "a"), samplePush(2)])
    let outcome = await mailbox.append([samplePush(3, collapse: "a"), samplePush(4, collapse: "a")])
    #expect(outcome.map(\.replaced) == [.number(1), .number(3)])
    #expect(try await mailbox.waiting() == [2, 4])
  }

  private func purging() async throws {
    _ = await mailbox.append([samplePush(), samplePush(app: 2), samplePush(to: 2)])
    mailbox.purge(1, app: 1)
    await mailbox.settle()
    #expect(try await mailbox.waiting() == [2])
    mailbox.purge(1, app: nil)
    await mailbox.settle()
    #expect(try await mailbox.waiting() == [])
    #expect(try await mailbox.waiting(2) == [1])
  }

  private func purgeKeepsItsPlace() async throws {
    for device in (1...20).map({ DeviceID(row: $0) }) {
      // What comes while a commit runs joins the next one.
      mailbox.append([samplePush(to: 1000)]) { _ in }
      mailbox.append([samplePush(to: device)]) { _ in }
      mailbox.purge(device, app: 1)
      let outcome = await mailbox.append([samplePush(to: device)])
      #expect(outcome.map(\.seq) == [2])
      #expect(try await mailbox.waiting(device) == [2])
    }
  }

  private func expiring() async throws {
    _ = await mailbox.append([samplePush(lifetime: 10), samplePush(lifetime: 20)])
    clock.advance(seconds: 10)
    #expect(try await mailbox.waiting() == [2])
    #expect(mailbox.waitingCount(for: 1) == 2)
    mailbox.expire(now: clock.seconds)
    await mailbox.settle()
    #expect(mailbox.waitingCount(for: 1) == 1)
  }

  private func emptyAppend() async throws {
    #expect(await mailbox.append([]).isEmpty)
    #expect(await mailbox.append([samplePush()]).map(\.seq) == [1])
  }
}
