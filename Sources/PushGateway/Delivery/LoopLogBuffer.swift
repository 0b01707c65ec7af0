import HTTP2Transport
import PushCore
import PushPolicy
import PushStorage

/// Rows for the delivery log that one turn of a loop brings, handed over at its end: one lock for all of them.
///
/// One for each loop; not `Sendable`.
final class LoopLogBuffer {
  private let loop: LoopContext
  private var batch = LogBatch()

  init(loop: LoopContext, log: DeliveryLog) {
    self.loop = loop
    loop.onTurnEnd { [unowned self] in log.append(&batch) }
  }

  func append(_ row: borrowing DeliveryLog.Row) {
    batch.append(row)
    loop.scheduleTurnEnd()
  }

  /// Takes a row with a text by which it is found; nil: it has none.
  func append(_ row: borrowing DeliveryLog.Row, keeping text: AlertPresentation?, isForSenders: Bool) {
    batch.append(row, keeping: text, isForSenders: isForSenders)
    loop.scheduleTurnEnd()
  }

  /// Takes a row about a push whose detail is a fact or nothing.
  func append(_ event: DeliveryEvent, of push: StoredPush, at time: Int64, _ fact: DeliveryDetail.Fact? = nil) {
    batch.append(event, of: push, at: time, fact)
    loop.scheduleTurnEnd()
  }

  /// Takes a row about a push that a device was sent, whose detail is a fact or nothing.
  func append(
    _ event: DeliveryEvent, of push: SentPush, on device: DeviceID, at time: Int64, _ fact: DeliveryDetail.Fact?
  ) {
    batch.append(event, id: push.id, app: push.app, device: device, at: time, fact)
    loop.scheduleTurnEnd()
  }
}
