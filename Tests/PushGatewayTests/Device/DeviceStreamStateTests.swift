import PushTesting
import Testing

@testable import PushCore
@testable import PushGateway
@testable import PushStorage

@Suite struct DeviceStreamStateTests {
  /// Returns a state that has sent everything up to a number.
  private func live(at cursor: UInt64) -> DeviceStreamState {
    var state = DeviceStreamState()
    _ = state.hello(cursor: cursor)
    let nothing = PendingPushes(gap: nil, entries: [], isComplete: true)
    _ = state.found(nothing)
    _ = state.performed(nothing, hasCapacity: true)
    return state
  }

  /// Returns an action in words, or an empty text for nil.
  private func word(_ action: DeviceStreamState.Action?) -> String {
    switch action {
    case nil: ""
    case .read(let seq): "read after \(seq)"
    case .send(let entry): "send \(entry.seq)"
    case .announceCaughtUp(let seq): "caught up \(seq)"
    default: "something else"
    }
  }

  private func entry(_ seq: UInt64) -> MailboxEntry { MailboxEntry(seq: seq, push: samplePush()) }

  @Test func `a live stream that may have missed something reads on from what it was sent`() {
    var state = live(at: 3)
    #expect(word(state.stored(entry(4), hasCapacity: true)) == "send 4")
    #expect(word(state.resync()) == "read after 4")
    // Push 5 was never announced, and 6 comes during the read of the mailbox: both are sent once, in order.
    #expect(word(state.stored(entry(6), hasCapacity: true)) == "")
    let first = PendingPushes(gap: nil, entries: [entry(5)], isComplete: true)
    #expect(state.found(first).map(word) == ["send 5"])
    #expect(word(state.performed(first, hasCapacity: true)) == "read after 5")
    let second = PendingPushes(gap: nil, entries: [entry(6)], isComplete: true)
    #expect(state.found(second).map(word) == ["send 6"])
    #expect(word(state.performed(second, hasCapacity: true)) == "")
    #expect(word(state.stored(entry(7), hasCapacity: true)) == "send 7")
  }

  @Test func `a number that is missing is looked for before what follows it is sent`() {
    var state = live(at: 3)
    #expect(word(state.stored(entry(5), hasCapacity: true)) == "read after 3")
    let both = PendingPushes(gap: nil, entries: [entry(4), entry(5)], isComplete: true)
    #expect(state.found(both).map(word) == ["send 4", "send 5"])
    #expect(word(state.performed(both, hasCapacity: true)) == "")
    // A push that was not announced, or that has been removed, leads to one read.
    #expect(word(state.stored(entry(7), hasCapacity: true)) == "read after 5")
    let one = PendingPushes(gap: nil, entries: [entry(7)], isComplete: true)
    #expect(state.found(one).map(word) == ["send 7"])
    #expect(word(state.performed(one, hasCapacity: true)) == "")
    #expect(word(state.stored(entry(8), hasCapacity: true)) == "send 8")
  }

  @Test func `a hole that the mailbox knows of needs no read`() {
    func entry(_ seq: UInt64, after previous: UInt64) -> MailboxEntry {
      MailboxEntry(seq: seq, previous: previous, push: samplePush())
    }
    var state = live(at: 3)
    #expect(word(state.stored(entry(40, after: 3), hasCapacity: true)) == "send 40")
    // The preceding push was removed in the meantime, and an older one is still pending.
    #expect(word(state.stored(entry(50, after: 2), hasCapacity: true)) == "send 50")
    #expect(word(state.stored(entry(50, after: 2), hasCapacity: true)) == "")
    // Push 60 was never announced.
    #expect(word(state.stored(entry(70, after: 60), hasCapacity: true)) == "read after 50")
  }

  @Test func `a read that is under way is done again`() {
    var state = DeviceStreamState()
    _ = state.hello(cursor: 0)
    #expect(word(state.resync()) == "")
    let nothing = PendingPushes(gap: nil, entries: [], isComplete: true)
    #expect(state.found(nothing).isEmpty)
    #expect(word(state.performed(nothing, hasCapacity: true)) == "read after 0")
    #expect(word(state.performed(nothing, hasCapacity: true)) == "caught up 0")
  }

  @Test func `who reads later anyway reads no sooner`() {
    var behind = live(at: 1)
    #expect(word(behind.stored(entry(2), hasCapacity: false)) == "")
    #expect(word(behind.resync()) == "")
    #expect(word(behind.drained()) == "read after 1")
    var new = DeviceStreamState()
    #expect(word(new.resync()) == "")
    var ended = live(at: 1)
    ended.end()
    #expect(word(ended.resync()) == "")
  }

  @Test(arguments: [(1 << 20, Limits.pendingBatch), (10 * 512, 10), (100, 1), (0, 1), (-100, 1)])
  func `no more is read than may find capacity, and always something`(_ capacity: Int, _ limit: Int) {
    #expect(DeviceStreamState.batch(capacity: capacity) == limit)
  }
}
