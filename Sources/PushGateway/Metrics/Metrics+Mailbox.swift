import PushCore
import PushStorage

extension Metric {
  /// The metrics of pending and stored pushes.
  static let mailbox: [Metric] = [
    Metric(
      "pushgateway_mailbox_pushes", .gauge, "Pushes pending for their devices.",
      total: { $0.backend.mailboxBacklog().map { UInt64(clamping: $0.waiting) } }),
    Metric(
      "pushgateway_mailbox_oldest_age_seconds", .gauge, unit: "seconds",
      "Age of the oldest pending push, less up to four seconds; 0 without pending pushes.",
      real: { meters in
        meters.backend.mailboxBacklog().map { backlog in
          let now = meters.clock.milliseconds()
          return Double(max(0, now - (backlog.oldest ?? now))) / 1000
        }
      }),
    Metric(
      "pushgateway_uncommitted_pushes", .gauge, "Pushes that await a commit of the mailbox and their response.",
      total: { $0.backend.mailboxBacklog().map { UInt64(clamping: $0.uncommitted) } }),
    Metric(
      "pushgateway_scheduled_pushes", .gauge, "Pushes scheduled by their senders for a later time.",
      total: { UInt64(clamping: $0.schedule.pushes.count) }),
    Metric(
      "pushgateway_held_pushes", .gauge, "Pushes deferred to the next summary of their devices.",
      total: { UInt64(clamping: $0.held.count) }),
    Metric(
      "pushgateway_log_backlog_rows", .gauge, "Rows of the delivery log that are queued for writing.",
      total: { UInt64(clamping: $0.log.waitingCount) }),
    Metric(
      "pushgateway_commits_failed", .counter, "Failed commits of the mailbox.",
      total: { $0.mailbox?.failures.total ?? 0 }),
    Metric(
      "pushgateway_commit_seconds", .histogram, unit: "seconds",
      "Duration of commits of the mailbox until they were on stable storage.",
      read: { $0.mailbox.map { [MetricSample(label: nil, value: .histogram($0.commitTimes.snapshot))] } ?? [] }),
    Metric(
      "pushgateway_commit_pushes", .histogram, unit: "pushes", "Number of pushes stored by a commit of the mailbox.",
      read: { $0.mailbox.map { [MetricSample(label: nil, value: .histogram($0.commitSizes.snapshot))] } ?? [] }),
    Metric(
      "pushgateway_health_problems", .gauge,
      "Number of problems reported by /v1/health; 0: healthy.",
      total: { UInt64($0.healthCheck.health.problems.count) }),
  ]
}
