import HTTP2Transport
import NIOCore
import PushCore
import PushPolicy
import PushStorage

/// Accepts the pushes of one event loop: collects those of one iteration, has the mailbox store them as one batch,
/// hands them to live streams, and answers their senders.
///
/// One for each event loop; not `Sendable`.
final class Dispatcher {
  private struct Batch {
    var pushes: [StoredPush] = []
    var references: [StreamReference] = []
    /// The start of the event-loop iteration in which the pushes arrived.
    var began = NIODeadline.distantPast
  }

  /// The destinations of accepted pushes; usable on any thread.
  struct Destinations: Sendable {
    let mailbox: any Mailbox
    let router: any PushRouter
    let log: DeliveryLog
    let clock: WallClock
  }

  /// The pushes of a batch that the mailbox stored.
  struct Stored {
    var entries: [MailboxEntry] = []
    /// The pushes that they replaced.
    var replaced: [(device: DeviceID, id: APNSID)] = []
  }

  private let loop: LoopContext
  private let destinations: Destinations
  private let log: LoopLogBuffer
  private let stages: LatencyHistograms
  private var collecting = Batch()
  private var storing = NumberedBatches<Batch>()
  private var storingCount = 0
  /// Answers a provider after the outcome is known.
  var answer: ((Exchange, StoredPush, AppendOutcome) -> Void)?

  /// Creates a dispatcher for one event loop.
  ///
  /// - Parameters:
  ///   - log: the buffer for rows of pushes that are never stored.
  ///   - stages: records the time until pushes are answered.
  init(loop: LoopContext, destinations: Destinations, log: LoopLogBuffer, stages: LatencyHistograms) {
    self.stages = stages
    self.loop = loop
    self.destinations = destinations
    self.log = log
    loop.onIterationEnd { [unowned self] in submit() }
    loop.isPaused = { [unowned self] in
      storingCount >= (loop.isShared ? Limits.turnBacklog : Limits.turnBacklogAlone)
    }
  }

  /// Stores a push; the answer follows after the commit.
  func store(_ push: StoredPush, for exchange: Exchange) {
    assert(loop.eventLoop.inEventLoop)
    collecting.pushes.append(push)
    collecting.references.append(exchange.reference)
    loop.scheduleIterationEnd()
  }

  /// Delivers a push that is never stored, if its device is connected now (`apns-expiration: 0`).
  ///
  /// - Returns: false for a retry of a push that was stored and has expired since: the retry is not delivered.
  func deliverNow(_ push: StoredPush) -> Bool {
    if destinations.mailbox.knows(push) { return false }
    log.append(.accepted, of: push, at: push.received)
    switch destinations.router.deliverNow(push) {
    case .delivered, .forwarded: break
    case .notConnected: log.append(.dropped, of: push, at: push.received, .notConnected)
    }
    return true
  }

  private func submit() {
    guard !collecting.pushes.isEmpty else { return }
    collecting.began = loop.iterationBegan
    let (batch, destinations) = (collecting, destinations)
    collecting = Batch()
    let number = storing.add(batch)
    storingCount += batch.pushes.count
    let this = NIOLoopBound(self, eventLoop: loop.eventLoop)
    let pushes = batch.pushes
    destinations.mailbox.append(pushes) { outcomes in
      let handedOver = NIODeadline.now()
      let stored = Dispatcher.record(pushes, outcomes, in: destinations)
      // Answers precede deliveries: they let senders continue, and deliveries may take a while.
      this.eventLoop.execute { this.value.report(number, outcomes, since: handedOver) }
      Dispatcher.deliver(stored, to: destinations)
    }
  }

  /// Adds the rows of stored pushes to the log, on the mailbox's thread. The answer follows, so the sender finds the
  /// rows.
  ///
  /// - Returns: the stored pushes, for ``deliver(_:to:)``.
  static func record(
    _ pushes: [StoredPush], _ outcomes: [AppendOutcome], _ detail: DeliveryDetail = .nothing,
    in destinations: Destinations
  ) -> Stored {
    var stored = Stored()
    var rows = LogBatch()
    let now = destinations.clock.milliseconds()
    for (push, outcome) in zip(pushes, outcomes) {
      switch outcome {
      case .queued(let seq, let earlier):
        stored.entries.append(MailboxEntry(seq: seq, push: push))
        if let earlier { stored.replaced.append((push.device, earlier)) }
      case .duplicate, .unavailable, .failed: break
      }
    }
    for (entry, isConnected) in zip(stored.entries, destinations.router.areConnected(stored.entries)) {
      if case .nothing = detail {
        rows.append(.accepted, of: entry.push, at: entry.push.received)
      } else {
        rows.append(entry.push.event(.accepted, at: entry.push.received, detail: detail))
      }
      rows.append(.stored, of: entry.push, at: now, isConnected ? nil : .deviceOffline)
    }
    destinations.log.append(&rows)
    return stored
  }

  /// Retracts replaced pushes, then hands the stored ones to live streams, on the mailbox's thread.
  static func deliver(_ stored: Stored, to destinations: Destinations) {
    for (device, id) in stored.replaced { destinations.router.notify(device, .retract(id)) }
    destinations.router.deliver(stored.entries)
  }

  /// Delivers pushes that are never stored to devices that are connected now, on any thread.
  static func deliverNow(_ pushes: [StoredPush], to destinations: Destinations) {
    for push in pushes where !destinations.mailbox.knows(push) {
      destinations.log.append([push.event(.accepted, at: push.received)])
      if destinations.router.deliverNow(push) == .notConnected {
        destinations.log.append([push.event(.dropped, at: push.received, detail: .fact(.notConnected))])
      }
    }
  }

  private func report(_ number: UInt64, _ outcomes: [AppendOutcome], since handedOver: NIODeadline) {
    let now = loop.noteLag(since: handedOver)
    let batch = storing.take(number)
    assert(storing.brokenInvariant() == nil, storing.brokenInvariant() ?? "")
    guard let batch else { return }
    storingCount -= batch.pushes.count
    stages.accept.record((now - batch.began).nanoseconds, count: batch.pushes.count)
    loop.scheduleIterationEnd()
    guard let answer else { return }
    assert(outcomes.count == batch.pushes.count, "each push has one outcome")
    for (index, outcome) in outcomes.enumerated() {
      if let exchange = batch.references[index].exchange { answer(exchange, batch.pushes[index], outcome) }
    }
  }
}

/// Batches in progress, by number. Each is taken exactly once.
struct NumberedBatches<Batch> {
  private var batches: [UInt64: Batch] = [:]
  private var last: UInt64 = 0
  /// The number of a batch that was taken a second time.
  private var again: UInt64?

  /// - Returns: the unique number of the batch.
  mutating func add(_ batch: Batch) -> UInt64 {
    last += 1
    batches[last] = batch
    return last
  }

  /// Removes and returns a batch. A second call with the same number is a bug of the caller and violates the
  /// invariant.
  mutating func take(_ number: UInt64) -> Batch? {
    let batch = batches.removeValue(forKey: number)
    if batch == nil { again = number }
    return batch
  }

  /// Returns a description of the violated invariant; nil if all invariants hold.
  func brokenInvariant() -> String? { again.map { "batch \($0) is answered twice" } }
}

extension StoredPush {
  /// Returns a row of the delivery log about this push.
  func event(_ event: DeliveryEvent, at time: Int64, detail: DeliveryDetail = .nothing) -> DeliveryLog.Row {
    DeliveryLog.Row(
      at: time, event: event, id: id, uniqueID: event == .accepted ? uniqueID : nil, device: device, app: app,
      detail: detail)
  }
}
