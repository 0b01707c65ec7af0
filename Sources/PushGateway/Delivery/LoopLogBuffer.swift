import HTTP2Transport
import PushCore
import PushPolicy
import PushStorage

/// A buffer for the delivery-log rows of one event-loop iteration, which are appended at its end: one lock for all of
/// them.
///
/// One for each event loop; not `Sendable`.
final class LoopLogBuffer {
  private let loop: LoopContext
  private var batch = LogBatch()

  init(loop: LoopContext, log: DeliveryLog) {
    self.loop = loop
    loop.onIterationEnd { [unowned self] in log.append(&batch) }
  }

  func append(_ row: borrowing DeliveryLog.Row) {
    batch.append(row)
    loop.scheduleIterationEnd()
  }

  /// Appends a row with a searchable text; nil for a row without text.
  func append(_ row: borrowing DeliveryLog.Row, keeping text: AlertPresentation?, isForSenders: Bool) {
    batch.append(row, keeping: text, isForSenders: isForSenders)
    loop.scheduleIterationEnd()
  }

  /// Appends a row about a push whose detail is a fact or nothing.
  func append(_ event: DeliveryEvent, of push: StoredPush, at time: Int64, _ fact: DeliveryDetail.Fact? = nil) {
    batch.append(event, of: push, at: time, fact)
    loop.scheduleIterationEnd()
  }

  /// Appends a row about a push that a device was sent, whose detail is a fact or nothing.
  func append(
    _ event: DeliveryEvent, of push: SentPush, on device: DeviceID, at time: Int64, _ fact: DeliveryDetail.Fact?
  ) {
    batch.append(event, id: push.id, app: push.app, device: device, at: time, fact)
    loop.scheduleIterationEnd()
  }
}
