import NIOCore
import NIOPosix
import PushTesting
import Synchronization
import Testing

@testable import PushCore
@testable import PushGateway
@testable import PushStorage

/// The requirements on every router. Each check begins with a new router.
///
/// A check proves that a delivery did not happen by a later delivery that arrived, because the router keeps the order.
struct RouterConformance {
  let router: any PushRouter
  /// The event loops of the streams: two, or one on a machine with one core.
  let loops: [any EventLoop]
  /// The maximum time that a check waits for an event.
  let timeLimit: Duration

  typealias Check = @Sendable (RouterConformance) async throws -> Void

  /// All checks by name.
  static let checks: [(name: String, run: Check)] = [
    ("what is handed over after attaching is told", { try await $0.telling() }),
    ("what was appended before attaching is found by reading", { try await $0.readingAfterAttaching() }),
    ("what is never stored comes to each stream once", { try await $0.deliveringNow() }),
    ("it is known where what is never stored went", { try await $0.knowingWhere() }),
    ("nothing comes after detaching", { try await $0.detaching() }),
    ("each stream of a device gets what is its device's", { try await $0.severalStreams() }),
    ("order is kept", { try await $0.ordering() }),
    ("a notice keeps its position among pushes", { try await $0.placingNotices() }),
    ("one stream can be left out of what is told", { try await $0.leavingOneOut() }),
    ("an acknowledgement comes to every stream of its device", { try await $0.acknowledging() }),
    ("every stream is asked to read again", { try await $0.resyncing() }),
  ]

  /// Runs one check on a router.
  static func run(_ name: String, on router: any PushRouter, timeLimit: Duration = .seconds(300)) async throws {
    let check = try #require(checks.first { $0.name == name }, "there is no such check")
    let loops = Array(MultiThreadedEventLoopGroup.singleton.makeIterator().prefix(2))
    try await check.run(RouterConformance(router: router, loops: loops, timeLimit: timeLimit))
  }

  /// A stream that records its calls.
  final class Stream: LiveSubscription, Sendable {
    enum Event: Equatable {
      case stored(UInt64)
      case now(APNSID)
      case retract(APNSID)
      case acknowledged(UInt64)
      case resync
    }

    let loop: any EventLoop
    private let timeLimit: Duration
    private let state = Mutex((events: [Event](), waiter: CheckedContinuation<Void, Never>?.none, isLate: false))
    var events: [Event] { state.withLock { $0.events } }
    /// The numbers of the stored pushes.
    var numbers: [UInt64] { events.compactMap { if case .stored(let seq) = $0 { seq } else { nil } } }

    init(loop: any EventLoop, timeLimit: Duration) {
      self.loop = loop
      self.timeLimit = timeLimit
    }

    func deliver(_ entry: MailboxEntry) { note(entry.seq == 0 ? .now(entry.push.id) : .stored(entry.seq)) }
    func flush() {}
    func resync() { note(.resync) }
    func notify(_ notice: DeviceNotice) {
      switch notice {
      case .retract(let id): note(.retract(id))
      case .acknowledged(let seq): note(.acknowledged(seq))
      default: break
      }
    }

    private func note(_ event: Event) {
      loop.preconditionInEventLoop()
      state.withLock { state in
        state.events.append(event)
        return state.waiter.take()
      }?.resume()
    }

    /// The error if an expected event has not come in time.
    struct Missing: Error {
      let event: Event
      /// The events that came.
      let events: [Event]
    }

    /// Returns when an event has come. At most one task may wait at a time.
    ///
    /// - Throws: ``Missing`` after the time limit.
    func awaits(_ event: Event) async throws {
      state.withLock { $0.isLate = false }
      let limit = Task {
        try await Task.sleep(for: timeLimit)
        // The mark is set together with the wakeup: a task that begins to wait later finds it, in any order of the
        // timers.
        state.withLock { state in
          guard !Task.isCancelled else { return CheckedContinuation<Void, Never>?.none }
          state.isLate = true
          return state.waiter.take()
        }?.resume()
      }
      defer { limit.cancel() }
      while true {
        let (events, isLate) = state.withLock { ($0.events, $0.isLate) }
        if events.contains(event) { return }
        guard !isLate else { throw Missing(event: event, events: events) }
        await withCheckedContinuation { waiter in
          let isOver = state.withLock { state in
            if state.events.contains(event) || state.isLate { return true }
            state.waiter = waiter
            return false
          }
          if isOver { waiter.resume() }
        }
      }
    }
  }

  private func attach(_ device: DeviceID, loop: Int = 0) async throws -> (stream: Stream, number: UInt64) {
    let loop = loops[loop % loops.count]
    let stream = Stream(loop: loop, timeLimit: timeLimit)
    let router = router
    return (stream, try await loop.submit { router.attach(device, stream, loop: loop) }.get())
  }

  private func entry(_ seq: UInt64, to device: DeviceID = 1) -> MailboxEntry {
    MailboxEntry(seq: seq, push: samplePush(to: device))
  }

  private func telling() async throws {
    for number in 1...50 {
      let device = DeviceID(row: Int64(number))
      let (stream, _) = try await attach(device, loop: number)
      router.deliver([entry(7, to: device)])
      try await stream.awaits(.stored(7))
    }
  }

  /// Pushes are stored before a stream attaches, before it reads, and after that. The stream reads or receives each of
  /// them.
  private func readingAfterAttaching() async throws {
    let mailbox = MemoryMailbox(clock: TestClock(), removed: { _ in })
    var last: UInt64 = 0
    func accept() async {
      let push = samplePush()
      last = await mailbox.append([push]).compactMap(\.seq).last ?? 0
      router.deliver([MailboxEntry(seq: last, push: push)])
    }
    for round in 0..<8 {
      await accept()
      let (stream, _) = try await attach(1, loop: round)
      await accept()
      let found = try await mailbox.pending(for: 1, after: 0, limit: .max).entries.map(\.seq)
      await accept()
      try await stream.awaits(.stored(last))
      #expect(Set(found).union(stream.numbers) == Set(1...last))
    }
  }

