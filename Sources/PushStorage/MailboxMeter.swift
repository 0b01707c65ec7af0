package import PushCore

/// The metrics of a mailbox's commits; read on any thread.
package final class MailboxMeter: Sendable {
  /// The time until a commit was on stable storage, including failed commits.
  package let commitTimes = MetricHistogram.times([
    .microseconds(100), .microseconds(500), .milliseconds(1), .milliseconds(2), .milliseconds(5), .milliseconds(10),
    .milliseconds(25), .milliseconds(50), .milliseconds(100), .milliseconds(500), .seconds(1), .seconds(5),
  ])
  /// The number of pushes that a commit stored.
  package let commitSizes = MetricHistogram.numbers([0, 1, 2, 5, 10, 20, 50, 100, 200, 500, 1000, 5000])
  /// The number of commits that stored nothing.
  package let failures = Counter()
  package let limits = LimitCounters()
}
