package import GatewayProtocol
package import PushPolicy
package import Queues

/// What happens on a device's stream.
package enum DeviceEvent: Sendable {
  /// The next attempt to connect begins; the first one is not told.
  case connecting
  /// The gateway calls itself so, and speaks this version of the protocol.
  case connected(gateway: String, version: Int)
  /// The connection was lost, or could not be made; the next attempt comes after the pause.
  case disconnected(reason: String, retryIn: Duration)
  case apps([DeviceApp])
  case preferences(Preferences)
  case pushes(PushBatch)
  case retract(id: String)
  /// The push was answered on another screen.
  case answeredElsewhere(id: String, GivenAnswer)
  /// The sender of this push of an app has taken it back.
  case takenBack(id: String, topic: String)
  /// The gateway has an answer to the push: the one that counts, or nil where there was nothing to answer.
  case answered(id: String, action: String?)
  /// The gateway numbers pushes so, and these are the others that have them, too. The session's own.
  case served(epoch: NumberingEpoch?, gateways: [GatewayAddress])
  /// Pushes are numbered anew from here on: what came before is stored with its own numbers, then
  /// ``DeviceSession/begin(_:)`` is called. What is here already may come again with another number.
  case renumbered(NumberingEpoch?)
  /// Nothing waits at the gateway. The session's own.
  case caughtUp
  /// The gateway ends the stream, for this reason; these take the device. The session's own.
  case ended(reason: String, gateways: [GatewayAddress])
  /// The gateway has dropped pushes, of which the last one has the number `last`.
  case gap(dropped: Int, last: UInt64)
  /// A push can't be read here; 0 when its number can't be read either.
  case unreadable(seq: UInt64)
  /// The gateway can't read a push of this topic that it has stored, and does not send it.
  case undeliverable(topic: String)
  /// The person typed a line, where lines are asked for.
  case typed(String)
}

extension DeviceEvent {
  /// What a person is told of a push that can't be shown, in a line; nil for anything else.
  package var wordsOfLoss: String? {
    switch self {
    case .unreadable(let seq):
      "a push can't be read and is not shown\(seq > 0 ? " (number \(seq))" : ""): the delivery log has it"
    case .undeliverable(let topic):
      "the gateway can't read a stored push for \(topic) and does not send it: the delivery log has it"
    default: nil
    }
  }
}

/// What happened on a device's stream and was not looked at yet: the stream's reader waits while too much is in here.
package typealias DeviceEvents = BoundedQueue<DeviceEvent>

extension DeviceEvents {
  /// Bytes of pushes from which on the sender waits.
  package static var maximumSize: Int { 4 << 20 }

  package convenience init() { self.init(capacity: Self.maximumSize) { $0.size } }
}

extension DeviceEvent {
  /// What it counts in a queue, in bytes.
  fileprivate var size: Int {
    if case .pushes(let batch) = self { return batch.bytes.count }
    return 0
  }
}
