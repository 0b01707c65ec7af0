import PushCore
import PushStorage

extension Metric {
  /// What waits, and what is stored.
  static let mailbox: [Metric] = [
    Metric(
      "pushgateway_mailbox_pushes", .gauge, "Pushes that wait for their devices.",
      total: { $0.services.backend.mailboxBacklog().map { UInt64(clamping: $0.waiting) } }),
    Metric(
      "pushgateway_mailbox_oldest_age_seconds", .gauge, unit: "seconds",
      "How long the oldest push has waited, less up to four seconds; 0 when none waits.",
      real: { meters in
        meters.services.backend.mailboxBacklog().map { backlog in
          let now = meters.services.clock.milliseconds()
          return Double(max(0, now - (backlog.oldest ?? now))) / 1000
        }
      }),
    Metric(
      "pushgateway_uncommitted_pushes", .gauge, "Pushes that wait for a commit of the mailbox, and for their answer.",
      total: { $0.services.backend.mailboxBacklog().map { UInt64(clamping: $0.uncommitted) } }),
    Metric(
      "pushgateway_scheduled_pushes", .gauge, "Pushes that wait for the time for which their senders scheduled them.",
      total: { UInt64(clamping: $0.services.schedule.pushes.count) }),
    Metric(
      "pushgateway_held_pushes", .gauge, "Pushes of which devices are told in their next digest.",
      total: { UInt64(clamping: $0.services.held.count) }),
    Metric(
      "pushgateway_log_backlog_rows", .gauge, "Rows of the delivery log that wait to be written.",
      total: { UInt64(clamping: $0.services.log.waitingCount) }),
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
      "pushgateway_health_problems", .gauge,
      "What the gateway can't do now, as /v1/health tells it: 0 when all is well.",
      total: { UInt64(CheckHealth($0.services)().problems.count) }),
  ]
}
