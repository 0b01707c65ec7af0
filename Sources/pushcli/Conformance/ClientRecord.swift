import PushGateway
import PushPolicy

/// The observed events of a client under test. A value, without I/O.
///
/// The events of its streams come from the test gateway, the other events from its standard output.
struct ClientRecord: Sendable {
  /// The number of reports of each shown push, by its id.
  private(set) var shown: [String: Int] = [:]
  /// The ids of retracted pushes.
  private(set) var retracted: Set<String> = []
  /// The badge that was reported last.
  private(set) var badge: Int?
  /// The ids of the pushes that the gateway has recorded as acknowledged.
  private(set) var acknowledged: Set<String> = []
  /// The number of requests for a stream.
  private(set) var attempts = 0
  /// The number of accepted streams.
  private(set) var streams = 0
  /// The numbers of the open streams.
  private(set) var open: Set<Int> = []
  /// The name of the device.
  private(set) var device: String?
  /// The numbers that were acknowledged again on the same stream.
  private(set) var repeated: [UInt64] = []
  /// The end of the client; nil while it runs.
  var end: ChildCommand.End?
  /// The last acknowledged number of each stream.
  private var last: [Int: UInt64] = [:]

  /// Adds an event of a stream.
  mutating func note(_ event: DeviceTap.Event) {
    switch event {
    case .opened(let stream, let name):
      attempts += 1
      streams += 1
      open.insert(stream)
      device = name
    case .refused: attempts += 1
    case .acknowledgement(let stream, let seq):
      if let last = last[stream], seq <= last { repeated.append(seq) }
      last[stream] = max(last[stream] ?? 0, seq)
    case .closed(let stream): open.remove(stream)
    case .acknowledged(let id): acknowledged.insert(id.uppercased())
    }
  }

  /// Adds a line of output. A line that is not a JSON object is ignored, as are unknown members.
  mutating func note(_ line: [UInt8]) {
    struct Line {
      var shown, retracted: String?
      var badge: Int?
    }
    let found = try? JSONParser().parse(line.span) { root in
      Line(shown: root["shown"]?.string, retracted: root["retracted"]?.string, badge: root["badge"]?.integer)
    }
    guard let found else { return }
    if let id = found.shown { shown[id.uppercased(), default: 0] += 1 }
    if let id = found.retracted { retracted.insert(id.uppercased()) }
    if let badge = found.badge { self.badge = badge }
  }

  /// Returns the pushes that the client has not both shown and acknowledged.
  func missing(_ ids: [String]) -> [String] { ids.filter { shown[$0] == nil || !acknowledged.contains($0) } }
}
