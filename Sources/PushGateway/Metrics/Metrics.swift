import GatewayProtocol
import HTTP2Transport
import PushCore
import PushStorage

/// What is measured of a gateway: a row of the list, which says what it is and where it is read.
struct Metric: Sendable {
  enum Kind: String, Sendable { case counter, gauge, histogram }

  /// Without the ending that text gives to a counter.
  let name: String
  let kind: Kind
  /// The unit, which then ends the name; empty for a number.
  let unit: String
  /// What tells its samples apart, and every value of that: never a topic, a person, a device or anything else that
  /// grows with use. Nil when there is one sample, or, of `values`, where they are the numbers of loops.
  let label: (name: String, values: [String]?)?
  /// One sentence.
  let help: String
  let read: @Sendable (Meters) -> [MetricSample]

  init(
    _ name: String, _ kind: Kind, unit: String = "", by label: (name: String, values: [String]?)? = nil, _ help: String,
    read: @escaping @Sendable (Meters) -> [MetricSample]
  ) {
    (self.name, self.kind, self.unit, self.label, self.help) = (name, kind, unit, label, help)
    self.read = read
  }

  /// A row whose samples are numbers, one for each value of its label, in order.
  init(
    _ name: String, _ kind: Kind, by label: String, _ values: [String], _ help: String,
    totals: @escaping @Sendable (Meters) -> [UInt64]
  ) {
    self.init(name, kind, by: (label, values), help) { meters in
      zip(values, totals(meters)).map { MetricSample(label: $0, value: .number($1)) }
    }
  }

  /// A row with one number.
  init(_ name: String, _ kind: Kind, _ help: String, total: @escaping @Sendable (Meters) -> UInt64) {
    self.init(name, kind, help) { [MetricSample(label: nil, value: .number(total($0)))] }
  }
}

/// One value of a metric.
struct MetricSample: Sendable, Equatable {
  enum Value: Sendable, Equatable {
    case number(UInt64)
    case histogram(MetricHistogram.Snapshot)
  }

  /// The value of the metric's label.
  var label: String?
  var value: Value
}

/// Where everything is counted; reading it stops nobody.
struct Meters: Sendable {
  let gateway: GatewayMeter
  let log: DeliveryLog
  let faults: FaultTable
  /// Nil when the backend says nothing of its commits.
  let mailbox: MailboxMeter?

  fileprivate var loops: [LoopMeter] { gateway.loops.map(\.loop) }

  /// The sums of several parts' counters, place by place.
  fileprivate static func sum(_ parts: [[UInt64]]) -> [UInt64] {
    guard var sums = parts.first else { return [] }
    for part in parts.dropFirst() { for index in sums.indices { sums[index] &+= part[index] } }
    return sums
  }

  fileprivate func histograms(of loops: KeyPath<LoopMeter, MetricHistogram>) -> [MetricSample] {
    self.loops.enumerated().map { number, loop in
      MetricSample(label: String(number), value: .histogram(loop[keyPath: loops].snapshot))
    }
  }
}

extension Metric {
  /// Every counter, gauge and histogram there is.
  static let all: [Metric] = [
    Metric(
      "pushgateway_requests_accepted", .counter, by: "as", RequestMeter.Acceptance.allCases.map { "\($0)" },
      "Pushes and broadcasts that were answered with 200.",
      totals: { Meters.sum($0.gateway.loops.map(\.acceptances)) }),
    Metric(
      "pushgateway_requests_refused", .counter, by: "reason", Reason.allCases.map(\.rawValue),
      "Requests of providers that were refused.",
      totals: { Meters.sum($0.gateway.loops.map(\.refusals)) }),
    Metric(
      "pushgateway_delivery_events", .counter, by: "event", DeliveryLog.countedEvents.map(\.rawValue),
      "What happened to pushes, as the delivery log has it.",
      totals: { $0.log.events.totals }),
    Metric(
      "pushgateway_limits_reached", .counter, by: "limit", ReachedLimit.allCases.map(\.label),
      "How often something was refused, dropped or put off because it had reached its bound.",
      totals: { meters in
        Meters.sum(
          [meters.gateway.limits.totals, meters.log.limits.totals] + meters.loops.map(\.limits.totals)
            + (meters.mailbox.map { [$0.limits.totals] } ?? []))
      }),
    Metric(
      "pushgateway_connections_opened", .counter, by: "peer", PeerPlace.allCases.map(\.label),
      "Connections that were opened, by where the peer is.",
      totals: { Meters.sum($0.loops.map(\.connections.opened)) }),
    Metric(
      "pushgateway_connections", .gauge, by: "peer", PeerPlace.allCases.map(\.label),
      "Connections that are open, by where the peer is.",
      totals: { meters in
        let counts = meters.loops.map(\.connections)
        return zip(Meters.sum(counts.map(\.opened)), Meters.sum(counts.map(\.closed))).map { $0 &- $1 }
      }),
    Metric(
      "pushgateway_tls_handshakes", .counter, "Handshakes of TLS that came to their end.",
      total: { $0.loops.reduce(0) { $0 + $1.handshakes.total } }),
    Metric(
      "pushgateway_faults_injected", .counter, "How often a fault struck that was set.",
      total: { $0.faults.strikes.total }),
    Metric(
      "pushgateway_commits_failed", .counter, "Commits of the mailbox of which nothing is stored.",
      total: { $0.mailbox?.failures.total ?? 0 }),
    Metric(
      "pushgateway_commit_seconds", .histogram, unit: "seconds",
      "How long commits of the mailbox took until they were on stable storage.",
      read: { $0.mailbox.map { [MetricSample(label: nil, value: .histogram($0.commitTimes.snapshot))] } ?? [] }),
    Metric(
      "pushgateway_commit_pushes", .histogram, unit: "pushes", "How many pushes a commit of the mailbox stored.",
      read: { $0.mailbox.map { [MetricSample(label: nil, value: .histogram($0.commitSizes.snapshot))] } ?? [] }),
    Metric(
      "pushgateway_loop_lag_seconds", .histogram, unit: "seconds", by: ("loop", nil),
      "How long what was to be done at some time, or came from another thread, waited for its event loop.",
      read: { $0.histograms(of: \.lag) }),
    Metric(
      "pushgateway_loop_turn_seconds", .histogram, unit: "seconds", by: ("loop", nil),
      "How long turns of an event loop took, from the first thing to send, store or log until that was handed on.",
      read: { $0.histograms(of: \.turns) }),
  ]
}

extension PeerPlace {
  fileprivate var label: String {
    switch self {
    case .adminSocket: "admin_socket"
    case .loopback: "loopback"
    case .remote: "remote"
    }
  }
}
