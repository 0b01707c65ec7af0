import HTTP2Transport
import NIOCore
import PushCore
import PushPolicy
import PushStorage

/// Takes the pushes that one loop accepts: collects those of a turn, has the mailbox store them as one batch, then
/// hands them to live streams and says which may be answered.
///
/// One for each loop; not `Sendable`.
final class Dispatcher {
  private struct Batch {
    var pushes: [StoredPush] = []
    var references: [StreamReference] = []
    /// When the turn began in which they came.
    var began = NIODeadline.distantPast
  }

  /// Where accepted pushes go; of use on any thread.
  struct Destinations: Sendable {
    let mailbox: any Mailbox
    let router: any PushRouter
    let log: DeliveryLog
    let clock: WallClock
  }

  /// What the mailbox stored of a batch.
  struct Stored {
    var entries: [MailboxEntry] = []
    /// The pushes whose places they took.
    var replaced: [(device: DeviceID, id: APNSID)] = []
  }

  private let loop: LoopContext
  private let destinations: Destinations
  private let log: LoopLogBuffer
  private let stages: LatencyHistograms
  private var collecting = Batch()
  /// Batches that the mailbox is storing.
  private var storing = NumberedBatches<Batch>()
  /// Pushes in them.
  private var storingCount = 0
  /// Answers a provider, when the outcome is known.
  var answer: ((Exchange, StoredPush, AppendOutcome) -> Void)?

  /// - Parameters:
  ///   - log: takes the rows of pushes that are never stored.
  ///   - stages: is told how long it takes until pushes are answered.
  init(loop: LoopContext, destinations: Destinations, log: LoopLogBuffer, stages: LatencyHistograms) {
    self.stages = stages
    self.loop = loop
    self.destinations = destinations
    self.log = log
    loop.onTurnEnd { [unowned self] in submit() }
    loop.holdsTurns = { [unowned self] in
      storingCount >= (loop.isShared ? Limits.turnBacklog : Limits.turnBacklogAlone)
    }
  }

  /// Stores a push; the answer comes when that is done.
  func store(_ push: StoredPush, for exchange: Exchange) {
    assert(loop.eventLoop.inEventLoop)
    collecting.pushes.append(push)
    collecting.references.append(exchange.reference)
    loop.scheduleTurnEnd()
  }

  /// Delivers a push that is never stored, if its device is connected now (`apns-expiration: 0`).
  ///
  /// - Returns: false for a retry of a push that was stored and has expired since: the retry is not delivered.
  func deliverNow(_ push: StoredPush) -> Bool {
    if destinations.mailbox.knows(push) { return false }
    log.append(.accepted, of: push, at: push.received)
    switch destinations.router.deliverNow(push) {
    case .delivered, .beyond: break
    case .nowhere: log.append(.dropped, of: push, at: push.received, .notConnected)
    }
    return true
  }

  private func submit() {
    guard !collecting.pushes.isEmpty else { return }
    collecting.began = loop.turnBegan
    let (batch, destinations) = (collecting, destinations)
    collecting = Batch()
    let number = storing.add(batch)
    storingCount += batch.pushes.count
    let this = NIOLoopBound(self, eventLoop: loop.eventLoop)
    let pushes = batch.pushes
    destinations.mailbox.append(pushes) { outcomes in
      let handedOver = NIODeadline.now()
      let stored = Dispatcher.record(pushes, outcomes, in: destinations)
      // Answers before deliveries: they let senders go on, and deliveries may take a while.
      this.eventLoop.execute { this.value.report(number, outcomes, since: handedOver) }
      Dispatcher.deliver(stored, to: destinations)
    }
  }

  /// Adds the rows of stored pushes to the log, on the mailbox's thread. The answer comes afterwards, so its sender finds them.
  ///
  /// - Returns: the stored pushes, for ``deliver(_:to:)``.
  static func record(
    _ pushes: [StoredPush], _ outcomes: [AppendOutcome], in destinations: Destinations
  ) -> Stored {
    var stored = Stored()
    var rows = LogBatch()
    let now = destinations.clock.milliseconds()
    for (push, outcome) in zip(pushes, outcomes) {
      switch outcome {
      case .queued(let seq, let earlier):
        stored.entries.append(MailboxEntry(seq: seq, push: push))
        if let earlier { stored.replaced.append((push.device, earlier)) }
      case .deferred:
        // Its device reads it with what waits.
        rows.append(.accepted, of: push, at: push.received)
        rows.append(.stored, of: push, at: now)
      case .duplicate, .unavailable, .failed: break
      }
    }
    for (entry, isConnected) in zip(stored.entries, destinations.router.areConnected(stored.entries)) {
      rows.append(.accepted, of: entry.push, at: entry.push.received)
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
      if destinations.router.deliverNow(push) == .nowhere {
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
    loop.scheduleTurnEnd()
    guard let answer else { return }
    assert(outcomes.count == batch.pushes.count, "each push has one outcome")
    for (index, outcome) in outcomes.enumerated() {
      if let exchange = batch.references[index].exchange { answer(exchange, batch.pushes[index], outcome) }
    }
  }
}

/// Batches under way by their numbers, each of which comes back once.
struct NumberedBatches<Batch> {
  private var batches: [UInt64: Batch] = [:]
  private var last: UInt64 = 0
  /// One that came back again, of which there is none.
  private var again: UInt64?

  /// - Returns: the batch's number, which no other gets.
  mutating func add(_ batch: Batch) -> UInt64 {
    last += 1
    batches[last] = batch
    return last
  }

  /// The batch that comes back; a second time is a mistake of whoever was to bring it back once.
  mutating func take(_ number: UInt64) -> Batch? {
    let batch = batches.removeValue(forKey: number)
    if batch == nil { again = number }
    return batch
  }

  /// What does not fit; nil when all does.
  func brokenInvariant() -> String? { again.map { "batch \($0) is answered twice" } }
}

extension StoredPush {
  /// A row of the delivery log about this push.
  func event(_ event: DeliveryEvent, at time: Int64, detail: DeliveryDetail = .nothing) -> DeliveryLog.Row {
    DeliveryLog.Row(
      at: time, event: event, id: id, uniqueID: event == .accepted ? uniqueID : nil, device: device, app: app,
      detail: detail)
  }
}
