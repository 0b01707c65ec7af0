import HTTP2Transport
import PushCore
import PushStorage

extension Metric {
  /// Who is connected, and what it takes.
  static let connections: [Metric] = [
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
      "pushgateway_clients", .gauge, by: "kind", PeerKind.allCases.map { "\($0)" },
      "Connections that are open, by what the peer has shown itself to be; a stranger has shown nothing.",
      totals: { Meters.sum($0.loops.map(\.peers)) }),
    Metric(
      "pushgateway_streams", .gauge,
      "Streams of HTTP/2 that are open: requests that are at work, and those of devices.",
      total: { $0.sum { UInt64(clamping: $0.streams.value) } }),
    Metric(
      "pushgateway_device_streams", .gauge, "Streams on which devices wait for pushes.",
      total: { meters in
        meters.services.meter.loops.reduce(0) { $0 &+ UInt64(clamping: $1.deviceStreams.value) }
      }),
    Metric(
      "pushgateway_tls_handshakes", .counter, "Handshakes of TLS that came to their end.",
      total: { $0.sum { $0.handshakes.completed.total } }),
    Metric(
      "pushgateway_tls_resumptions", .counter, "Handshakes of TLS that were short because they resumed a session.",
      total: { $0.sum { $0.handshakes.resumed.total } }),
    Metric(
      "pushgateway_tls_handshakes_failed", .counter, "Connections that were over before their handshake of TLS was.",
      total: { $0.sum { $0.handshakes.failed.total } }),
    Metric(
      "pushgateway_received_bytes", .counter, unit: "bytes",
      "Bytes that came from peers, as the sockets have them: with TLS, without TCP.",
      total: { $0.sum { $0.received.total } }),
    Metric(
      "pushgateway_sent_bytes", .counter, unit: "bytes",
      "Bytes that were sent to peers, as the sockets have them: with TLS, without TCP.",
      total: { $0.sum { $0.sent.total } }),
  ]

  /// What was refused, dropped or put off because it had reached its bound.
  static let limits: [Metric] = [
    Metric(
      "pushgateway_limits_reached", .counter, by: "limit", ReachedLimit.allCases.map(\.label),
      "How often something was refused, dropped or put off because it had reached its bound.",
      totals: { meters in
        let parts = [meters.services.meter.limits, meters.services.log.limits, meters.services.budgets.limits]
        return Meters.sum(
          (parts + meters.loops.map(\.limits) + (meters.mailbox.map { [$0.limits] } ?? [])).map(\.totals))
      }),
    Metric(
      "pushgateway_transport_limits_reached", .counter, by: "limit", TransportLimit.allCases.map(\.rawValue),
      "How often a peer went beyond a bound of its connection or of HTTP/2.",
      totals: { meters in
        let counts = meters.transportLimits.counts
        return TransportLimit.allCases.map { UInt64(clamping: counts[$0] ?? 0) }
      }),
    Metric(
      "pushgateway_faults_injected", .counter, "How often a fault struck that was set.",
      total: { $0.faults.strikes.total }),
  ]

  static let loops: [Metric] = [
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
