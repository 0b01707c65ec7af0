import DequeModule
import NIOCore
import PushCore
import PushStorage

/// An item that a router hands to a stream.
enum StreamItem: Sendable {
  case push(MailboxEntry)
  case notice(DeviceNotice)
  case resync
}

/// A queue of the streams of one event loop that have undelivered items, served first in, first out, one slice at a
/// time. Between slices the loop polls its sockets.
///
/// A loop with a light load serves every stream at once. A loop with a heavy load accepts new pushes between two
/// slices: pushes for a queued stream join it and leave with one write. So the cost of each push falls as the load
/// rises. The time that the first stream in the queue has waited measures the load:
///
/// | wait of the first stream | the loop |
/// | --- | --- |
/// | up to `backlog` | serves a slice, then polls its sockets |
/// | longer | serves a small slice in between: it collects |
/// | `maximumWait` | serves streams until none has waited that long |
///
/// Not `Sendable`: it never leaves its event loop.
final class ReadyStreams {
  /// A stream and the items that it has not received yet.
  final class Stream {
    fileprivate let subscription: any LiveSubscription
    fileprivate var items: [StreamItem] = []
    fileprivate var readySince = NIODeadline.distantPast

    init(_ subscription: any LiveSubscription) { self.subscription = subscription }

    /// Delivers all items of the stream and flushes once, while its data is in the processor's caches.
    fileprivate func serve() {
      let items = items
      self.items = []
      for item in items {
        switch item {
        case .push(let entry): subscription.deliver(entry)
        case .notice(let notice): subscription.notify(notice)
        case .resync: subscription.resync()
        }
      }
      subscription.flush()
    }
  }

  private let loop: any EventLoop
  private let backlog: TimeAmount
  private let maximumWait: TimeAmount
  private var ready = Deque<Stream>()
  private var isScheduled = false

  /// Creates the queue of one event loop.
  ///
  /// - Parameters:
  ///   - backlog: the wait of the first stream from which the loop counts as overloaded.
  ///   - maximumWait: the maximum time that a stream waits while the loop accepts other work.
  init(
    loop: any EventLoop, backlog: TimeAmount = TimeAmount(Limits.deliveryBacklog),
    maximumWait: TimeAmount = TimeAmount(Limits.maximumDeliveryWait)
  ) {
    self.loop = loop
    self.backlog = backlog
    self.maximumWait = maximumWait
  }

  /// Hands items to streams; items for one stream keep their order.
  func add(_ items: [(stream: NIOLoopBound<Stream>, item: StreamItem)]) {
    assert(loop.inEventLoop)
    defer { checkInvariants() }
    let now = loop.now
    for (stream, item) in items {
      let stream = stream.value
      if stream.items.isEmpty {
        stream.readySince = now
        ready.append(stream)
      }
      stream.items.append(item)
    }
    guard !isScheduled else { return }
    isScheduled = true
    let this = NIOLoopBound(self, eventLoop: loop)
    // Runs after the answers of this event-loop iteration.
    loop.execute { this.value.serve() }
  }

  /// The time that the first stream in the queue has waited; zero if the queue is empty.
  private var wait: TimeAmount { ready.first.map { loop.now - $0.readySince } ?? .zero }

  private func serve() {
    let slice = wait > backlog ? Limits.backlogSlice : Limits.deliverySlice
    var served = 0
    while served < slice || wait >= maximumWait, let stream = ready.popFirst() {
      stream.serve()
      assert(stream.items.isEmpty, "a served stream leaves the queue with pushes")
      served += 1
    }
    isScheduled = !ready.isEmpty
    checkInvariants()
    guard isScheduled else { return }
    let this = NIOLoopBound(self, eventLoop: loop)
    // A loop runs all its tasks before it polls its sockets: the next slice is scheduled after a pause.
    loop.scheduleTask(in: TimeAmount(Limits.slicePause)) { this.value.serve() }
  }

  /// Returns a description of the violated invariant; nil if all invariants hold. Checks only the front of a long
  /// queue.
  func brokenInvariant() -> String? {
    if isScheduled == ready.isEmpty {
      return isScheduled ? "no stream waits to be served" : "\(ready.count) wait permanently"
    }
    let front = ready.prefix(64)
    if front.contains(where: \.items.isEmpty) { return "a stream without pushes waits" }
    return Set(front.map(ObjectIdentifier.init)).count == front.count ? nil : "a stream waits twice"
  }

  /// Ends a debug build that violates an invariant; compiled out of release builds.
  func checkInvariants() { assert(brokenInvariant() == nil, brokenInvariant() ?? "") }
}
