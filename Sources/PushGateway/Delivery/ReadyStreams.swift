import DequeModule
import NIOCore

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
/// costs it. No stream waits for longer than `patience`, unless serving those before it alone takes that long.
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
        case .notice(let notice): subscription.tell(notice)
        case .resync: subscription.resync()
        }
      }
      subscription.flush()
    }
  }

  private let loop: any EventLoop
  private let patience: TimeAmount
  private var ready = Deque<Stream>()
  private var isScheduled = false

  /// - Parameter patience: how long a stream waits at most while others are let in.
  init(loop: any EventLoop, patience: TimeAmount = Limits.deliveryPatience) {
    self.loop = loop
    self.patience = patience
  }

  /// Hands items to streams; what comes for one stream keeps its order.
  func add(_ items: [(stream: NIOLoopBound<Stream>, item: StreamItem)]) {
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

  private func serve() {
    repeat {
      for _ in 0..<Limits.deliverySlice {
        guard let stream = ready.popFirst() else { break }
        stream.serve()
      }
    } while ready.first.map { $0.readySince + patience <= loop.now } ?? false
    isScheduled = !ready.isEmpty
    guard isScheduled else { return }
    let this = NIOLoopBound(self, eventLoop: loop)
    // A loop goes through all its tasks before it looks at its sockets: the next slice is due a moment later.
    loop.scheduleTask(in: Limits.slicePause) { this.value.serve() }
  }
}
