import PushTesting
import Testing

@testable import PushCore
@testable import PushStorage

@Suite struct MailboxIndexTests {
  var mailbox = IndexOnDisk()

  @Test func `a push has one end, whether it is acknowledged or replaced first`() {
    var mailbox = IndexOnDisk()
    mailbox.append([samplePush(1, collapse: "a"), samplePush(2, collapse: "b"), samplePush(3)])
    mailbox.append([samplePush(4, collapse: "a")])
    #expect(mailbox.removals.map(\.id) == [.number(1)])
    // The device acknowledges all three. The first was removed before, by its replacement.
    #expect(mailbox.index.claim(1, through: 3, [1, 2]) == [1])
    mailbox.append([samplePush(5, collapse: "b")])
    #expect(mailbox.removals.map(\.id) == [.number(1)])
    mailbox.acknowledge(3)
    #expect(mailbox.index.claim(1, through: 2, [2]) == [])
    mailbox.append([samplePush(6, collapse: "a")])
    #expect(mailbox.removals.map(\.id) == [.number(1), .number(4)])
    #expect(mailbox.waiting() == [5, 6])
  }

  @Test mutating func `numbers count from 1 for each device`() {
    #expect(mailbox.append([samplePush(), samplePush(), samplePush(to: 2), samplePush()]).map(\.seq) == [1, 2, 1, 3])
    #expect(mailbox.waiting() == [1, 2, 3])
    #expect(mailbox.waiting(2) == [1])
    #expect(mailbox.waiting(3) == [])
  }

  @Test mutating func `nobody sees a push before it is confirmed`() throws {
    let staged = mailbox.index.stage(samplePush())
    let entry = try #require(staged)
    #expect(entry.seq == 1)
    #expect(mailbox.waiting() == [])
    #expect(mailbox.index.acknowledge(1, through: 1, now: mailbox.now).isEmpty)
    #expect(mailbox.index.queues[1]?.acknowledged == 0)
  }

  // MARK: Duplicates

  @Test mutating func `the same id is a duplicate while its push waits, however long`() {
    mailbox.append([samplePush(7, lifetime: 100_000)])
    for seconds: Int64 in [0, 299, 1, 1, 50_000] {
      mailbox.now += seconds
      #expect(mailbox.append([samplePush(7, at: mailbox.now)]).map(\.isDuplicate) == [true])
    }
  }

  @Test mutating func `the same id within one batch is a duplicate`() {
    #expect(mailbox.append([samplePush(7), samplePush(7), samplePush(8)]).map(\.seq) == [1, nil, 2])
  }

  @Test mutating func `the same id is a duplicate for five minutes after it was accepted, and then a new push`() {
    mailbox.append([samplePush(7)])
    mailbox.acknowledge(1)
    mailbox.now += 299
    #expect(mailbox.append([samplePush(7, at: mailbox.now)]).map(\.isDuplicate) == [true])
    mailbox.now += 1
    #expect(mailbox.append([samplePush(7, at: mailbox.now)]).map(\.seq) == [2])
  }

  @Test mutating func `the same id for another device or app is another push`() {
    #expect(mailbox.append([samplePush(7), samplePush(7, to: 2), samplePush(7, app: 2)]).map(\.seq) == [1, 1, 2])
  }

  @Test mutating func `ids that differ in case only are one`() throws {
    let (lower, upper) = (
      try #require(APNSID("0000000a-0000-4000-8000-000000000000")),
      try #require(APNSID("0000000A-0000-4000-8000-000000000000"))
    )
    let pushes = [lower, upper].map { id in
      StoredPush(
        device: 1, app: 1, id: id, isSenderID: true, uniqueID: id, received: 0, expires: .max, priority: 10,
        collapseID: "", payload: [])
    }
    #expect(mailbox.append(pushes).map(\.seq) == [1, nil])
  }

  @Test mutating func `an id of ours is never a duplicate`() {
    let push = samplePush()
    #expect(mailbox.append([push, push]).map(\.seq) == [1, 2])
  }

  @Test mutating func `a push that could not be committed may be sent again, and its number is not used again`() {
    let push = samplePush(7)
    #expect(mailbox.append([push], isCommitted: false).map(\.isUnavailable) == [true])
    #expect(mailbox.append([push]).map(\.seq) == [2])
  }

