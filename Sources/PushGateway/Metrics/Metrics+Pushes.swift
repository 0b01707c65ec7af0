import GatewayProtocol
import PushCore
import PushStorage

extension Metric {
  /// What becomes of pushes.
  static let pushes: [Metric] = [
    Metric(
      "pushgateway_requests_accepted", .counter, by: "as", RequestMeter.Acceptance.allCases.map { "\($0)" },
      "Pushes and broadcasts that were answered with 200.",
      totals: { Meters.sum($0.services.meter.loops.map(\.acceptances)) }),
    Metric(
      "pushgateway_requests_refused", .counter, by: "reason", Reason.allCases.map(\.rawValue),
      "Requests of providers that were refused.",
      totals: { Meters.sum($0.services.meter.loops.map(\.refusals)) }),
    Metric(
      "pushgateway_delivery_events", .counter, by: "event", DeliveryLog.countedEvents.map(\.rawValue),
      "What happened to pushes, as the delivery log has it.",
      totals: { $0.services.log.events.totals }),
    Metric(
      "pushgateway_policy_refused", .counter, by: "rule", PolicyMeter.rules,
      "Pushes that a rule on the sender refused; aps is the schema of strict apps.",
      totals: { Meters.sum($0.services.meter.loops.map(\.policy.totals.refused)) }),
    Metric(
      "pushgateway_policy_reported", .counter, by: "rule", PolicyMeter.rules,
      "Breaches of a rule on the sender that were only reported, since the app has them accepted.",
      totals: { Meters.sum($0.services.meter.loops.map(\.policy.totals.reported)) }),
    Metric(
      "pushgateway_policy_removed", .counter, by: "rule", PolicyMeter.rules,
      "Parts of pushes (badge, sound, alert) that a rule took off at delivery, for one device each.",
      totals: { Meters.sum($0.services.meter.loops.map(\.policy.totals.removed)) }),
  ]

  /// How long the steps of a push take.
  static let stages: [Metric] = [
    Metric(
      "pushgateway_accept_seconds", .histogram, unit: "seconds",
      "How long pushes that are stored took from the turn of the loop in which the request was whole until the answer.",
      read: { [MetricSample(label: nil, value: $0.stage(\.accept))] }),
    Metric(
      "pushgateway_transmit_seconds", .histogram, unit: "seconds", by: ("from", ["live", "mailbox"]),
      "How long pushes took from the request until they were written to a stream: at once, or after the device was away.",
      read: {
        [
          MetricSample(label: "live", value: $0.stage(\.transmit)),
          MetricSample(label: "mailbox", value: $0.stage(\.transmitStored)),
        ]
      }),
    Metric(
      "pushgateway_acknowledge_seconds", .histogram, unit: "seconds",
      "How long devices took from a push on their stream until they had it on disk and said so.",
      read: { [MetricSample(label: nil, value: $0.stage(\.acknowledge))] }),
    Metric(
      "pushgateway_present_seconds", .histogram, unit: "seconds",
      "How long devices took from a push on their stream until they said what they have shown of it.",
      read: { [MetricSample(label: nil, value: $0.stage(\.present))] }),
  ]
}
