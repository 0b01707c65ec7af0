package import PushCore

/// What a mailbox counts of its commits; read on any thread.
package final class MailboxMeter: Sendable {
  /// How long a commit took until it was on stable storage, failed ones too.
  package let commitTimes = MetricHistogram.times([
    .microseconds(100), .microseconds(500), .milliseconds(1), .milliseconds(2), .milliseconds(5), .milliseconds(10),
    .milliseconds(25), .milliseconds(50), .milliseconds(100), .milliseconds(500), .seconds(1), .seconds(5),
  ])
  /// How many pushes a commit stored.
  package let commitSizes = MetricHistogram.numbers([0, 1, 2, 5, 10, 20, 50, 100, 200, 500, 1000, 5000])
  /// Commits of which nothing is stored.
  package let failures = Counter()
  package let limits = LimitCounters()

  package init() {}
}