  // MARK: Collapsing

  @Test mutating func `a later push with the same collapse id replaces the earlier one`() {
    mailbox.append([samplePush(1, collapse: "a"), samplePush(2)])
    let outcome = mailbox.append([samplePush(3, collapse: "a")])
    #expect(outcome.map(\.replaced) == [.number(1)])
    #expect(mailbox.waiting() == [2, 3])
    #expect(mailbox.removals.map(\.cause) == [.collapsed])
    #expect(mailbox.removals.map(\.id) == [.number(1)])
  }

  @Test mutating func `collapsing twice in one batch leaves the last`() {
    let outcomes = mailbox.append((1...3).map { samplePush($0, collapse: "a") })
    #expect(outcomes.map(\.replaced) == [nil, .number(1), .number(2)])
    #expect(mailbox.waiting() == [3])
    mailbox.crash()
    #expect(mailbox.waiting() == [3])
  }

  @Test mutating func `collapse ids of other apps and devices, and none, are apart`() {
    mailbox.append([
      samplePush(collapse: "a"), samplePush(app: 2, collapse: "a"), samplePush(to: 2, collapse: "a"), samplePush(),
      samplePush(), samplePush(collapse: "A"),
    ])
    #expect(mailbox.waiting() == [1, 2, 3, 4, 5])
    #expect(mailbox.waiting(2) == [1])
  }

  @Test mutating func `what the device has is not replaced`() {
    mailbox.append([samplePush(1, collapse: "a")])
    mailbox.acknowledge(1)
    #expect(mailbox.append([samplePush(2, collapse: "a")]).map(\.replaced) == [nil])
    #expect(mailbox.waiting() == [2])
  }

  @Test mutating func `a replaced push's id is still recognised`() {
    mailbox.append([samplePush(1, collapse: "a"), samplePush(2, collapse: "a")])
    #expect(mailbox.append([samplePush(1, collapse: "a")]).map(\.isDuplicate) == [true])
    #expect(mailbox.waiting() == [2])
  }

  // MARK: The limit

  @Test mutating func `the cap drives the oldest out and remembers the gap`() {
    mailbox.cap = 3
    mailbox.append((0..<5).map { _ in samplePush() })
    #expect(mailbox.waiting() == [3, 4, 5])
    #expect(mailbox.index.queues[1]?.gap == MailboxGap(from: 1, to: 2, dropped: 2))
    #expect(mailbox.removals.map(\.cause) == [.overflow, .overflow])
    mailbox.append([samplePush()])
    #expect(mailbox.index.queues[1]?.gap == MailboxGap(from: 1, to: 3, dropped: 3))
  }

  @Test mutating func `a full mailbox drops nothing for a push that replaces another`() {
    mailbox.cap = 3
    mailbox.append([samplePush(), samplePush(collapse: "a"), samplePush()])
    mailbox.append([samplePush(collapse: "a")])
    #expect(mailbox.waiting() == [1, 3, 4])
    #expect(mailbox.index.queues[1]?.gap == nil)
  }

  @Test mutating func `a gap is over when the device has what follows it`() {
    mailbox.cap = 2
    mailbox.append((0..<4).map { _ in samplePush() })
    mailbox.acknowledge(1)
    #expect(mailbox.index.queues[1]?.gap == MailboxGap(from: 1, to: 2, dropped: 2))
    mailbox.acknowledge(2)
    #expect(mailbox.index.queues[1]?.gap == nil)
  }

  @Test mutating func `a gap is remembered across a restart`() {
    mailbox.cap = 2
    mailbox.append((0..<4).map { _ in samplePush() })
    mailbox.commit()
    mailbox.crash()
    #expect(mailbox.index.queues[1]?.gap == MailboxGap(from: 1, to: 2, dropped: 2))
    #expect(mailbox.waiting() == [3, 4])
  }

  // MARK: Acknowledging

  @Test mutating func `acknowledging is cumulative and idempotent`() {
    mailbox.append((0..<5).map { _ in samplePush() })
    mailbox.acknowledge(3)
    #expect(mailbox.waiting() == [4, 5])
    for seq: UInt64 in [3, 2, 0, 1] { mailbox.acknowledge(seq) }
    #expect(mailbox.waiting() == [4, 5])
    #expect(mailbox.index.queues[1]?.acknowledged == 3)
  }

