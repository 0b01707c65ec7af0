import NIOCore
import PushPolicy

/// Takes the pushes that one loop accepts: collects those of a turn, has the mailbox store them as one batch, then
/// hands them to live streams and says which may be answered.
///
/// One for each loop; not `Sendable`.
final class Dispatcher {
  private struct Batch {
    var pushes: [StoredPush] = []
    var references: [StreamReference] = []
  }

  private let loop: LoopContext
  private let services: Services
  private let log: TurnLog
  private var collecting = Batch()
  /// Streams whose pushes the mailbox is storing, batch by batch in the order of submission.
  private var storing: [UInt64: Batch] = [:]
  private var lastBatch: UInt64 = 0
  /// Answers a provider, when the outcome is known.
  var answer: ((Exchange, StoredPush, AppendOutcome) -> Void)?

  init(loop: LoopContext, services: Services, log: TurnLog) {
    self.loop = loop
    self.services = services
    self.log = log
    loop.onTurnEnd { [unowned self] in submit() }
  }

  /// Stores a push; the answer comes when that is done.
  func store(_ push: StoredPush, for exchange: Exchange) {
    collecting.pushes.append(push)
    collecting.references.append(exchange.reference)
    loop.scheduleTurnEnd()
  }

  /// Delivers a push that is never stored, if its device is connected now (`apns-expiration: 0`).
  func deliverNow(_ push: StoredPush) {
    log.append(push.event(.accepted, at: push.received))
    switch services.subscriptions.deliverNow(push) {
    case .toStreams, .beyond: break
    case .nowhere: log.append(push.event(.dropped, at: push.received, detail: .fact(.notConnected)))
    }
  }

  private func submit() {
    guard !collecting.pushes.isEmpty else { return }
    lastBatch += 1
    let (number, batch, services) = (lastBatch, collecting, services)
    collecting = Batch()
    storing[number] = batch
    let this = NIOLoopBound(self, eventLoop: loop.eventLoop)
    let pushes = batch.pushes
    services.mailbox.append(pushes) { outcomes in
      // Answers first: they let senders go on, and deliveries may take a while.
      this.eventLoop.execute { this.value.report(number, outcomes) }
      Dispatcher.distribute(pushes, outcomes, services)
    }
  }

  /// On the mailbox's thread: what was stored goes to live streams and into the log.
  private static func distribute(_ pushes: [StoredPush], _ outcomes: [AppendOutcome], _ services: Services) {
    var entries: [MailboxEntry] = []
    var rows = LogBatch()
    let now = services.clock.milliseconds()
    for (push, outcome) in zip(pushes, outcomes) {
      guard case .queued(let seq, let replaced) = outcome else { continue }
      entries.append(MailboxEntry(seq: seq, push: push))
      if let replaced { services.subscriptions.tell(push.device, .retract(replaced)) }
    }
    for (entry, isConnected) in zip(entries, services.subscriptions.areConnected(entries)) {
      rows.append(entry.push.event(.accepted, at: entry.push.received))
      rows.append(entry.push.event(.stored, at: now, detail: isConnected ? .nothing : .fact(.deviceOffline)))
    }
    services.log.append(&rows)
    services.subscriptions.deliver(entries)
  }

  private func report(_ number: UInt64, _ outcomes: [AppendOutcome]) {
    guard let batch = storing.removeValue(forKey: number), let answer else { return }
    for (index, outcome) in outcomes.enumerated() {
      if let exchange = batch.references[index].exchange { answer(exchange, batch.pushes[index], outcome) }
    }
  }
}

extension StoredPush {
  /// A row of the delivery log about this push.
  func event(_ event: DeliveryEvent, at time: Int64, detail: DeliveryDetail = .nothing) -> DeliveryLog.Row {
    DeliveryLog.Row(
      at: time, event: event, id: id, uniqueID: event == .accepted ? uniqueID : nil, device: device, app: app,
      detail: detail)
  }
}
