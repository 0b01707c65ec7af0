import DequeModule
import GatewayClient
import PushCore

/// The queued messages to closed pages: a value, without a clock. Messages of one device are posted one after another, in
/// their order; all times are in milliseconds since 1970.
struct PageQueue {
  /// One message.
  struct Item: Equatable {
    enum Content: Equatable {
      /// A push, by its number in the mailbox of its device, which has its content.
      case push(seq: UInt64, APNSID)
      /// The retraction of a push, with the topic with which it was posted.
      case retraction(APNSID, topic: String?)
    }

    let device: DeviceID
    let content: Content
    /// The earliest time at which it is posted.
    var due: Int64
    /// True if the time for a page with an open stream has passed.
    var isLate = false
    /// True after the push service refused a longer message.
    var isShort = false
  }

  /// An attempt to post a message.
  struct Attempt: Equatable {
    /// The number of the attempt, which no other attempt of the queue has.
    let number: UInt64
    let item: Item
  }

  /// The result of an attempt.
  enum Result: Equatable {
    /// The push service has the message, or the device does not need it.
    case done
    /// The push service has a push, which may be retracted.
    case posted(APNSID, topic: String?)
    /// The item is attempted again, at its new time.
    case again(Item)
    /// The push service or the gateway failed. The item is attempted again after a pause, which is at least as long as
    /// the given one.
    case failed(Item, retryAfter: Duration?)
  }

  private struct Posted {
    var id: APNSID
    var topic: String?
  }

  /// The messages of one device.
  private struct Line {
    var items = Deque<Item>()
    /// The attempt in progress.
    var current: Attempt?
    /// True if ``timers`` has the device.
    var isScheduled = false
    var pausedUntil: Int64 = 0
    var backoff = Backoff(first: .seconds(5), last: .seconds(900))
    /// The pushes that its push service has, oldest first.
    var posted = Deque<Posted>()

    var isUnused: Bool { items.isEmpty && current == nil && posted.isEmpty }
  }

  private var lines: [DeviceID: Line] = [:]
  /// The devices with messages, in the order of their times. Most are added at the end.
  private var timers = Deque<(at: Int64, device: DeviceID)>()
  /// The number of attempts in progress.
  private(set) var running = 0
  /// The number of the last attempt.
  private var lastAttempt: UInt64 = 0

  /// The number of messages that were dropped because a device had too many.
  private(set) var dropped: UInt64 = 0

  /// The number of queued messages and of attempts in progress.
  var count: Int { lines.values.reduce(running) { $0 + $1.items.count } }

  /// The time of the next message; nil if none can be posted before an attempt ends.
  var next: Int64? { running < Limits.maximumPagePosts ? timers.first?.at : nil }

  /// Adds a message at the end of its device's line, and drops the oldest one of a line that is too long.
  mutating func add(_ item: Item) {
    var line = lines[item.device] ?? Line()
    line.items.append(item)
    trim(&line)
    schedule(&line, item.device)
    lines[item.device] = line
  }

  /// Adds the retraction of a push that was posted or is being posted. A push that is queued needs none: its mailbox no
  /// longer has it.
  mutating func retract(_ id: APNSID, on device: DeviceID, at now: Int64) {
    guard let line = lines[device] else { return }
    if let posted = line.posted.first(where: { $0.id == id }) {
      add(Item(device: device, content: .retraction(id, topic: posted.topic), due: now))
    } else if case .push(seq: _, id)? = line.current?.item.content {
      add(Item(device: device, content: .retraction(id, topic: nil), due: now))
    }
  }

  /// Removes the due messages, and returns the attempts that begin for them.
  mutating func take(at now: Int64) -> [Attempt] {
    var taken: [Attempt] = []
    while let next, next <= now, let (_, device) = timers.popFirst() {
      guard var line = lines[device] else { continue }
      line.isScheduled = false
      // The time may be that of an earlier line of the device.
      if line.current == nil, let first = line.items.first, max(first.due, line.pausedUntil) <= now {
        line.items.removeFirst()
        lastAttempt += 1
        let attempt = Attempt(number: lastAttempt, item: first)
        line.current = attempt
        running += 1
        taken.append(attempt)
      }
      schedule(&line, device)
      lines[device] = line
    }
    return taken
  }

  /// Ends an attempt.
  mutating func finish(_ attempt: Attempt, _ result: Result, at now: Int64) {
    running -= 1
    let device = attempt.item.device
    // A device that was forgotten has no line, or a new line without this attempt.
    guard var line = lines[device], line.current?.number == attempt.number else { return }
    line.current = nil
    switch result {
    case .done: line.backoff.reset()
    case .posted(let id, let topic):
      line.backoff.reset()
      line.posted.append(Posted(id: id, topic: topic))
      if line.posted.count > Limits.maximumPageQueue { line.posted.removeFirst() }
    case .again(let item): line.items.prepend(item)
    case .failed(let item, let pause):
      line.pausedUntil = now + Int64(max(line.backoff.next(), pause ?? .zero) / .milliseconds(1))
      line.items.prepend(item)
    }
    trim(&line)
    schedule(&line, device)
    lines[device] = line.isUnused ? nil : line
  }

  /// Forgets the messages of a device without a subscription.
  mutating func forget(_ device: DeviceID) { lines[device] = nil }

  private mutating func trim(_ line: inout Line) {
    while line.items.count > Limits.maximumPageQueue {
      line.items.removeFirst()
      dropped += 1
    }
  }

  private mutating func schedule(_ line: inout Line, _ device: DeviceID) {
    guard line.current == nil, !line.isScheduled, let first = line.items.first else { return }
    line.isScheduled = true
    let at = max(first.due, line.pausedUntil)
    guard let last = timers.last, last.at > at else { return timers.append((at, device)) }
    var (low, high) = (0, timers.count)
    while low < high {
      let middle = (low + high) / 2
      if timers[middle].at <= at { low = middle + 1 } else { high = middle }
    }
    timers.insert((at, device), at: low)
  }

  /// Returns a description of the violated invariant; nil if all invariants hold.
  func brokenInvariant() -> String? {
    if lines.values.contains(where: { $0.items.count > Limits.maximumPageQueue }) { return "a line is too long" }
    if running > Limits.maximumPagePosts { return "there are too many attempts" }
    let isWaiting = lines.values.allSatisfy { $0.items.isEmpty || $0.isScheduled || $0.current != nil }
    return isWaiting ? nil : "a device with messages has no time"
  }
}