  @Test(arguments: [6, 1000, UInt64(Int64.max), UInt64.max])
  mutating func `a number that was never given out acknowledges nothing`(_ seq: UInt64) {
    mailbox.append((0..<5).map { _ in samplePush() })
    mailbox.acknowledge(seq)
    #expect(mailbox.waiting() == [1, 2, 3, 4, 5])
    #expect(mailbox.index.queues[1]?.acknowledged == 0)
    #expect(mailbox.append([samplePush()]).map(\.seq) == [6])
  }

  @Test mutating func `a device that knows more than the mailbox gets everything under new numbers`() {
    mailbox.append((0..<3).map { samplePush(collapse: $0 == 1 ? "a" : "") })
    mailbox.acknowledge(1)
    mailbox.advance(past: 1000)
    #expect(mailbox.waiting() == [1001, 1002])
    #expect(mailbox.append([samplePush()]).map(\.seq) == [1003])
    mailbox.commit()
    mailbox.crash()
    #expect(mailbox.waiting() == [1001, 1002, 1003])
    mailbox.append([samplePush(collapse: "a")])
    #expect(mailbox.waiting() == [1002, 1003, 1004])
  }

  @Test(arguments: [0, 1, 3]) mutating func `a number that was given out changes none`(_ seq: UInt64) {
    mailbox.append((0..<3).map { _ in samplePush() })
    mailbox.advance(past: seq)
    #expect(mailbox.waiting() == [1, 2, 3])
  }

  @Test mutating func `acknowledging for a device without a mailbox does nothing`() {
    mailbox.acknowledge(5, of: 9)
    #expect(mailbox.append([samplePush(to: 9)]).map(\.seq) == [1])
    #expect(mailbox.waiting(9) == [1])
  }

  @Test mutating func `acknowledging over removed entries works`() {
    mailbox.append((1...6).map { samplePush($0, collapse: $0 % 2 == 0 ? "a" : "") })
    #expect(mailbox.waiting() == [1, 3, 5, 6])
    mailbox.acknowledge(4)
    #expect(mailbox.waiting() == [5, 6])
    #expect(mailbox.index.queues[1]?.count == 2)
  }

  // MARK: Purging and expiry

  @Test mutating func `purging takes one app's pushes, or all`() {
    mailbox.append([samplePush(1), samplePush(2, app: 2), samplePush(3), samplePush(4, to: 2)])
    mailbox.purge(app: 1)
    #expect(mailbox.waiting() == [2])
    #expect(mailbox.removals.map(\.id) == [.number(1), .number(3)])
    #expect(mailbox.removals.allSatisfy { $0.cause == .unregistered })
    mailbox.purge(app: nil)
    #expect(mailbox.waiting() == [])
    #expect(mailbox.waiting(2) == [1])
    #expect(mailbox.append([samplePush()]).map(\.seq) == [4])
  }

  @Test mutating func `a push expires at its second and not before`() {
    mailbox.append([samplePush(1, lifetime: 10), samplePush(2, lifetime: 20), samplePush(3, to: 2, lifetime: 10)])
    #expect(mailbox.expire(after: 9).isEmpty)
    #expect(mailbox.waiting() == [1, 2])
    #expect(Set(mailbox.expire(after: 1)) == [1, 2])
    #expect(mailbox.waiting() == [2])
    #expect(mailbox.waiting(2) == [])
    #expect(mailbox.removals.allSatisfy { $0.cause == .expired })
    #expect(mailbox.expire(after: 1).isEmpty)
    #expect(mailbox.expire(after: 9) == [1])
    #expect(mailbox.index.earliestExpiry == .max)
  }

  @Test mutating func `many removals in the middle leave the rest in order`() {
    mailbox.append((1...300).map { samplePush($0, lifetime: $0 % 10 == 0 ? 100 : 10) })
    _ = mailbox.expire(after: 10)
    let left = [UInt64](stride(from: 10, through: 300, by: 10))
    #expect(mailbox.waiting() == left)
    let kept: Int = mailbox.index.queues[1]?.entries.count ?? 0
    #expect(kept <= 64)
    mailbox.acknowledge(150)
    #expect(mailbox.waiting() == [UInt64](left.dropFirst(15)))
  }

  // MARK: After a crash

