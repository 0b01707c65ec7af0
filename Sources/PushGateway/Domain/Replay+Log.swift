package import GatewayProtocol
import PushCore
package import PushPolicy

extension Replay.Delivery {
  /// Combines the rows of each push in a delivery log. If a push was sent several times, its first transmission counts. Summaries are not
  /// counted, since they consist of pushes that were sent before.
  package static func all(in records: [LogRecord]) -> [Replay.Delivery] {
    var received: [String: Int64] = [:]
    var places: [String: Int] = [:]
    var deliveries: [Replay.Delivery] = []
    for record in records {
      guard let milliseconds = Timestamp.read(record.at.utf8) else { continue }
      let at = milliseconds / 1000
      switch record.event {
      case "accepted": received[record.id] = at
      case "transmitted":
        guard places[record.id] == nil, let topic = record.topic, topic != "summary",
          case .asked(let asked) = record.facts
        else { continue }
        places[record.id] = deliveries.count
        deliveries.append(
          Replay.Delivery(id: record.id, topic: topic, at: at, received: received[record.id] ?? at, asked: asked))
      case "suppressed":
        guard let place = places[record.id], deliveries[place].removed.isEmpty,
          case .removed(let removals) = record.facts
        else { continue }
        deliveries[place].removed = removals
      default: break
      }
    }
    return deliveries
  }
}
