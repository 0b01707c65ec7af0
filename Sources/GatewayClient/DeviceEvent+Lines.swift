package import GatewayProtocol
package import PushPolicy

extension DeviceEvent {
  /// Returns the events for complete lines of a gateway. Consecutive pushes become one event; pushes up to
  /// `position` are left out.
  package static func events(in bytes: [UInt8], after position: NumberedPosition, parser: JSONParser) -> [DeviceEvent] {
    var events: [DeviceEvent] = []
    var batch = PushBatch()
    batch.bytes.reserveCapacity(bytes.count)
    var last = position.seq
    var start = 0
    while start < bytes.count, let end = bytes[start...].firstIndex(of: UInt8(ascii: "\n")) {
      let range = start..<end
      start = end + 1
      guard let line = GatewayLine(bytes.span.extracting(range), parser: parser) else { continue }
      if case .push(let seq) = line {
        guard seq == 0 || seq > last else { continue }
        last = max(last, seq)
        batch.append(bytes[range], seq: seq)
        continue
      }
      if !batch.lines.isEmpty { events.append(.pushes(batch)) }
      batch = PushBatch()
      if case .unreadablePush(let seq) = line {
        guard seq == 0 || seq > last else { continue }
        last = max(last, seq)
      }
      // Numbers of another numbering can't be compared with `position`.
      if case .welcome(let welcome) = line, welcome.epoch != position.epoch { last = 0 }
      events += DeviceEvent.events(of: line)
    }
    if !batch.lines.isEmpty { events.append(.pushes(batch)) }
    return events
  }

  /// Returns the events for a line that is not a push.
  private static func events(of line: GatewayLine) -> [DeviceEvent] {
    switch line {
    case .welcome(let welcome):
      [.connected(gateway: welcome.gateway, version: welcome.version), .apps(welcome.apps)]
        + (welcome.preferences.map { [.preferences($0)] } ?? [])
        + [.served(epoch: welcome.epoch, gateways: welcome.gateways)]
    case .unreadablePush(let seq): [.unreadable(seq: seq)]
    case .gap(_, let last, let dropped): [.gap(dropped: dropped, last: last)]
    case .retract(let id): [.retract(id: id)]
    case .answeredElsewhere(let id, let answer): [.answeredElsewhere(id: id, answer)]
    case .takenBack(let id, let topic): [.takenBack(id: id, topic: topic)]
    case .answered(let id, let action): [.answered(id: id, action: action)]
    case .undeliverable(_, let topic): [.undeliverable(topic: topic)]
    case .preferences(let preferences): [.preferences(preferences)]
    case .bye(let reason, let gateways): [.ended(reason: reason, gateways: gateways)]
    case .caughtUp: [.caughtUp]
    case .push: []
    }
  }
}
