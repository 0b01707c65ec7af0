import NIOEmbedded
import PushPolicy
import PushTesting
import Testing

@testable import HTTP2Transport
@testable import PushGateway
@testable import PushStorage

/// Errors that are injected into a state. An assertion finds each of them directly, before it has further effects.
@Suite struct InvariantsTests {
  static func entry(_ seq: UInt64, collapse: String = "", isRemoved: Bool = false) -> MailboxIndex.Entry {
    MailboxIndex.Entry(
      row: Int64(seq), seq: seq, app: 1, id: .number(Int(seq)), isSenderID: false, received: 0, expires: .max,
      collapseID: collapse, isRemoved: isRemoved)
  }

  /// Returns a queue with the pending pushes 3, 4 and 5, unless given others, and with 2 acknowledged.
  static func queue(
    _ entries: [MailboxIndex.Entry] = [entry(3), entry(4), entry(5)],
    _ change: (inout MailboxIndex.DeviceQueue) -> Void = { _ in }
  ) -> MailboxIndex.DeviceQueue {
    var queue = MailboxIndex.DeviceQueue(lastSeq: 5, durableSeq: 5, acknowledged: 2)
    for entry in entries {
      queue.entries.append(MailboxIndex.Waiting(entry))
      if !entry.collapseID.isEmpty { queue.collapseIDs[entry.seq] = entry.collapseID }
    }
    queue.count = 3
    change(&queue)
    return queue
  }

  @Test func `a queue that is in order breaks nothing`() {
    #expect(InvariantsTests.queue().brokenInvariant() == nil)
    #expect(MailboxIndex.DeviceQueue().brokenInvariant() == nil)
  }

  @Test func `skip a dequeue: what is acknowledged does not wait`() {
    let queue = InvariantsTests.queue { $0.acknowledged = 3 }
    #expect(queue.brokenInvariant() == "3 waits, and is acknowledged")
  }

  @Test func `reuse a number: numbers rise, and none is beyond the last`() {
    let entry = InvariantsTests.entry
    let twice = InvariantsTests.queue([entry(3, "", false), entry(4, "", false), entry(4, "", false)])
    #expect(twice.brokenInvariant() == "4 comes after 4")
    let reused = InvariantsTests.queue { ($0.lastSeq, $0.durableSeq) = (4, 4) }
    #expect(reused.brokenInvariant() == "5 waits, and is not on disk")
  }

  @Test func `a queue counts what waits, knows what can be replaced, and keeps gaps before what waits`() {
    let entry = InvariantsTests.entry
    let removed = InvariantsTests.queue([entry(3, "", false), entry(4, "", true), entry(5, "", false)])
    #expect(removed.brokenInvariant() == "2 wait, and 3 are counted")
    let key = MailboxIndex.CollapseKey(app: 1, id: "a")
    let gone = InvariantsTests.queue { $0.collapsible[key] = 9 }
    #expect(gone.brokenInvariant() == "1 that are gone can be replaced")
    let both = InvariantsTests.queue([entry(3, "a", false), entry(4, "a", false), entry(5, "", false)]) {
      $0.collapsible[key] = 4
    }
    #expect(both.brokenInvariant() == "the push replaced by 3 is still pending")
    let gap = InvariantsTests.queue { $0.gap = MailboxGap(from: 1, to: 3, dropped: 2) }
    #expect(gap.brokenInvariant() == "3 waits, and is in the gap")
    #expect(InvariantsTests.queue { $0.durableSeq = 6 }.brokenInvariant() == "6 is on disk, and 5 the last")
  }

  @Test func `double-count a badge: a part is presented or removed, once`() throws {
    let right = try DeciderTests.decide(.init("") { $0.device.focus = "work" })
    #expect(right.brokenInvariant() == nil)
    func with(_ presentation: Presentation, _ removed: [Decision.Removal], isCounted: Bool = false) -> String? {
      DeliveryDecision(
        push: right.push, at: 0, asked: right.asked, presentation: presentation, removed: removed,
        isAlertCounted: isCounted, textReaders: .devices
      ).brokenInvariant()
    }
    let badge = Decision.Removal(part: .badge, rule: .n4, setting: "badge")
    #expect(with(right.presentation, right.removed + [badge]) == "badge counts 2 times")
    #expect(
      with(right.presentation, Array(right.removed.dropLast())) == "alert was requested and has no outcome")
    #expect(with(right.presentation, right.removed, isCounted: true) == "an alert counts that is not shown")
    var held = right.presentation
    (held.center, held.held) = (nil, Deferral(by: .summary))
    #expect(with(held, right.removed) == "a deferred alert is missing in the center")
  }

  @Test func `answer twice: a batch comes back once`() {
    var batches = NumberedBatches<String>()
    let (one, two) = (batches.add("one"), batches.add("two"))
    #expect(batches.take(two) == "two")
    #expect(batches.take(one) == "one")
    #expect(batches.brokenInvariant() == nil)
    #expect(batches.take(one) == nil)
    #expect(batches.brokenInvariant() == "batch 1 is answered twice")
  }

  @Test func `leak a stream: what is over is not among the open ones`() throws {
    let pool = StreamPool()
    let pair = try SessionPair(serverPool: pool)
    _ = try pair.request(body: [1], isEnding: false)
    let last = try pair.request(body: [1], isEnding: false)
    try pair.run()
    #expect(pair.server.session.brokenInvariant() == nil)
    let stream = try #require(pair.server.session.stream(last.id))
    stream.openIndex = 0
    #expect(pair.server.session.brokenInvariant() == "stream 3 is at 1, and says 0")
    stream.openIndex = 1
    pool.give(stream)
    #expect(pair.server.session.brokenInvariant() == "a stream that is over is among the open ones")
    stream.open(id: last.id)
    stream.openIndex = 1
  }

  @Test func `a stream of a device sends nothing twice, and tells once that it has caught up`() {
    var live = DeviceStreamState()
    _ = live.hello(cursor: 4)
    let begun = live
    _ = live.performed(PendingPushes(gap: nil, entries: [], isComplete: true), hasCapacity: true)
    #expect(live.brokenInvariant(since: begun) == nil)

    var later = live
    _ = later.stored(MailboxEntry(seq: 5, push: samplePush()), hasCapacity: true)
    #expect(live.brokenInvariant(since: later) == "4 would be sent again: 5 was")
    #expect(begun.brokenInvariant(since: live) == "the caught-up line would be sent twice")
    var over = live
    over.end()
    #expect(live.brokenInvariant(since: over) == "an ended stream continues")
  }

  @Test func `a connection does not come back, and says GOAWAY once`() {
    let drain = ConnectionState.Event.drain(.stop, isQuiet: false)
    func after(_ events: ConnectionState.Event...) -> ConnectionState {
      var state = ConnectionState(isServer: true, hasTLS: false)
      for event in events { _ = state.handle(event) }
      return state
    }
    #expect(after(drain).brokenInvariant(since: after()) == nil)
    #expect(after().brokenInvariant(since: after(drain)) == "a draining connection is active")
    #expect(
      after(drain).brokenInvariant(since: after(.finish))?.hasPrefix("a closing connection is draining") == true
    )
    #expect(after(.finish).brokenInvariant(since: after(.disconnected)) == "a closed connection is closing")
    #expect(
      after(drain).brokenInvariant(since: after(drain, .idle, .settled)) == "GOAWAY would be sent twice"
    )
    #expect(
      after(drain).brokenInvariant(since: after(.end(.idle))) == "data of a refused peer is read again")
  }
}