  private func deliveringNow() async throws {
    let streams = [try await attach(1).stream, try await attach(1, loop: 1).stream]
    let other = try await attach(2).stream
    for number in 1...20 { _ = router.deliverNow(samplePush(number)) }
    router.deliver([entry(1), entry(1, to: 2)])
    for stream in streams {
      try await stream.awaits(.stored(1))
      #expect(stream.events == (1...20).map { .now(.number($0)) } + [.stored(1)])
    }
    try await other.awaits(.stored(1))
    #expect(other.events == [.stored(1)])
    // The push is not kept: a stream that attaches later does not receive it.
    let late = try await attach(1).stream
    router.deliver([entry(2)])
    try await late.awaits(.stored(2))
    #expect(late.events == [.stored(2)])
  }

  private func knowingWhere() async throws {
    #expect(router.deliverNow(samplePush(1)) != .delivered)
    let (stream, number) = try await attach(1)
    #expect(router.deliverNow(samplePush(2)) == .delivered)
    #expect(router.deliverNow(samplePush(3, to: 2)) != .delivered)
    #expect(router.count(of: 1) == 1)
    #expect(router.areConnected([entry(1), entry(1, to: 2)]).first == true)
    try await stream.loop.submit { [router] in router.detach(1, number) }.get()
    #expect(router.deliverNow(samplePush(4)) != .delivered)
  }

  private func detaching() async throws {
    let (gone, number) = try await attach(1)
    let stays = try await attach(1).stream
    router.deliver([entry(1)])
    try await gone.awaits(.stored(1))
    try await gone.loop.submit { [router] in router.detach(1, number) }.get()
    router.deliver([entry(2)])
    _ = router.deliverNow(samplePush(3))
    router.notify(1, .retract(.number(4)))
    router.resync()
    try await stays.awaits(.resync)
    #expect(gone.events == [.stored(1)])
    // A second call is no error and detaches no other stream.
    try await gone.loop.submit { [router] in router.detach(1, number) }.get()
    router.deliver([entry(5)])
    try await stays.awaits(.stored(5))
  }

  private func severalStreams() async throws {
    let (first, second) = (try await attach(1), try await attach(1, loop: 1))
    let other = try await attach(2, loop: 1)
    #expect(Set([first.number, second.number, other.number]).count == 3)
    router.deliver([entry(1), entry(1, to: 2), entry(2), entry(3, to: 3)])
    for stream in [first.stream, second.stream] {
      try await stream.awaits(.stored(2))
      #expect(stream.numbers == [1, 2])
    }
    try await other.stream.awaits(.stored(1))
    #expect(other.stream.numbers == [1])
  }

  private func ordering() async throws {
    var streams: [Stream] = []
    for device in 1...4 { streams.append(try await attach(DeviceID(row: Int64(device)), loop: device).stream) }
    for start in stride(from: UInt64(1), to: 200, by: 4) {
      router.deliver((start..<start + 4).flatMap { seq in (1...4).map { entry(seq, to: DeviceID(row: $0)) } })
    }
    for stream in streams {
      try await stream.awaits(.stored(200))
      // Pushes may be repeated, because a device recognizes them by their numbers. They may not be reordered.
      #expect(stream.numbers == stream.numbers.sorted())
      #expect(Set(stream.numbers) == Set(1...200))
    }
  }

  /// A push that is replaced, the notice about it, and its replacement arrive in order.
  private func placingNotices() async throws {
    let stream = try await attach(1).stream
    for number in stride(from: 1, to: 60, by: 3) {
      router.deliver([entry(UInt64(number))])
      router.notify(1, .retract(.number(number)))
      _ = router.deliverNow(samplePush(number + 1))
    }
    router.deliver([entry(100)])
    try await stream.awaits(.stored(100))
    let expected = stride(from: 1, to: 60, by: 3).flatMap { number -> [Stream.Event] in
      [.stored(UInt64(number)), .retract(.number(number)), .now(.number(number + 1))]
    }
    #expect(stream.events == expected + [.stored(100)])
  }

  private func leavingOneOut() async throws {
    let (first, second) = (try await attach(1), try await attach(1, loop: 1))
    let other = try await attach(2).stream
    router.notify(1, .retract(.number(1)), except: first.number)
    router.notify(1, .retract(.number(2)), except: nil)
    router.deliver([entry(1, to: 2)])
    try await first.stream.awaits(.retract(.number(2)))
    try await second.stream.awaits(.retract(.number(2)))
    try await other.awaits(.stored(1))
    #expect(first.stream.events == [.retract(.number(2))])
    #expect(second.stream.events == [.retract(.number(1)), .retract(.number(2))])
    #expect(other.events == [.stored(1)])
  }

  private func acknowledging() async throws {
    let streams = [try await attach(1).stream, try await attach(1, loop: 1).stream]
    let other = try await attach(2).stream
    router.notify(1, .acknowledged(7))
    router.deliver([entry(1, to: 2)])
    for stream in streams { try await stream.awaits(.acknowledged(7)) }
    try await other.awaits(.stored(1))
    #expect(other.events == [.stored(1)])
  }

  private func resyncing() async throws {
    var streams: [Stream] = []
    for number in 0..<10 { streams.append(try await attach(DeviceID(row: Int64(number / 2)), loop: number).stream) }
    router.resync()
    for stream in streams { try await stream.awaits(.resync) }
  }
}
