import HTTP2Transport
import PushCore
import PushStorage

extension Metric {
  static let connections: [Metric] = [
    Metric(
      "pushgateway_connections_opened", .counter, by: "peer", PeerOrigin.allCases.map(\.label),
      "Connections opened, by location of the peer.",
      totals: { Meters.sum($0.loops.map(\.connections.opened)) }),
    Metric(
      "pushgateway_connections", .gauge, by: "peer", PeerOrigin.allCases.map(\.label),
      "Open connections, by location of the peer.",
      totals: { meters in
        let counts = meters.loops.map(\.connections)
        return zip(Meters.sum(counts.map(\.opened)), Meters.sum(counts.map(\.closed))).map { $0 &- $1 }
      }),
    Metric(
      "pushgateway_clients", .gauge, by: "kind", PeerKind.allCases.map { "\($0)" },
      "Open connections, by the credentials of the peer.",
      totals: { Meters.sum($0.loops.map(\.peers)) }),
    Metric(
      "pushgateway_streams", .gauge,
      "Open HTTP/2 streams: requests in progress, and the streams of devices.",
      total: { $0.sum { UInt64(clamping: $0.streams.value) } }),
    Metric(
      "pushgateway_device_streams", .gauge, "Open streams on which devices receive pushes.",
      total: { meters in
        meters.gateway.loops.reduce(0) { $0 &+ UInt64(clamping: $1.deviceStreams.value) }
      }),
    Metric(
      "pushgateway_tls_handshakes", .counter, "Completed TLS handshakes.",
      total: { $0.handshakes { $0.completed.total } }),
    Metric(
      "pushgateway_tls_resumptions", .counter, "TLS handshakes that resumed a session.",
      total: { $0.handshakes { $0.resumed.total } }),
    Metric(
      "pushgateway_tls_handshakes_failed", .counter, "Connections that closed before their TLS handshake was complete.",
      total: { $0.handshakes { $0.failed.total } }),
    Metric(
      "pushgateway_received_bytes", .counter, unit: "bytes",
      "Bytes received from peers, measured at the sockets: with TLS, without TCP.",
      total: { $0.sum { $0.received.total } }),
    Metric(
      "pushgateway_sent_bytes", .counter, unit: "bytes",
      "Bytes sent to peers, measured at the sockets: with TLS, without TCP.",
      total: { $0.sum { $0.sent.total } }),
  ]

  /// The metrics of limits: refused, dropped or postponed operations.
  static let limits: [Metric] = [
    Metric(
      "pushgateway_limits_reached", .counter, by: "limit", ReachedLimit.allCases.map(\.label),
      "Operations refused, dropped or postponed because of a limit, by limit.",
      totals: { meters in
        let parts = [meters.gateway.limits, meters.log.limits, meters.budgets.limits]
        return Meters.sum(
          (parts + meters.loops.map(\.limits) + (meters.mailbox.map { [$0.limits] } ?? [])).map(\.totals))
      }),
    Metric(
      "pushgateway_transport_limits_reached", .counter, by: "limit", TransportLimit.allCases.map(\.rawValue),
      "Violations of a limit of connections or of HTTP/2 by peers, by limit.",
      totals: { meters in
        let counts = meters.transportLimits.counts
        return TransportLimit.allCases.map { UInt64(clamping: counts[$0] ?? 0) }
      }),
    Metric(
      "pushgateway_faults_injected", .counter, "Injected faults.",
      total: { $0.faults.injections.total }),
  ]

  static let loops: [Metric] = [
    Metric(
      "pushgateway_loop_lag_seconds", .histogram, unit: "seconds", by: ("loop", nil),
      "Delay of timers, and of tasks from other threads, until their event loop ran them.",
      read: { $0.histograms(of: \.lag) }),
    Metric(
      "pushgateway_loop_turn_seconds", .histogram, unit: "seconds", by: ("loop", nil),
      "Duration of event-loop iterations, from the first data to send, store or log until it was handed over.",
      read: { $0.histograms(of: \.iterations) }),
  ]
}

extension PeerOrigin {
  fileprivate var label: String {
    switch self {
    case .adminSocket: "admin_socket"
    case .loopback: "loopback"
    case .remote: "remote"
    }
  }
}