  @Test mutating func `what was committed is there after a crash, and numbers go on`() {
    mailbox.append([samplePush(1), samplePush(2, to: 2)])
    mailbox.append([samplePush(3)])
    mailbox.crash()
    #expect(mailbox.waiting() == [1, 2])
    #expect(mailbox.waiting(2) == [1])
    #expect(mailbox.append([samplePush(4), samplePush(5, to: 2)]).map(\.seq) == [3, 2])
    #expect(mailbox.append([samplePush(1)]).map(\.isDuplicate) == [true])
  }

  @Test mutating func `numbers are not used again after everything was acknowledged and forgotten`() {
    mailbox.append((1...5).map { samplePush($0) })
    mailbox.acknowledge(5)
    mailbox.commit()
    mailbox.now += 1000
    mailbox.forget()
    mailbox.commit()
    #expect(mailbox.rows.isEmpty)
    mailbox.crash()
    #expect(mailbox.append([samplePush(1, at: mailbox.now)]).map(\.seq) == [6])
  }

  @Test(arguments: ["expired", "purged", "collapsed", "overflowed"])
  mutating func `numbers are not used again after the newest was removed`(_ how: String) {
    mailbox.cap = how == "overflowed" ? 1 : 100
    mailbox.append([samplePush(collapse: "a", lifetime: 10), samplePush(collapse: "a", lifetime: 10)])
    switch how {
    case "expired": _ = mailbox.expire(after: 10)
    case "purged": mailbox.purge(app: nil)
    default: break
    }
    mailbox.commit()
    mailbox.crash()
    #expect(mailbox.append([samplePush(at: mailbox.now)]).map(\.seq) == [3])
  }

  @Test mutating func `an acknowledgement that was not committed is forgotten, one that was is not`() {
    mailbox.append((0..<3).map { _ in samplePush() })
    mailbox.acknowledge(1)
    mailbox.commit()
    mailbox.acknowledge(2)
    mailbox.crash()
    #expect(mailbox.waiting() == [2, 3])
  }

  @Test mutating func `a crash before the removal is committed does not bring a replaced push back`() {
    mailbox.append([samplePush(1, collapse: "a")])
    mailbox.append([samplePush(2, collapse: "a")])
    #expect(mailbox.rows.count == 2)
    mailbox.crash()
    #expect(mailbox.waiting() == [2])
    // Also after the replacement was acknowledged.
    mailbox.acknowledge(2)
    mailbox.commit()
    mailbox.crash()
    #expect(mailbox.waiting() == [])
  }

  @Test(arguments: ["expired", "purged"])
  mutating func `a replaced push does not come back when its successor has gone`(_ how: String) {
    mailbox.append([samplePush(1, collapse: "a", lifetime: 1000)])
    mailbox.append([samplePush(2, collapse: "a", lifetime: 10)])
    mailbox.crash()
    if how == "expired" { _ = mailbox.expire(after: 10) } else { mailbox.purge(app: 1) }
    mailbox.commit()
    mailbox.crash()
    #expect(mailbox.waiting() == [])
  }

  @Test mutating func `the id of a push that a restart found replaced is recognised for five minutes, not for ever`() {
    mailbox.append([samplePush(1, collapse: "a")])
    mailbox.append([samplePush(2, collapse: "a")])
    mailbox.crash()
    #expect(mailbox.append([samplePush(1)]).map(\.isDuplicate) == [true])
    mailbox.crash()
    #expect(mailbox.append([samplePush(1)]).map(\.isDuplicate) == [true])
    mailbox.now += 301
    mailbox.forget()
    #expect(mailbox.append([samplePush(1, at: mailbox.now)]).map(\.seq) == [3])
  }

  @Test mutating func `a retry is recognised after a restart, for five minutes`() {
    mailbox.append([samplePush(1), samplePush(2, lifetime: 10), samplePush(3)])
    mailbox.acknowledge(1)
    _ = mailbox.expire(after: 10)
    mailbox.commit()
    mailbox.crash()
    #expect(mailbox.append([samplePush(1), samplePush(2), samplePush(3)]).map(\.isDuplicate) == [true, true, true])
    mailbox.now += 290
    mailbox.crash()
    #expect(
      mailbox.append((1...3).map { samplePush($0, at: mailbox.now) }).map(\.isDuplicate) == [false, false, true])
  }
}
