import DequeModule
import NIOCore
import PushCore
import PushStorage

/// What a router hands to a stream.
enum StreamItem: Sendable {
  case push(MailboxEntry)
  case notice(DeviceNotice)
  case resync
}

/// The streams of one loop that have been handed something, served in the order in which that began, a slice at a time;
/// in between the loop sees to its sockets.
///
/// A loop with little to do serves every stream at once. One with much to do takes on new pushes between two slices:
/// those for a stream that waits join it, and leave with one write. So the more a loop has to do, the less each push
/// costs it. How long the first stream in line has waited tells how much that is:
///
/// | the first has waited | the loop |
/// | --- | --- |
/// | up to `backlog` | serves a slice, then looks to its sockets |
/// | longer | serves a small slice in between: it collects |
/// | for `maximumWait` | serves on until none has waited that long |
///
/// Not `Sendable`: it never leaves its loop.
final class ReadyStreams {
  /// A stream and what it has not been given yet.
  final class Stream {
    fileprivate let subscription: any LiveSubscription
    fileprivate var items: [StreamItem] = []
    fileprivate var readySince = NIODeadline.distantPast

    init(_ subscription: any LiveSubscription) { self.subscription = subscription }

    /// All that is for the stream leaves together, while what belongs to it is near.
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

  /// - Parameters:
  ///   - backlog: how long a stream has waited when the loop counts as having too much to do.
  ///   - maximumWait: how long a stream waits at most while others are let in.
  init(
    loop: any EventLoop, backlog: TimeAmount = TimeAmount(Limits.deliveryBacklog),
    maximumWait: TimeAmount = TimeAmount(Limits.maximumDeliveryWait)
  ) {
    self.loop = loop
    self.backlog = backlog
    self.maximumWait = maximumWait
  }

  /// Hands items to streams; what comes for one stream keeps its order.
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
    // Behind what this turn has to answer.
    loop.execute { this.value.serve() }
  }

  /// How long the first stream in line has waited, zero if there is none.
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
    // A loop goes through all its tasks before it looks at its sockets: the next slice is due a moment later.
    loop.scheduleTask(in: TimeAmount(Limits.slicePause)) { this.value.serve() }
  }

  /// What does not fit; nil when all does. A long line is only looked at from its front.
  func brokenInvariant() -> String? {
    if isScheduled == ready.isEmpty {
      return isScheduled ? "no stream waits to be served" : "\(ready.count) wait permanently"
    }
    let front = ready.prefix(64)
    if front.contains(where: \.items.isEmpty) { return "a stream without pushes waits" }
    return Set(front.map(ObjectIdentifier.init)).count == front.count ? nil : "a stream waits twice"
  }

  /// Ends a debug build in which something does not fit; a release build has no trace of this.
  func checkInvariants() { assert(brokenInvariant() == nil, brokenInvariant() ?? "") }
}
