import NIOCore
import NIOEmbedded
import PushTesting
import Testing

@testable import PushCore
@testable import PushGateway
@testable import PushStorage

@Suite struct ReadyStreamsTests {
  /// The entries given to each stream of a test, and the flushes, in order.
  final class Record {
    var events: [String] = []
  }

  final class Stream: LiveSubscription {
    let name: Int
    let record: Record

    init(_ name: Int, _ record: Record) { (self.name, self.record) = (name, record) }

    func deliver(_ entry: MailboxEntry) { record.events.append("\(name) push \(entry.seq)") }
    func flush() { record.events.append("\(name) flush") }
    func notify(_ notice: DeviceNotice) { record.events.append("\(name) notice") }
    func resync() { record.events.append("\(name) resync") }
  }

  typealias Target = NIOLoopBound<ReadyStreams.Stream>

  let loop = EmbeddedEventLoop()
  let record = Record()

  func streams(_ count: Int) -> [Target] {
    (0..<count).map { NIOLoopBound(ReadyStreams.Stream(Stream($0, record)), eventLoop: loop) }
  }

  func push(_ seq: UInt64) -> StreamItem { .push(MailboxEntry(seq: seq, push: samplePush())) }

  @Test func `what is for one stream keeps its order and leaves with one flush`() {
    let ready = ReadyStreams(loop: loop)
    let streams = streams(2)
    ready.add([(streams[1], push(1)), (streams[0], push(5)), (streams[1], .notice(.retract(.number(1))))])
    ready.add([(streams[1], push(2)), (streams[0], .resync)])
    #expect(record.events.isEmpty, "nothing is sent before the turn's answers")
    loop.run()
    #expect(
      record.events == [
        "1 push 1", "1 notice", "1 push 2", "1 flush", "0 push 5", "0 resync", "0 flush",
      ])
  }

  @Test func `between two slices the loop does other things, and what comes meanwhile joins what waits`() {
    let ready = ReadyStreams(loop: loop)
    let streams = streams(Limits.deliverySlice + 2)
    ready.add(streams.map { ($0, push(1)) })
    loop.run()
    #expect(record.events.count == 2 * Limits.deliverySlice)
    record.events = []
    // A stream that was served is ready again, after the pending streams.
    ready.add([(streams[0], push(2)), (streams[Limits.deliverySlice], push(2))])
    loop.run()
    #expect(record.events.isEmpty, "the next slice is due a moment later")
    loop.advanceTime(by: TimeAmount(Limits.slicePause))
    let (first, last) = (Limits.deliverySlice, Limits.deliverySlice + 1)
    #expect(
      record.events == [
        "\(first) push 1", "\(first) push 2", "\(first) flush", "\(last) push 1", "\(last) flush", "0 push 2",
        "0 flush",
      ])
  }

  @Test func `a loop with a backlog serves few before it takes on more`() {
    let ready = ReadyStreams(loop: loop, backlog: .zero)
    let streams = streams(Limits.deliverySlice + 2 * Limits.backlogSlice)
    ready.add(streams.map { ($0, push(1)) })
    loop.run()
    #expect(record.events.count == 2 * Limits.deliverySlice, "none has waited yet")
    record.events = []
    loop.advanceTime(by: TimeAmount(Limits.slicePause))
    #expect(record.events.count == 2 * Limits.backlogSlice)
    ready.add([(streams[0], push(2))])
    loop.advanceTime(by: TimeAmount(Limits.slicePause))
    #expect(record.events.count == 4 * Limits.backlogSlice)
    record.events = []
    loop.advanceTime(by: TimeAmount(Limits.slicePause))
    #expect(record.events == ["0 push 2", "0 flush"])
  }

  @Test func `whoever has waited for long is served before others are let in`() {
    let ready = ReadyStreams(loop: loop, maximumWait: .zero)
    ready.add(streams(3 * Limits.deliverySlice).map { ($0, push(1)) })
    loop.run()
    #expect(record.events.count == 6 * Limits.deliverySlice)
  }

  @Test func `after all have been served the next is served at once`() {
    let ready = ReadyStreams(loop: loop)
    let streams = streams(1)
    for seq in 1...3 as ClosedRange<UInt64> {
      ready.add([(streams[0], push(seq))])
      loop.run()
      #expect(record.events == ["0 push \(seq)", "0 flush"])
      record.events = []
    }
  }
}
