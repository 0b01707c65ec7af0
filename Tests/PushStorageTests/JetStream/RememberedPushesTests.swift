import NATSClient
import NATSTesting
import PushTesting
import Synchronization
import Testing

@testable import PushCluster
@testable import PushCore
@testable import PushStorage

/// The pushes that a gateway of a cluster keeps in memory.
@Suite(.timeLimit(.minutes(5))) struct RememberedPushesTests {
  private let mailbox = JetStreamMailbox(
    .patient(ModelEngine().connect()), partitions: 1, replicas: 3, cap: 100, logger: .silent,
    now: { TestClock.start }, removed: { _ in })

  private var expiring: Int { mailbox.state.withLock { $0.expiring.values.reduce(0) { $0 + $1.count } } }

  @Test func `of what has left nothing stays until it would have expired`() {
    for seq in UInt64(1)...13_000 {
      _ = mailbox.learn(seq, samplePush(to: 1))
      if seq > 100 { mailbox.acknowledge(1, through: seq - 100) }
    }
    #expect(mailbox.waitingCount(for: 1) == 100)
    #expect(expiring <= 10_000 + 2 * 100 + 1)
    #expect(mailbox.state.withLock { $0.expiringCount } == expiring)
  }

  @Test func `what waits is known to expire also when much has left`() {
    _ = mailbox.learn(1, samplePush(to: 2))
    for seq in UInt64(2)...13_000 {
      _ = mailbox.learn(seq, samplePush(to: 1))
      mailbox.acknowledge(1, through: seq)
    }
    let due = mailbox.state.withLock { state in state.expired(by: TestClock.start + 4000) }
    #expect(due.keys.map(\.row) == [2])
    #expect(expiring == 0)
  }

  @Test func `a device takes many that wait one after another without all being looked at each time`() {
    let count: UInt64 = 100_000
    var cache = MailboxCache()
    for seq in 1...count { _ = cache.learn(seq, samplePush(to: 1)) }
    for seq in 1...count where cache.acknowledge(through: seq).map(\.seq) != [seq] {
      Issue.record("\(seq) was not taken alone")
    }
    #expect(cache.count == 0)
  }

  @Test func `what comes late is acknowledged, and what has left before is not told again`() {
    var cache = MailboxCache()
    for seq: UInt64 in [5, 9, 2, 7] { _ = cache.learn(seq, samplePush(to: 1)) }
    _ = cache.remove(5)
    // Push 5 could not be deleted, and is read again.
    cache.restore(5)
    _ = cache.learn(5, samplePush(to: 1))
    _ = cache.remove(7)
    let (first, rest) = (cache.acknowledge(through: 7), cache.acknowledge(through: .max))
    #expect(first.map(\.seq) == [2, 5])
    #expect(rest.map(\.seq) == [9])
  }
}
