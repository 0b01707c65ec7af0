import HTTP2Transport
import PushStorage

/// Rows for the delivery log that one turn of a loop brings, handed over at its end: one lock for all of them.
///
/// One for each loop; not `Sendable`.
final class TurnLog {
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
}
