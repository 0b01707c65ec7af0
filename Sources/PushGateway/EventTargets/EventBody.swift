import GatewayProtocol
import PushCore
import PushPolicy

/// The bodies of requests to event targets: the type, the time and the data that Standard Webhooks recommends.
enum EventBody {
  /// Writes as many events as fit into a body (``Limits/maximumEventBatchSize``), at least one.
  ///
  /// - Parameters:
  ///   - target: the name of the target.
  ///   - skipped: the number of events that were removed before they were sent.
  /// - Returns: the body, and the number of its events.
  static func make(_ events: [LogRecord], target: String, skipped: Int64) -> (bytes: [UInt8], count: Int) {
    var bytes = head("delivery.events", at: events.first?.at ?? "", target)
    bytes += #","skipped":\#(skipped),"events":["#.utf8
    var count = 0
    for event in events {
      let text = controlJSON(event)
      guard count == 0 || bytes.count + text.count + ending.count < Limits.maximumEventBatchSize else { break }
      if count > 0 { bytes.append(UInt8(ascii: ",")) }
      bytes += text
      count += 1
    }
    return (bytes + ending, count)
  }

  /// Writes the body of a test, with an event as an example.
  ///
  /// - Parameter now: milliseconds since 1970.
  static func test(target: String, at now: Int64) -> [UInt8] {
    let event = LogRecord(
      number: 0, at: Timestamp.text(now), event: "acknowledged", id: "00000000-0000-0000-0000-000000000000",
      uniqueID: nil, status: "Delivered to Device", device: "example", topic: "com.example.app", .nothing)
    var bytes = head("delivery.test", at: event.at, target)
    bytes += #","skipped":0,"events":["#.utf8
    bytes += controlJSON(event)
    return bytes + ending
  }

  private static let ending = Array("]}}".utf8)

  private static func head(_ type: String, at time: String, _ target: String) -> [UInt8] {
    var bytes = Array(#"{"type":"\#(type)","timestamp":"\#(time)","data":{"target":"#.utf8)
    appendJSONString(target, to: &bytes)
    return bytes
  }
}
