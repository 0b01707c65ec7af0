package import GatewayProtocol
package import PushPolicy
package import Queues

package enum DeviceEvent: Sendable {
  /// The next attempt to connect begins; not sent for the first one.
  case connecting
  /// The gateway sent its name and the version of the protocol that it supports.
  case connected(gateway: String, version: Int)
  /// The connection was lost or could not be established; the next attempt follows after the pause.
  case disconnected(reason: String, retryIn: Duration)
  case apps([DeviceApp])
  case preferences(Preferences)
  case pushes(PushBatch)
  case retract(id: String)
  /// The push was answered on another screen.
  case answeredElsewhere(id: String, GivenAnswer)
  /// The app's sender has retracted this push.
  case takenBack(id: String, topic: String)
  /// The gateway has processed an answer to the push. `action` is the answer that is in effect, or nil if there was
  /// nothing to answer.
  case answered(id: String, action: String?)
  /// The gateway sent its numbering, and the other gateways with the device's pushes. Used only by the session.
  case served(epoch: NumberingEpoch?, gateways: [GatewayAddress])
  /// Later pushes belong to another numbering.
  ///
  /// The receiver stores all earlier pushes with their own numbers, then calls ``DeviceSession/begin(_:)``. Pushes that
  /// the device already has may arrive again with other numbers.
  case renumbered(NumberingEpoch?)
  /// No push is pending at the gateway. Used only by the session.
  case caughtUp
  /// The gateway ends the stream for this reason; the device can use these other gateways. Used only by the session.
  case ended(reason: String, gateways: [GatewayAddress])
  /// The gateway has dropped pushes, of which the last one has the number `last`.
  case gap(dropped: Int, last: UInt64)
  /// The device can't read a push; `seq` is 0 when its number can't be read either.
  case unreadable(seq: UInt64)
  /// The gateway can't read a stored push of this topic, and does not send it.
  case undeliverable(topic: String)
  /// The user typed a line at a prompt.
  case typed(String)

  /// A line for the user about a push that can't be shown; nil for other events.
  package var wordsOfLoss: String? {
    switch self {
    case .unreadable(let seq):
      "a push can't be read and is not shown\(seq > 0 ? " (number \(seq))" : ""): the delivery log has it"
    case .undeliverable(let topic):
      "the gateway can't read a stored push for \(topic) and does not send it: the delivery log has it"
    default: nil
    }
  }

  /// The weight of the event in a queue, in bytes.
  fileprivate var size: Int {
    if case .pushes(let batch) = self { return batch.bytes.count }
    return 0
  }
}

/// The queue of a device's unprocessed events; the reader of the stream suspends while the queue is full.
package typealias DeviceEvents = BoundedQueue<DeviceEvent>

extension DeviceEvents {
  /// The size of pushes in bytes from which on the sender suspends.
  package static var maximumSize: Int { 4 << 20 }

  package convenience init() { self.init(capacity: Self.maximumSize) { $0.size } }
}
