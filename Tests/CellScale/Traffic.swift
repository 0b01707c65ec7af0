import PushCluster

/// The messages between gateways and brokers, counted by kind.
struct Traffic: Sendable {
  enum Kind: Int, CaseIterable, Sendable {
    case subscribe, push, live, delete, purge, page, gap, info, log, snapshot, peers, other

    /// - Parameter isMany: True if the request has several messages as its answer.
    init(_ subject: String, isMany: Bool = false) {
      if isMany {
        // A gateway continues to read the cluster's log after each addition, also during other measurements.
        self = subject.hasSuffix("." + ClusterLog.stream) ? .log : .page
      } else {
        self = Kind.beginnings.first { subject.hasPrefix($0.text) }?.kind ?? .other
      }
    }

    private static let beginnings: [(text: String, kind: Kind)] = [
      ("mb.", .push), ("live.", .live), ("$JS.API.STREAM.MSG.DELETE", .delete), ("$JS.API.STREAM.PURGE", .purge),
      ("$JS.API.DIRECT.GET", .gap), ("$JS.API.STREAM.INFO", .info), ("cell.log", .log), ("cell.live", .log),
      ("cell.snapshot", .snapshot), ("cell.", .peers), ("_INBOX.", .peers),
    ]
  }

  struct Count: Sendable {
    /// Messages sent by the gateway, and messages received by it.
    var sent = 0
    var received = 0
    var bytes = 0

    static func + (one: Count, other: Count) -> Count {
      Count(sent: one.sent + other.sent, received: one.received + other.received, bytes: one.bytes + other.bytes)
    }

    static func - (one: Count, other: Count) -> Count {
      Count(sent: one.sent - other.sent, received: one.received - other.received, bytes: one.bytes - other.bytes)
    }
  }

  private var counts = [Count](repeating: Count(), count: Kind.allCases.count)

  subscript(kind: Kind) -> Count {
    get { counts[kind.rawValue] }
    set { counts[kind.rawValue] = newValue }
  }

  var total: Count { counts.reduce(Count(), +) }

  static func + (one: Traffic, other: Traffic) -> Traffic { one.joined(other, +) }
  static func - (one: Traffic, other: Traffic) -> Traffic { one.joined(other, -) }

  private func joined(_ other: Traffic, _ join: (Count, Count) -> Count) -> Traffic {
    var joined = Traffic()
    for kind in Kind.allCases { joined[kind] = join(self[kind], other[kind]) }
    return joined
  }
}
