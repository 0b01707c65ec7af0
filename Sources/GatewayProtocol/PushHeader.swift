package import PushPolicy

/// The members of a push line that identify the push. ``DevicePush`` also has the others.
package struct PushHeader: Equatable, Sendable {
  /// Its number in this device's mailbox; 0 for a push that was never stored.
  package var seq: UInt64
  package var id: String
  package var topic: String
  /// The time at which the gateway received it, as in the line; empty if the line has none.
  package var received: String

  /// Reads a `push` object; nil for any other line.
  package init?(_ root: JSONElement) {
    guard root["type"]?.string == "push", let seq = root["seq"]?.integer, let id = root["id"]?.string,
      let topic = root["topic"]?.string
    else { return nil }
    (self.seq, self.id, self.topic) = (UInt64(clamping: seq), id, topic)
    received = root["received"]?.string ?? ""
  }

  /// Reads a `push` line; nil for any other line.
  package init?(line: ArraySlice<UInt8>, parser: JSONParser) {
    guard line.first == UInt8(ascii: "{") else { return nil }
    let read = try? parser.parse(line.span) { PushHeader($0) }
    guard let header = read ?? nil else { return nil }
    self = header
  }
}
