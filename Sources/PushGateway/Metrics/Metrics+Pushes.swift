import GatewayProtocol
import PushCore
import PushStorage

extension Metric {
  /// The metrics of accepted, refused and delivered pushes.
  static let pushes: [Metric] = [
    Metric(
      "pushgateway_requests_accepted", .counter, by: "as", RequestMeter.Acceptance.allCases.map { "\($0)" },
      "Pushes and broadcasts answered with 200.",
      totals: { Meters.sum($0.gateway.loops.map(\.acceptances)) }),
    Metric(
      "pushgateway_requests_refused", .counter, by: "reason", Reason.allCases.map(\.rawValue),
      "Refused requests of providers.",
      totals: { Meters.sum($0.gateway.loops.map(\.refusals)) }),
    Metric(
      "pushgateway_delivery_events", .counter, by: "event", DeliveryLog.countedEvents.map(\.rawValue),
      "Events of pushes, as in the delivery log.",
      totals: { $0.log.events.totals }),
    Metric(
      "pushgateway_policy_refused", .counter, by: "rule", PolicyMeter.rules,
      "Pushes refused by a rule for senders; aps is the schema of strict apps.",
      totals: { Meters.sum($0.gateway.loops.map(\.policy.totals.refused)) }),
    Metric(
      "pushgateway_policy_reported", .counter, by: "rule", PolicyMeter.rules,
      "Violations of a rule for senders that were logged and not refused: their app only reports them.",
      totals: { Meters.sum($0.gateway.loops.map(\.policy.totals.reported)) }),
    Metric(
      "pushgateway_policy_removed", .counter, by: "rule", PolicyMeter.rules,
      "Parts of pushes (badge, sound, alert) that a rule removed at delivery, counted for each device.",
      totals: { Meters.sum($0.gateway.loops.map(\.policy.totals.removed)) }),
  ]

  static let eventTargets: [Metric] = [
    Metric(
      "pushgateway_event_target_requests", .counter, by: "result", ["delivered", "failed"],
      "Requests to event targets.",
      totals: { [$0.events.meter.delivered.total, $0.events.meter.failed.total] }),
    Metric(
      "pushgateway_event_target_events", .counter, "Events that event targets have accepted.",
      total: { $0.events.meter.events.total }),
    Metric(
      "pushgateway_event_target_skipped_events", .counter,
      "Events that the delivery log removed before an event target accepted them.",
      total: { $0.events.meter.skipped.total }),
    Metric(
      "pushgateway_event_target_lag_seconds", .gauge, unit: "seconds",
      "Age of the oldest event that an event target has not accepted; 0 if no request fails.",
      real: { $0.events.lag }),
  ]

  /// The metrics of messages to closed pages.
  static let closedPages: [Metric] = [
    Metric(
      "pushgateway_push_service_requests", .counter, by: "result", ["accepted", "failed", "gone", "refused"],
      "Requests to push services of browsers, about closed pages.",
      totals: { meters in
        let meter = meters.pages.meter
        return [meter.accepted.total, meter.failed.total, meter.gone.total, meter.refused.total]
      }),
    Metric(
      "pushgateway_push_service_dropped", .counter,
      "Messages to closed pages that were dropped because their device had too many.", total: { $0.pages.dropped }),
    Metric(
      "pushgateway_push_service_queue", .gauge, "Messages to closed pages that are queued.",
      total: { UInt64($0.pages.queued) }),
    Metric(
      "pushgateway_push_subscriptions", .gauge, "Subscriptions of browsers at push services.",
      total: { UInt64($0.pages.parts.subscriptions.count) }),
  ]

  /// The durations of the stages of a push.
  static let stages: [Metric] = [
    Metric(
      "pushgateway_accept_seconds", .histogram, unit: "seconds",
      "Time from the event-loop iteration in which a request was complete until its response, for stored pushes.",
      read: { [MetricSample(label: nil, value: $0.stage(\.accept))] }),
    Metric(
      "pushgateway_transmit_seconds", .histogram, unit: "seconds", by: ("from", ["live", "mailbox"]),
      "Time from the request until the push was written to a stream: at once, or after the device was away.",
      read: {
        [
          MetricSample(label: "live", value: $0.stage(\.transmit)),
          MetricSample(label: "mailbox", value: $0.stage(\.transmitStored)),
        ]
      }),
    Metric(
      "pushgateway_acknowledge_seconds", .histogram, unit: "seconds",
      "Time from a push on a device's stream until the device acknowledged it, with the push on its disk.",
      read: { [MetricSample(label: nil, value: $0.stage(\.acknowledge))] }),
    Metric(
      "pushgateway_present_seconds", .histogram, unit: "seconds",
      "Time from a push on a device's stream until the device reported its presented parts.",
      read: { [MetricSample(label: nil, value: $0.stage(\.present))] }),
  ]

  /// The metrics of pushes that are forwarded to the upstream.
  static let upstream: [Metric] = [
    Metric(
      "pushgateway_forwarded_pushes", .counter, by: "status", UpstreamMeter.labels,
      "Pushes sent to the upstream, by the status of its answer; none: no answer.",
      totals: { $0.gateway.upstream.totals }),
    Metric(
      "pushgateway_forwards", .gauge, "Pushes sent to the upstream, or queued for it, that have no answer yet.",
      total: { $0.gateway.upstream.current }),
    Metric(
      "pushgateway_forward_seconds", .histogram, unit: "seconds",
      "Time from the request of a push until the answer of the upstream.",
      read: { [MetricSample(label: nil, value: .histogram($0.gateway.upstream.times.snapshot))] }),
    Metric(
      "pushgateway_upstream_connections_opened", .counter, "Connections to the upstream that were opened.",
      total: { $0.gateway.upstream.opened.total }),
    Metric(
      "pushgateway_upstream_connections_failed", .counter, "Attempts to reach the upstream that failed.",
      total: { $0.gateway.upstream.failed.total }),
  ]
}
